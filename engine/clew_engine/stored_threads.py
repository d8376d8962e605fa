"""The handle on a stored thread without what runs on it, for scripts: it reads and writes, and begins no run."""

from __future__ import annotations

from typing import Self

from clew_engine.absent_programs import AbsentProgram
from clew_engine.edit_handles import EditHandle
from clew_engine.program import Program
from clew_storage import ThreadKey


class StoredThread(EditHandle):
    """A thread by its id, whatever its app is. It has the verbs of an agent's or workflow's thread, but for those that send, decide or retry.

    The state of an app that has no handle on the same Storage cannot be checked: its declared keys and types are not known here, so a write takes any
    JSON, and the app's next run refuses what does not fit. What cannot be done without the app is refused with AppNotFoundError: `as_node`, a rewind
    or copy to the middle of earlier work, deleting a message whose calls have no results yet.
    """

    def _on(self, key: ThreadKey) -> Self:
        return type(self)(
            self.storage,
            key,
            actor=self.actor,
            on_busy=self._options.on_busy,
            busy_timeout=self._options.busy_timeout_s,
        )

    def _programs(self, app: str) -> Program:
        known = self.storage.programs
        return known.get(app) or AbsentProgram(app, tuple(sorted(known)))
