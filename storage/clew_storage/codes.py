"""Words as small numbers on disk. A number, once given, keeps its meaning for ever; new words are added at the end."""

from __future__ import annotations

import re
from typing import TypeVar

from clew_storage.errors import DataCorrupt
from clew_storage.records import ApprovalState, Source, Status

_STATUSES = (Status.IN_PROGRESS, Status.SUSPENDED, Status.COMPLETED, Status.FAILED)
_SOURCES = (
    Source.INPUT,
    Source.STEP,
    Source.INTENT,
    Source.SUSPEND,
    Source.DECISION,
    Source.RETRY,
    Source.FAILURE,
    Source.FORK,
    Source.UPDATE,
)
_APPROVAL_STATES = (
    ApprovalState.PENDING,
    ApprovalState.APPROVED,
    ApprovalState.REJECTED,
    ApprovalState.ANSWERED,
    ApprovalState.EXPIRED,
    ApprovalState.VOID,
)
_ROLES = ("system", "user", "assistant", "tool")
PENDING = _APPROVAL_STATES.index(ApprovalState.PENDING)
IN_PROGRESS = _STATUSES.index(Status.IN_PROGRESS)
W = TypeVar("W")
_NUMBERED = re.compile(r"m(0|[1-9][0-9]*)\.(0|[1-9][0-9]{0,17})")


def put_status(status: Status) -> int:
    """The number of a status."""
    return _STATUSES.index(status)


def get_status(code: int) -> Status:
    """The status of a number."""
    return _word(_STATUSES, code)


def put_source(source: Source) -> int:
    """The number of a source."""
    return _SOURCES.index(source)


def get_source(code: int) -> Source:
    """The source of a number."""
    return _word(_SOURCES, code)


def put_approval_state(state: ApprovalState) -> int:
    """The number of an approval's state."""
    return _APPROVAL_STATES.index(state)


def get_approval_state(code: int) -> ApprovalState:
    """The approval's state of a number."""
    return _word(_APPROVAL_STATES, code)


def put_role(role: str) -> int | str:
    """The number of a role, or a role that has none as it is."""
    return _ROLES.index(role) if role in _ROLES else role


def get_role(code: int | str) -> str:
    """The role."""
    return code if isinstance(code, str) else _word(_ROLES, code)


def put_message_id(message_id: str, version: int) -> int | str:
    """The number n of an id `m<version>.<n>`, any other id as it is."""
    prefix = f"m{version}."
    if message_id.startswith(prefix) and (match := _NUMBERED.fullmatch(message_id)):
        return int(match[2])
    return message_id


def get_message_id(stored: int | str, version: int) -> str:
    """The id."""
    return stored if isinstance(stored, str) else f"m{version}.{stored}"


def writing_version(message_id: str) -> int | None:
    """The version that gave a message this id, or None for an id that was chosen."""
    match = _NUMBERED.fullmatch(message_id)
    return int(match[1]) if match else None


def _word(words: tuple[W, ...], code: int) -> W:
    if not 0 <= code < len(words):
        raise DataCorrupt(f"a row holds the unknown code {code}")
    return words[code]
