"""The handle on a thread in process, as far as it matters to no thread what runs on it: reads, the watch, and changes from outside.

Its verbs, and those of the classes over it, are the same as the client's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, cast

from clew_engine import commands, reads
from clew_engine.approvals import Approval, view_approval
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking, blocking_iterator
from clew_engine.commands.update import ThreadUpdate
from clew_engine.errors import ThreadNotFoundError
from clew_engine.ids import check_id
from clew_engine.options import Limits, Mutation, OnBusy, RunArguments, RunOptions, WriteArguments, on_busy_of
from clew_engine.paging import check_limit
from clew_engine.program import Program
from clew_engine.state import StateView, encoded_value
from clew_engine.streams import EventStream
from clew_engine.thread_info import ThreadInfo, info_of
from clew_engine.watch import watch_stream
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


class Handle(ABC):
    """A thread by its id. It holds nothing but the id, the actor and options: make one a request, in any process; two on one id are the same thread.

    The thread itself is made by its first send. Every verb has a blocking form, with `_sync` after its name.
    """

    def __init__(
        self,
        storage: Storage,
        key: ThreadKey,
        *,
        actor: str = "",
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.storage = storage
        self.key = key
        self.actor = actor
        self._options = RunOptions(on_busy=on_busy_of(on_busy), busy_timeout_s=busy_timeout, limits=limits, actor=actor)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, app={self.app!r})"

    @property
    def id(self) -> str:
        """The thread's id."""
        return self.key.thread_id

    @property
    def app(self) -> str:
        """The name of what runs on it; empty for a handle that leaves that to the thread."""
        return ""

    @checked
    async def message(self, message_id: str, *, reasoning: bool = False) -> dict[str, Any]:
        """One message."""
        async with self.storage.calling(self.key):
            found, _ = await reads.get_message(self.storage, self.key, message_id)
        return found.as_dict(reasoning)

    @checked
    async def state(self, checkpoint_id: str | None = None, *, allow_stale: bool = False) -> dict[str, Any]:
        """The state at the head, or as of a checkpoint. Neither the conversation nor the engine's own values are in it.

        With `allow_stale` a large one may come from Redis as it was at an earlier version, without a look at the database.
        """
        async with self.storage.calling(self.key):
            values, _ = await reads.get_state(self.storage, self.key, checkpoint_id or "", allow_stale=allow_stale)
        view = StateView(values, (), {})
        return {name: view[name] for name in values}

    @checked
    async def history(self, limit: int | None = 20) -> list[dict[str, Any]]:
        """The newest checkpoints of the present line, newest first; with None all of them."""
        check_limit(limit)
        found: list[dict[str, Any]] = []
        token = ""
        async with self.storage.calling(self.key):
            while limit is None or len(found) < limit:
                size = 200 if limit is None else min(200, limit - len(found))
                page = await reads.list_checkpoints(self.storage, self.key, size=size, token=token)
                found += [checkpoint.as_dict() for checkpoint in page.items]
                token = page.next_token
                if not token:
                    break
        return found

    @checked
    async def checkpoint(self, checkpoint_id: str) -> dict[str, Any]:
        """One checkpoint, on the present line or left behind by a rewind."""
        async with self.storage.calling(self.key):
            found, _ = await reads.get_checkpoint(self.storage, self.key, checkpoint_id)
        return found.as_dict()

    async def approvals(self) -> list[Approval]:
        """What the thread waits for."""
        async with self.storage.calling(self.key):
            head = await self.storage.backend.threads.get_head(self.key)
        if head is None:
            raise ThreadNotFoundError(self.id)
        return [view_approval(record) for record in head.pending]

    async def info(self) -> ThreadInfo:
        """How the thread stands, and whether anyone works on it."""
        async with self.storage.calling(self.key):
            return info_of(await reads.get_thread(self.storage, self.key))

    @checked
    def watch(self, after_version: int = 0, *, run_id: str = "", follow: bool = False) -> EventStream:
        """Streams what is in the log after a version, then what happens.

        With `run_id` it ends with that run's first end after the version; otherwise when the thread is at rest, or never with `follow`. Leaving it has
        no effect on any run.
        """
        return watch_stream(self.storage, self.key, after_version=after_version, run_id=run_id, follow=follow)

    @checked
    async def cancel(
        self,
        run_id: str = "",
        *,
        started_by_request_id: str = "",
        expected_version: int | None = None,
        request_id: str | None = None,
    ) -> dict[str, Any]:
        """Cancels the run at the thread's head, or only if it is `run_id`, and gives the head when that is written.

        `started_by_request_id` names instead the `request_id` of the send, decide, resume or retry: its attempt is cancelled, or it leaves the queue.
        """
        mutation = _mutation(request_id, expected_version, run_id, started_by_request_id)
        async with self.storage.calling(self.key):
            written = await commands.cancel(
                self.storage, self.key, run_id, started_by_request_id, mutation=mutation, options=self._options
            )
        return written.as_dict()

    @checked
    async def rewind(
        self,
        checkpoint_id: str,
        *,
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        expected_version: int | None = None,
        request_id: str | None = None,
    ) -> dict[str, Any]:
        """Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is erased."""
        mutation = _mutation(request_id, expected_version, checkpoint_id)
        options = self._run_options({"on_busy": on_busy, "busy_timeout": busy_timeout})
        async with self.storage.calling(self.key):
            written = await commands.rewind(
                self.storage, self.key, self._programs, checkpoint_id, mutation=mutation, options=options
            )
        return written.as_dict()

    @checked
    async def copy(
        self,
        target_id: str,
        checkpoint_id: str | None = None,
        *,
        expected_version: int | None = None,
        request_id: str | None = None,
    ) -> Self:
        """Copies the thread, up to its head or an older checkpoint, to a new thread that owns all it has, and gives the handle on that."""
        target = ThreadKey(self.key.tenant, check_id(target_id, "target_thread_id"))
        mutation = _mutation(request_id, expected_version, self.id, checkpoint_id or "")
        async with self.storage.calling(self.key):
            await commands.copy(self.storage, self.key, target, checkpoint_id or "", self._programs, mutation=mutation)
        return self._on(target)

    @checked
    async def update(
        self,
        *,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        user_id: str | int | None = None,
        allow_missing: bool = False,
        etag: str = "",
        request_id: str | None = None,
    ) -> ThreadInfo:
        """Changes what is given here, also to nothing (`name=""`). `allow_missing` makes the thread where there is none; `etag` is `info().etag`."""
        change = ThreadUpdate(
            name=name,
            metadata=None if metadata is None else encoded_value(dict(metadata), "metadata_json"),
            user_id=None if user_id is None else str(user_id),
            etag=etag,
            allow_missing=allow_missing,
            app=self.app,
        )
        async with self.storage.calling(self.key):
            await commands.update(self.storage, self.key, change, mutation=_mutation(request_id, None, repr(change)))
            return info_of(await reads.get_thread(self.storage, self.key))

    @checked
    async def delete(self, *, expected_version: int | None = None, request_id: str | None = None) -> bool:
        """Deletes the thread for good; True if it existed."""
        async with self.storage.calling(self.key):
            return await commands.delete(self.storage, self.key, mutation=_mutation(request_id, expected_version))

    message_sync = blocking(message)
    state_sync = blocking(state)
    history_sync = blocking(history)
    checkpoint_sync = blocking(checkpoint)
    approvals_sync = blocking(approvals)
    info_sync = blocking(info)
    watch_sync = blocking_iterator(watch)
    cancel_sync = blocking(cancel)
    rewind_sync = blocking(rewind)
    copy_sync = blocking(copy)
    update_sync = blocking(update)
    delete_sync = blocking(delete)

    def _run_options(self, given: RunArguments | WriteArguments) -> RunOptions:
        """The options of one call: those that it gives, and the handle's own for the others."""
        timeout = given.get("busy_timeout")
        return RunOptions(
            on_busy=on_busy_of(given.get("on_busy")) or self._options.on_busy,
            busy_timeout_s=self._options.busy_timeout_s if timeout is None else timeout,
            limits=cast("Limits | None", given.get("limits")) or self._options.limits,
            actor=self.actor,
        )

    @abstractmethod
    def _on(self, key: ThreadKey) -> Self:
        """The same handle on another thread."""

    @abstractmethod
    def _programs(self, app: str) -> Program:
        """The program of the thread's app. Raises AppNotFoundError or AppMismatchError."""


def _mutation(request_id: str | None, expected_version: int | None, *body: str) -> Mutation:
    return Mutation(request_id or "", expected_version, "\0".join(body).encode())
