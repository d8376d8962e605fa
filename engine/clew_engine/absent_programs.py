"""The program of an app that this process does not have: what needs nothing of it goes on, and what does is refused by the app's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from clew_engine.approvals import Approval, Decision, Question
from clew_engine.checkpoints import Call, next_names
from clew_engine.errors import AppNotFoundError
from clew_engine.messages import Part
from clew_engine.options import NO_LIMITS, Limits
from clew_engine.program import NodeWrite
from clew_engine.transcripts import Transcript
from clew_storage import CheckpointRecord, StateChange, ThreadKey

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.runs import Run
    from clew_engine.storage import Storage


class AbsentProgram:
    """Stands in for a program. `known` are the apps that this process has. Each method that cannot be answered raises AppNotFoundError."""

    kind = ""
    limits: Limits = NO_LIMITS
    approval_ttl_s: float | None = None

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self._known = known

    def begin(self) -> Mapping[str, Any]:
        """Not known."""
        self._refuse()

    def check_input(self, content: Sequence[Part]) -> None:
        """Not known."""
        self._refuse()

    def check_state(self, state: Mapping[str, bytes]) -> None:
        """Any state is taken: what it is declared as is not known here."""

    def defaults(self, state: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """Not known."""
        self._refuse()

    def restated(self, continuation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Not known."""
        self._refuse()

    def upgraded_state(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> StateChange | None:
        """The state is taken for what it is."""
        return None

    def upgraded(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> tuple[Mapping[str, Any], StateChange | None]:
        """Not known."""
        self._refuse()

    async def written_as(
        self, storage: Storage, thread: OpenThread, node: str, values: Mapping[str, bytes]
    ) -> NodeWrite:
        """Not known."""
        self._refuse()

    async def step(self, run: Run) -> None:
        """Not known."""
        self._refuse()

    def starting(
        self, continuation: Mapping[str, Any], transcript: Transcript, state: Mapping[str, bytes]
    ) -> Sequence[Call]:
        """Not known."""
        self._refuse()

    def decided(
        self, continuation: Mapping[str, Any], answers: Sequence[tuple[Approval, Decision]]
    ) -> Mapping[str, Any]:
        """Not known."""
        self._refuse()

    def questions(self, continuation: Mapping[str, Any], transcript: Transcript) -> Sequence[Question]:
        """Not known."""
        self._refuse()

    def may_have_started(self, continuation: Mapping[str, Any], transcript: Transcript) -> bool:
        """Nothing is open where nothing comes next; otherwise it is not known."""
        if next_names(continuation):
            self._refuse()
        return False

    def meet_started(
        self, continuation: Mapping[str, Any], transcript: Transcript, step: int, started: frozenset[str]
    ) -> Mapping[str, Any]:
        """Not known."""
        self._refuse()

    async def check_recorded(self, storage: Storage, key: ThreadKey, head: CheckpointRecord) -> None:
        """Not known."""
        self._refuse()

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _refuse(self) -> NoReturn:
        raise AppNotFoundError(self.name, self._known)
