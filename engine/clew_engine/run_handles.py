"""The verbs of a handle that go on with a run, as streams: answers to what it waits for, and the retry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

from clew_engine import commands
from clew_engine.answers import Decisions, decisions_of
from clew_engine.approvals import Decision
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking_iterator
from clew_engine.edit_handles import EditHandle
from clew_engine.errors import AppMismatchError
from clew_engine.options import Limits, Mutation, OnBusy, RunArguments
from clew_engine.program import Program
from clew_engine.state import encoded_value
from clew_engine.streams import EventStream
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


class RunHandle(EditHandle):
    """A handle on a thread whose runs can be gone on with. These forms give events as they happen; what a run hands back is its subclasses'."""

    def __init__(
        self,
        storage: Storage,
        key: ThreadKey,
        program: Program,
        *,
        actor: str = "",
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(storage, key, actor=actor, on_busy=on_busy, busy_timeout=busy_timeout, limits=limits)
        self.program = program
        storage.know(program)

    @property
    def app(self) -> str:
        """The name of what runs on it."""
        return self.program.name

    @checked
    def stream_decide(self, decisions: Decisions, /, **options: Unpack[RunArguments]) -> EventStream:
        """Decides approvals, all or none, and streams what follows.

        `decisions` is a list of Decision, or a dict from approval ids to True, False, or one choice by name, such as `{"arguments": {…}}`,
        `{"reject": "why"}` or `{"value": …}`.
        """
        return self._decide(decisions_of(decisions), options, options.get("expected_version"))

    @checked
    def stream_approve(
        self, *approval_ids: str, arguments: dict[str, Any] | None = None, **options: Unpack[RunArguments]
    ) -> EventStream:
        """Approves tool calls, or without ids all that the thread waits for, and streams what follows. One may be given other `arguments`."""
        return self._decide_each(approval_ids, lambda each: Decision.approve(each, arguments), options)

    @checked
    def stream_reject(self, reason: str = "", /, *approval_ids: str, **options: Unpack[RunArguments]) -> EventStream:
        """Rejects tool calls and pauses, or without ids all that the thread waits for, and streams what follows. The model reads the reason."""
        return self._decide_each(approval_ids, lambda each: Decision.reject(each, reason), options)

    @checked
    def stream_resume(self, value: Any, /, **options: Unpack[RunArguments]) -> EventStream:
        """Answers the one pause that the thread waits with, and streams what follows."""
        text = encoded_value(value, "value_json").decode()
        return commands.resume(
            self.storage,
            self.key,
            self._programs,
            text,
            mutation=_mutation(options, options.get("expected_version"), text),
            options=self._run_options(options),
        )

    @checked
    def stream_retry(self, **options: Unpack[RunArguments]) -> EventStream:
        """Continues a failed, cancelled or interrupted run where it stopped, and streams what follows. Finished tool calls are not run again."""
        return commands.retry(
            self.storage,
            self.key,
            self._programs,
            mutation=_mutation(options, options.get("expected_version")),
            options=self._run_options(options),
        )

    stream_decide_sync = blocking_iterator(stream_decide)
    stream_approve_sync = blocking_iterator(stream_approve)
    stream_reject_sync = blocking_iterator(stream_reject)
    stream_resume_sync = blocking_iterator(stream_resume)
    stream_retry_sync = blocking_iterator(stream_retry)

    def _on(self, key: ThreadKey) -> Self:
        return type(self)(
            self.storage,
            key,
            self.program,
            actor=self.actor,
            on_busy=self._options.on_busy,
            busy_timeout=self._options.busy_timeout_s,
            limits=self._options.limits,
        )

    def _programs(self, app: str) -> Program:
        if app and app != self.app:
            raise AppMismatchError(self.id, app, self.app)
        return self.program

    def _decide(self, answers: Iterable[Decision], options: RunArguments, version: int | None) -> EventStream:
        given = tuple(answers)
        return commands.decide(
            self.storage,
            self.key,
            self._programs,
            given,
            mutation=_mutation(options, version, repr(given)),
            options=self._run_options(options),
        )

    def _decide_each(
        self, approval_ids: Iterable[str], decide: Callable[[str], Decision], options: RunArguments
    ) -> EventStream:
        named = tuple(approval_ids)
        if named:
            return self._decide(map(decide, named), options, options.get("expected_version"))

        body = f"all {decide('')!r}"
        return commands.decide_all(
            self.storage,
            self.key,
            self._programs,
            decide,
            mutation=_mutation(options, options.get("expected_version"), body),
            options=self._run_options(options),
        )


def _mutation(options: RunArguments, expected_version: int | None, body: str = "") -> Mutation:
    return Mutation(options.get("request_id") or "", expected_version, body.encode())
