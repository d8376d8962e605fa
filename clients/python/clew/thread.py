"""The handle of a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from clew.argument_checks import check_limit, checked
from clew.blocking import blocking
from clew.edits import Edits
from clew.inbox_reader import list_approvals
from clew.json_text import decode_json, encode_object
from clew.messages import Message, message_of
from clew.options import OnBusy, duration_of, new_request_id
from clew.records import Approval, Checkpoint, ThreadInfo, checkpoint_of, thread_of
from clew.turns import Turns
from clew.v1 import approval_service_pb2, checkpoint_service_pb2, run_pb2, thread_service_pb2
from clew.words import number_of

_BUSY_S = 60.0


class Handle(Edits):
    """A thread by its id. It holds only the id, the app and the actor: make one per request, anywhere; two on one id are the same thread.

    The thread itself is made by its first send or run. Every verb has a blocking form, with `_sync` after its name.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, app={self.app!r})"

    @checked
    async def message(self, message_id: str, *, reasoning: bool = False) -> Message:
        """One message."""
        to = self._client.connection()
        request = thread_service_pb2.GetMessageRequest(
            thread_id=self.id, message_id=message_id, include_reasoning=reasoning
        )
        return message_of((await to.ask(to.threads.GetMessage, request)).message)

    @checked
    async def state(self, checkpoint_id: str | None = None, *, allow_stale: bool = False) -> dict[str, Any]:
        """The state at the head, or as of a checkpoint. Neither the conversation nor the engine's own values are in it.

        With `allow_stale` a large one may come from the server's Redis as it was at an earlier version, without a look at the database.
        """
        to = self._client.connection()
        request = thread_service_pb2.GetStateRequest(
            thread_id=self.id, checkpoint_id=checkpoint_id or "", allow_stale=allow_stale
        )
        response = await to.ask(to.threads.GetState, request)
        state: dict[str, Any] = decode_json(response.state_json, {})
        return state

    @checked
    async def history(self, limit: int | None = 20) -> list[Checkpoint]:
        """The newest checkpoints of the present line, newest first; with None all of them."""
        check_limit(limit)
        to = self._client.connection()
        request = checkpoint_service_pb2.ListCheckpointsRequest(thread_id=self.id)
        found: list[Checkpoint] = []
        while limit is None or len(found) < limit:
            request.page_size = 200 if limit is None else min(200, limit - len(found))
            page = await to.ask(to.checkpoints.ListCheckpoints, request)
            found += map(checkpoint_of, page.checkpoints)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        return found

    @checked
    async def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        """One checkpoint, on the present line or left behind by a rewind."""
        to = self._client.connection()
        request = checkpoint_service_pb2.GetCheckpointRequest(thread_id=self.id, checkpoint_id=checkpoint_id)
        return checkpoint_of((await to.ask(to.checkpoints.GetCheckpoint, request)).checkpoint)

    async def approvals(self) -> list[Approval]:
        """What the thread waits for."""
        request = approval_service_pb2.ListApprovalsRequest(thread_id=self.id)
        return await list_approvals(self._client.connection(), request, None)

    @checked
    async def rewind(
        self,
        checkpoint_id: str,
        *,
        on_busy: OnBusy | None = None,
        busy_timeout: float | None = None,
        expected_version: int | None = None,
        request_id: str | None = None,
    ) -> Checkpoint:
        """Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is erased."""
        request = checkpoint_service_pb2.RewindRequest(
            thread_id=self.id,
            checkpoint_id=checkpoint_id,
            request_id=request_id or new_request_id(),
            expected_version=expected_version,
            on_busy=number_of(run_pb2.BusyPolicy, on_busy, "on_busy"),
            actor=self.actor,
        )
        if busy_timeout is not None:
            request.busy_timeout.CopyFrom(duration_of(busy_timeout, "busy_timeout"))
        to = self._client.connection()
        timeout = to.settings.timeout + (_BUSY_S if busy_timeout is None else busy_timeout)
        return checkpoint_of((await to.ask(to.checkpoints.Rewind, request, timeout)).checkpoint)

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
        request = thread_service_pb2.CopyThreadRequest(
            thread_id=self.id,
            target_thread_id=target_id,
            checkpoint_id=checkpoint_id or "",
            request_id=request_id or new_request_id(),
            expected_version=expected_version,
        )
        to = self._client.connection()
        await to.ask(to.threads.CopyThread, request)
        return type(self)(self._client, target_id, self.app, self.actor)

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
        given = {"name": name, "metadata_json": metadata, "user_id": user_id}
        request = thread_service_pb2.UpdateThreadRequest(
            thread_id=self.id,
            name=name or "",
            metadata_json="" if metadata is None else encode_object(dict(metadata), "metadata_json"),
            user_id="" if user_id is None else str(user_id),
            app=self.app,
            allow_missing=allow_missing,
            etag=etag,
            request_id=request_id or new_request_id(),
        )
        request.update_mask.paths.extend(field for field, value in given.items() if value is not None)
        to = self._client.connection()
        return thread_of((await to.ask(to.threads.UpdateThread, request)).thread)

    async def info(self) -> ThreadInfo:
        """How the thread stands, and whether anyone works on it."""
        to = self._client.connection()
        request = thread_service_pb2.GetThreadRequest(thread_id=self.id)
        return thread_of((await to.ask(to.threads.GetThread, request)).thread)

    @checked
    async def delete(self, *, expected_version: int | None = None, request_id: str | None = None) -> bool:
        """Deletes the thread for good; True if it existed."""
        request = thread_service_pb2.DeleteThreadRequest(
            thread_id=self.id, request_id=request_id or new_request_id(), expected_version=expected_version
        )
        to = self._client.connection()
        return (await to.ask(to.threads.DeleteThread, request)).existed

    message_sync = blocking(message)
    state_sync = blocking(state)
    history_sync = blocking(history)
    checkpoint_sync = blocking(checkpoint)
    approvals_sync = blocking(approvals)
    rewind_sync = blocking(rewind)
    copy_sync = blocking(copy)
    update_sync = blocking(update)
    info_sync = blocking(info)
    delete_sync = blocking(delete)


class Thread(Turns, Handle):
    """A conversation with an agent: what a handle does, and the turns that its user begins."""
