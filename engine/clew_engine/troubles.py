"""What is done again and again beside the calls, and cannot be done: logged when it begins, and not at each try."""

from __future__ import annotations

import logging

from clew_storage import StorageAway

_log = logging.getLogger("clew.engine")


class Trouble:
    """Of one task. `what` says what could not be done."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._told = ""

    def met(self, error: Exception) -> None:
        """It could not be done. Every call has the same trouble and tells its caller; here it is tried again."""
        if is_told(error) or str(error) == self._told:
            return
        self._told = str(error)
        _log.warning("%s: %s", self._what, error)

    def over(self) -> None:
        """It could be done."""
        self._told = ""


def is_told(error: BaseException) -> bool:
    """Whether it comes of an outage that the storage has logged."""
    return isinstance(error, StorageAway) or isinstance(error.__cause__, StorageAway)
