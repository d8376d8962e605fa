"""What a program is to the engine: something that is stepped over a state and checkpointed. Agents are one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from clew_engine.approvals import Approval, Decision, Question
from clew_engine.checkpoints import Call, Memo
from clew_engine.messages import Part
from clew_engine.options import Limits
from clew_engine.transcripts import Transcript
from clew_storage import CheckpointRecord, StateChange, ThreadKey

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.runs import Run
    from clew_engine.storage import Storage


@dataclass(frozen=True, slots=True)
class NodeWrite:
    """What a state that is written in a node's name makes of a thread.

    `next` is what a retry goes on with and `step` its number; `memos` is what the node is taken to have returned in a step that is not over.
    """

    next: Mapping[str, Any]
    step: int
    change: StateChange | None = None
    memos: tuple[Memo, ...] = ()


class Program(Protocol):
    """One app. It keeps nothing between two steps: all that a run needs is in its thread."""

    @property
    def name(self) -> str:
        """The app that threads belong to."""
        ...

    @property
    def kind(self) -> str:
        """`agent` for one that takes messages, `workflow` for one that takes values."""
        ...

    @property
    def limits(self) -> Limits:
        """What an attempt may use when the caller does not say less."""
        ...

    @property
    def approval_ttl_s(self) -> float | None:
        """How long an approval may wait, in seconds; None: for ever."""
        ...

    def begin(self) -> Mapping[str, Any]:
        """The continuation of a new turn."""
        ...

    def check_input(self, content: Sequence[Part]) -> None:
        """Raises ArgumentInvalidError for a message where none is taken, or none where one is needed."""
        ...

    def check_state(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError when the state that a turn would begin with does not fit what the program declares."""
        ...

    def defaults(self, state: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """What a turn begins with besides a state: the declared defaults of keys that it has not."""
        ...

    def restated(self, continuation: Mapping[str, Any]) -> Mapping[str, Any]:
        """The continuation when the whole state was given anew, in the form that it has in this version: nothing is to be made of it any more."""
        ...

    def upgraded_state(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> StateChange | None:
        """What brings the state that an earlier version of the program left up to date; None for nothing.

        Raises ResumeInvalidError where there is no way.
        """
        ...

    def upgraded(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> tuple[Mapping[str, Any], StateChange | None]:
        """The same, and the continuation, before an attempt goes on from it. Raises ResumeInvalidError or StateInvalidError for what has no place in this version."""
        ...

    async def written_as(
        self, storage: Storage, thread: OpenThread, node: str, values: Mapping[str, bytes]
    ) -> NodeWrite:
        """What follows when values are written as if the node had returned them. The thread is loaded, and nothing is written here.

        Raises ArgumentInvalidError where there is no such node or what follows cannot be told, StateInvalidError for values that it cannot return.
        """
        ...

    async def step(self, run: Run) -> None:
        """Do what the head's continuation says and write what came of it: at least one checkpoint, or an error is raised."""
        ...

    def starting(
        self, continuation: Mapping[str, Any], transcript: Transcript, state: Mapping[str, bytes]
    ) -> Sequence[Call]:
        """The calls that begin when an attempt goes on from here, as far as they need no write of their own first."""
        ...

    def decided(
        self, continuation: Mapping[str, Any], answers: Sequence[tuple[Approval, Decision]]
    ) -> Mapping[str, Any]:
        """The continuation with these answers in it. Raises ArgumentInvalidError for one that does not fit."""
        ...

    def questions(self, continuation: Mapping[str, Any], transcript: Transcript) -> Sequence[Question]:
        """What a run that is suspended here waits for, read off the continuation alone."""
        ...

    def may_have_started(self, continuation: Mapping[str, Any], transcript: Transcript) -> bool:
        """Whether something is open here that must not be started again by itself."""
        ...

    def meet_started(
        self, continuation: Mapping[str, Any], transcript: Transcript, step: int, started: frozenset[str]
    ) -> Mapping[str, Any]:
        """The continuation that knows which of its open calls were started elsewhere, with an outcome that it cannot know.

        `started` are ids of calls, and of a workflow's steps as `step_id` makes them.
        """
        ...

    async def check_recorded(self, storage: Storage, key: ThreadKey, head: CheckpointRecord) -> None:
        """Before an attempt goes on from a head: raises ResumeInvalidError where what was done in its step has no place in this version."""
        ...

    async def close(self) -> None:
        """Let go of what was opened in this event loop (connections to a model's provider); a later step opens it anew."""
        ...
