"""ThreadService: threads, their state and their messages."""

from __future__ import annotations

from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import thread_service_pb2 as pb
from clew.v1.thread_service_pb2_grpc import ThreadServiceServicer
from clew_engine import commands, reads
from clew_engine.json_text import join_object
from clew_engine.storage import Storage
from clew_server.rpc.served_apps import ServedApps
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.checkpoints import to_checkpoint
from clew_server.rpc.wire.content import new_message_of, part_of
from clew_server.rpc.wire.messages import to_message
from clew_server.rpc.wire.options import mutation_of, write_options_of
from clew_server.rpc.wire.threads import change_of, filter_of, state_update_of, to_thread
from clew_storage import ThreadKey

Context = ServicerContext[Any, Any]


class ThreadService(ThreadServiceServicer):
    """Reads never wait; a change of state or messages waits for the thread as its options say."""

    def __init__(self, storage: Storage, apps: ServedApps) -> None:
        self._storage = storage
        self._apps = apps

    async def GetThread(self, request: pb.GetThreadRequest, context: Context) -> pb.GetThreadResponse:
        """A thread as it stands."""
        key = _key(request, context)
        async with self._storage.calling(key):
            return pb.GetThreadResponse(thread=to_thread(await reads.get_thread(self._storage, key)))

    async def ListThreads(self, request: pb.ListThreadsRequest, context: Context) -> pb.ListThreadsResponse:
        """Threads, newest first."""
        async with self._storage.calling(None):
            page = await reads.list_threads(
                self._storage,
                tenant_of(context),
                filter_of(request),
                by_update=request.order == pb.THREAD_ORDER_UPDATE_TIME,
                size=request.page_size,
                token=request.page_token,
            )
        return pb.ListThreadsResponse(threads=map(to_thread, page.items), next_page_token=page.next_token)

    async def UpdateThread(self, request: pb.UpdateThreadRequest, context: Context) -> pb.UpdateThreadResponse:
        """Changes what is known of a thread, or makes one."""
        key = _key(request, context)
        if request.app:
            self._apps.program(request.app)
        async with self._storage.calling(key):
            await commands.update(self._storage, key, change_of(request), mutation=mutation_of(request))
            return pb.UpdateThreadResponse(thread=to_thread(await reads.get_thread(self._storage, key)))

    async def CopyThread(self, request: pb.CopyThreadRequest, context: Context) -> pb.CopyThreadResponse:
        """Makes a thread of its own from another."""
        key, target = _key(request, context), ThreadKey(tenant_of(context), request.target_thread_id)
        async with self._storage.calling(key):
            await commands.copy(
                self._storage,
                key,
                target,
                request.checkpoint_id,
                self._apps.program,
                mutation=mutation_of(request),
            )
        async with self._storage.calling(target):
            return pb.CopyThreadResponse(thread=to_thread(await reads.get_thread(self._storage, target)))

    async def DeleteThread(self, request: pb.DeleteThreadRequest, context: Context) -> pb.DeleteThreadResponse:
        """Deletes a thread and all that belongs to it."""
        key = _key(request, context)
        async with self._storage.calling(key):
            existed = await commands.delete(self._storage, key, mutation=mutation_of(request))
        return pb.DeleteThreadResponse(existed=existed)

    async def GetState(self, request: pb.GetStateRequest, context: Context) -> pb.GetStateResponse:
        """A thread's state, now or then."""
        key = _key(request, context)
        async with self._storage.calling(key):
            state, read = await reads.get_state(
                self._storage, key, request.checkpoint_id, allow_stale=request.allow_stale
            )
        return pb.GetStateResponse(
            state_json=join_object(state), version=read.version, checkpoint_id=read.checkpoint_id
        )

    async def UpdateState(self, request: pb.UpdateStateRequest, context: Context) -> pb.UpdateStateResponse:
        """Replaces a thread's state, or merges values into it."""
        key = _key(request, context)
        if request.app:
            self._apps.program(request.app)
        async with self._storage.calling(key):
            checkpoint = await commands.update_state(
                self._storage,
                key,
                state_update_of(request),
                self._apps.program,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.UpdateStateResponse(checkpoint=to_checkpoint(checkpoint))

    async def ClearState(self, request: pb.ClearStateRequest, context: Context) -> pb.ClearStateResponse:
        """Removes every value from a thread's state."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint = await commands.clear_state(
                self._storage,
                key,
                force=request.force,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.ClearStateResponse(checkpoint=to_checkpoint(checkpoint))

    async def ListMessages(self, request: pb.ListMessagesRequest, context: Context) -> pb.ListMessagesResponse:
        """A thread's messages in the order of the transcript."""
        key = _key(request, context)
        async with self._storage.calling(key):
            page = await reads.list_messages(
                self._storage,
                key,
                newest_first=request.order == pb.MESSAGE_ORDER_NEWEST_FIRST,
                size=request.page_size,
                token=request.page_token,
                search=request.search,
            )
        return pb.ListMessagesResponse(
            messages=[to_message(message, reasoning=request.include_reasoning) for message in page.items],
            next_page_token=page.next_token,
            version=page.version,
        )

    async def GetMessage(self, request: pb.GetMessageRequest, context: Context) -> pb.GetMessageResponse:
        """One message."""
        key = _key(request, context)
        async with self._storage.calling(key):
            message, version = await reads.get_message(self._storage, key, request.message_id)
        return pb.GetMessageResponse(message=to_message(message, reasoning=request.include_reasoning), version=version)

    async def AppendMessages(self, request: pb.AppendMessagesRequest, context: Context) -> pb.AppendMessagesResponse:
        """Adds messages at the end."""
        key = _key(request, context)
        if request.app:
            self._apps.program(request.app)
        async with self._storage.calling(key):
            checkpoint, ids = await commands.append_messages(
                self._storage,
                key,
                [new_message_of(message) for message in request.messages],
                force=request.force,
                app=request.app,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.AppendMessagesResponse(checkpoint=to_checkpoint(checkpoint), message_ids=ids)

    async def UpdateMessage(self, request: pb.UpdateMessageRequest, context: Context) -> pb.UpdateMessageResponse:
        """Changes a message in its place."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint = await commands.update_message(
                self._storage,
                key,
                request.message_id,
                tuple(map(part_of, request.content)) or None,
                request.metadata_json.encode() if request.HasField("metadata_json") else None,
                force=request.force,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.UpdateMessageResponse(checkpoint=to_checkpoint(checkpoint))

    async def DeleteMessage(self, request: pb.DeleteMessageRequest, context: Context) -> pb.DeleteMessageResponse:
        """Deletes a message for good."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint, ids = await commands.delete_message(
                self._storage,
                key,
                request.message_id,
                self._apps.program,
                force=request.force,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.DeleteMessageResponse(checkpoint=to_checkpoint(checkpoint), message_ids=ids)


def _key(request: Any, context: Context) -> ThreadKey:
    return ThreadKey(tenant_of(context), request.thread_id)
