"""CheckpointService: a thread's history, and the way back in it."""

from __future__ import annotations

from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import checkpoint_service_pb2 as pb
from clew.v1.checkpoint_service_pb2_grpc import CheckpointServiceServicer
from clew_engine import commands, reads
from clew_engine.storage import Storage
from clew_server.rpc.served_apps import ServedApps
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.checkpoints import to_checkpoint
from clew_server.rpc.wire.options import mutation_of, write_options_of
from clew_storage import ThreadKey

Context = ServicerContext[Any, Any]


class CheckpointService(CheckpointServiceServicer):
    """Reads never wait; a rewind waits for the thread as its options say."""

    def __init__(self, storage: Storage, apps: ServedApps) -> None:
        self._storage = storage
        self._apps = apps

    async def ListCheckpoints(self, request: pb.ListCheckpointsRequest, context: Context) -> pb.ListCheckpointsResponse:
        """The present line, newest first."""
        key = _key(request, context)
        async with self._storage.calling(key):
            page = await reads.list_checkpoints(self._storage, key, size=request.page_size, token=request.page_token)
        return pb.ListCheckpointsResponse(
            checkpoints=map(to_checkpoint, page.items), next_page_token=page.next_token, version=page.version
        )

    async def GetCheckpoint(self, request: pb.GetCheckpointRequest, context: Context) -> pb.GetCheckpointResponse:
        """One checkpoint, on the line or off it."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint, version = await reads.get_checkpoint(self._storage, key, request.checkpoint_id)
        return pb.GetCheckpointResponse(checkpoint=to_checkpoint(checkpoint), version=version)

    async def Rewind(self, request: pb.RewindRequest, context: Context) -> pb.RewindResponse:
        """Makes a checkpoint the head again."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint = await commands.rewind(
                self._storage,
                key,
                self._apps.program,
                request.checkpoint_id,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.RewindResponse(checkpoint=to_checkpoint(checkpoint))


def _key(request: Any, context: Context) -> ThreadKey:
    return ThreadKey(tenant_of(context), request.thread_id)
