"""The in-process handle on a thread: the same verbs as the client's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clew_engine import commands, reads
from clew_engine.answers import decisions_of
from clew_engine.approvals import Approval, Choice, Decision, view_approval
from clew_engine.blocking import blocking, blocking_iterator
from clew_engine.commands.update import ThreadUpdate
from clew_engine.errors import AppMismatchError, ArgumentInvalidError, ResumeInvalidError, ThreadNotFoundError
from clew_engine.ids import check_id
from clew_engine.json_text import join_object
from clew_engine.messages import Part, content_of
from clew_engine.options import Limits, Mutation, NewThread, OnBusy, RunOptions
from clew_engine.program import Program
from clew_engine.replies import Reply
from clew_engine.state import StateView, encode_values, encoded_value
from clew_engine.storage import Storage
from clew_engine.streams import EventStream
from clew_engine.watch import watch_stream
from clew_storage import ThreadKey

Content = str | Part | Iterable[Part]


class Thread:
    """A handle on one conversation. It holds nothing but the id, the actor and options: make one a request, in any process.

    Values given to `send` by name are merged into the state; `state` takes those whose names are options here.
    """

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
        self.storage = storage
        self.key = key
        self.program = program
        self.actor = actor
        storage.know(program)
        self._options = RunOptions(
            on_busy=OnBusy(on_busy) if on_busy is not None else None,
            busy_timeout_s=busy_timeout,
            limits=limits,
            actor=actor,
        )

    @property
    def id(self) -> str:
        """The thread's id."""
        return self.key.thread_id

    def stream(
        self,
        content: Content,
        /,
        *,
        request_id: str = "",
        expected_version: int | None = None,
        user_id: str | int = "",
        metadata: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> EventStream:
        """One turn as events. Leaving the stream cancels the run; it is saved, and `retry` continues it."""
        encoded = encode_values({**(state or {}), **values})
        try:
            parts = content_of(content)
        except ValueError as error:
            raise ArgumentInvalidError("input", str(error)) from None
        new = NewThread(user_id=str(user_id), metadata=encoded_value(metadata or {}, "metadata"))
        body = b"\x00".join((repr(parts).encode(), join_object(encoded), new.user_id.encode(), new.metadata))
        mutation = Mutation(request_id, expected_version, body)
        return commands.send(
            self.storage, self.key, self.program, parts, encoded, new=new, mutation=mutation, options=self._options
        )

    async def send(
        self,
        content: Content,
        /,
        *,
        request_id: str = "",
        expected_version: int | None = None,
        user_id: str | int = "",
        metadata: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> Reply:
        """One turn. Raises RunFailedError when the run failed; with status `suspended` the reply says who is asked for what."""
        stream = self.stream(
            content,
            request_id=request_id,
            expected_version=expected_version,
            user_id=user_id,
            metadata=metadata,
            state=state,
            **values,
        )
        return await stream.reply()

    def stream_decide(
        self,
        decisions: Mapping[str, Any] | Sequence[Decision],
        *,
        request_id: str = "",
        expected_version: int | None = None,
    ) -> EventStream:
        """Answer approvals, and stream how the run goes on."""
        answers = decisions_of(decisions)
        mutation = Mutation(request_id, expected_version, repr(answers).encode())
        return commands.decide(
            self.storage, self.key, self._programs, answers, mutation=mutation, options=self._options
        )

    async def decide(
        self,
        decisions: Mapping[str, Any] | Sequence[Decision],
        *,
        request_id: str = "",
        expected_version: int | None = None,
    ) -> Reply:
        """Answer approvals by their ids; all of them are taken, or none.

        An answer is True, False, "approve", "reject", or one of {"arguments": …}, {"reject": "why"}, {"value": …},
        {"run_again": True}, {"result": …}, {"fail": "why"}.
        """
        return await self.stream_decide(decisions, request_id=request_id, expected_version=expected_version).reply()

    async def approve(self, *approval_ids: str) -> Reply:
        """Approve these, or all that wait."""
        return await self._answer(approval_ids, lambda each: Decision(each, Choice.APPROVE))

    async def reject(self, reason: str = "", *approval_ids: str) -> Reply:
        """Reject these, or all that wait; the model is told why."""
        return await self._answer(approval_ids, lambda each: Decision(each, Choice.REJECT, reason=reason))

    def stream_resume(self, value: Any, *, request_id: str = "", expected_version: int | None = None) -> EventStream:
        """Answer the one pause that waits, and stream how the run goes on."""
        text = encoded_value(value, "value_json").decode()
        mutation = Mutation(request_id, expected_version, text.encode())
        return commands.resume(self.storage, self.key, self._programs, text, mutation=mutation, options=self._options)

    async def resume(self, value: Any, *, request_id: str = "", expected_version: int | None = None) -> Reply:
        """Answer the one pause that waits with a value."""
        return await self.stream_resume(value, request_id=request_id, expected_version=expected_version).reply()

    def stream_retry(self, *, request_id: str = "", expected_version: int | None = None) -> EventStream:
        """Continue a failed or interrupted run, as events."""
        mutation = Mutation(request_id, expected_version)
        return commands.retry(self.storage, self.key, self._programs, mutation=mutation, options=self._options)

    async def retry(self, *, request_id: str = "", expected_version: int | None = None) -> Reply:
        """Continue a failed or interrupted run. Finished tool calls are not run again."""
        return await self.stream_retry(request_id=request_id, expected_version=expected_version).reply()

    def watch(self, after_version: int = 0, *, run_id: str = "", follow: bool = False) -> EventStream:
        """What was missed after a version, then what happens. Leaving it ends nothing but the watch."""
        return watch_stream(self.storage, self.key, after_version=after_version, run_id=run_id, follow=follow)

    async def cancel(self) -> dict[str, Any]:
        """Stop the run; answers with the checkpoint that is left. `retry` continues a cancelled run."""
        async with self.storage.calling(self.key):
            return (
                await commands.cancel(self.storage, self.key, "", mutation=Mutation(), options=self._options)
            ).as_dict()

    async def rewind(self, checkpoint_id: str, *, expected_version: int | None = None) -> dict[str, Any]:
        """Make an older checkpoint the head again; nothing is overwritten."""
        mutation = Mutation("", expected_version)
        async with self.storage.calling(self.key):
            written = await commands.rewind(
                self.storage, self.key, self._programs, checkpoint_id, mutation=mutation, options=self._options
            )
            return written.as_dict()

    async def copy(self, target_id: str, checkpoint_id: str = "") -> Thread:
        """Make a thread of its own from this one, whole or up to a checkpoint."""
        target = ThreadKey(self.key.tenant, check_id(target_id, "target_thread_id"))
        async with self.storage.calling(self.key):
            await commands.copy(self.storage, self.key, target, checkpoint_id, self._programs, mutation=Mutation())
        return Thread(self.storage, target, self.program, actor=self.actor)

    async def update(
        self, *, name: str | None = None, metadata: Mapping[str, Any] | None = None, user_id: str | int | None = None
    ) -> dict[str, Any]:
        """Change name, metadata or user; makes the thread when it is not there yet."""
        change = ThreadUpdate(
            name=name,
            metadata=None if metadata is None else encoded_value(metadata, "metadata"),
            user_id=None if user_id is None else str(user_id),
            allow_missing=True,
            app=self.program.name,
        )
        async with self.storage.calling(self.key):
            await commands.update(self.storage, self.key, change, mutation=Mutation())
        return await self.info()

    async def delete(self) -> bool:
        """Delete the thread and everything in it; True if it existed."""
        async with self.storage.calling(self.key):
            return await commands.delete(self.storage, self.key, mutation=Mutation())

    async def info(self) -> dict[str, Any]:
        """What is known of the thread, and whether a run of it is alive."""
        async with self.storage.calling(self.key):
            return (await reads.get_thread(self.storage, self.key)).as_dict()

    async def messages(self, *, reasoning: bool = False) -> list[dict[str, Any]]:
        """The stored conversation; empty before the first send."""
        found: list[dict[str, Any]] = []
        token = ""
        async with self.storage.calling(self.key):
            while True:
                try:
                    page = await reads.list_messages(self.storage, self.key, newest_first=False, size=500, token=token)
                except ThreadNotFoundError:
                    return found
                found += [message.as_dict(reasoning) for message in page.items]
                token = page.next_token
                if not token:
                    return found

    async def state(self, checkpoint_id: str = "") -> dict[str, Any]:
        """The state's values at the head, or at a checkpoint."""
        async with self.storage.calling(self.key):
            values, _ = await reads.get_state(self.storage, self.key, checkpoint_id)
        view = StateView(values, (), {})
        return {name: view[name] for name in values}

    async def history(self, limit: int = 20) -> list[dict[str, Any]]:
        """Checkpoints, newest first; empty before the first send."""
        found: list[dict[str, Any]] = []
        token = ""
        async with self.storage.calling(self.key):
            while len(found) < limit:
                size = min(200, limit - len(found))
                try:
                    page = await reads.list_checkpoints(self.storage, self.key, size=size, token=token)
                except ThreadNotFoundError:
                    return found
                found += [checkpoint.as_dict() for checkpoint in page.items]
                token = page.next_token
                if not token:
                    break
        return found

    async def approvals(self) -> list[Approval]:
        """What waits for a person."""
        return (await self._pending())[0]

    send_sync = blocking(send)
    stream_sync = blocking_iterator(stream)
    decide_sync = blocking(decide)
    stream_decide_sync = blocking_iterator(stream_decide)
    approve_sync = blocking(approve)
    reject_sync = blocking(reject)
    resume_sync = blocking(resume)
    stream_resume_sync = blocking_iterator(stream_resume)
    retry_sync = blocking(retry)
    stream_retry_sync = blocking_iterator(stream_retry)
    watch_sync = blocking_iterator(watch)
    cancel_sync = blocking(cancel)
    rewind_sync = blocking(rewind)
    copy_sync = blocking(copy)
    update_sync = blocking(update)
    delete_sync = blocking(delete)
    info_sync = blocking(info)
    messages_sync = blocking(messages)
    state_sync = blocking(state)
    history_sync = blocking(history)
    approvals_sync = blocking(approvals)

    async def _answer(self, approval_ids: Sequence[str], make: Any) -> Reply:
        version = None
        if not approval_ids:
            waiting, version = await self._pending()
            approval_ids = [approval.id for approval in waiting]
        if not approval_ids:
            raise ResumeInvalidError(
                f"nothing waits for an answer on thread {self.id!r}; its history says what it did", thread_id=self.id
            )
        return await self.decide([make(each) for each in approval_ids], expected_version=version)

    async def _pending(self) -> tuple[list[Approval], int | None]:
        async with self.storage.calling(self.key):
            head = await self.storage.backend.threads.get_head(self.key)
        if head is None:
            return [], None
        return [view_approval(record) for record in head.pending], head.thread.head_version

    def _programs(self, app: str) -> Program:
        if app and app != self.program.name:
            raise AppMismatchError(self.id, app, self.program.name)
        return self.program
