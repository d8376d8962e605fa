"""Incidents: what goes wrong in runs is logged with its traceback under a number, and the traceback is never sent."""

from __future__ import annotations

import logging
import secrets

from clew_engine.causes import traced
from clew_storage import StorageError, StorageFull, StorageUnavailable

_clew = logging.getLogger("clew.engine")
_apps = logging.getLogger("clew.engine.apps")
# The caller is told what it was. Where nobody configures logging Python would print the traceback beside it, to stderr.
_apps.addHandler(logging.NullHandler())


def unforeseen(error: BaseException, thread_id: str) -> str:
    """Something of Clew's own went wrong. Gives the incident's number, which may be told to the caller."""
    incident = _number()
    _clew.error("incident %s: a run of thread %s went wrong\n%s", incident, thread_id, traced(error))
    return incident


def of_the_storage(error: StorageError, thread_id: str) -> None:
    """The storage ended a run. Of a database that is away or full no traceback says more than its words."""
    if isinstance(error, (StorageUnavailable, StorageFull)):
        _clew.warning("a run of thread %s was broken off, a retry goes on with it: %s", thread_id, error)
    else:
        unforeseen(error, thread_id)


def raised(what: str, error: BaseException, thread_id: str) -> None:
    """Code of an app's author raised; `what` names it."""
    _apps.error("incident %s: %s raised on thread %s\n%s", _number(), what, thread_id, traced(error))


def _number() -> str:
    return secrets.token_hex(4)
