"""One channel on one event loop, the stubs over it, and the streams that are open on it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib import resources
from typing import Any, Protocol, TypeVar

import grpc

from clew.errors import ClewError
from clew.refusals import error_of, raising
from clew.settings import Settings
from clew.v1.app_service_pb2_grpc import AppServiceStub
from clew.v1.approval_service_pb2_grpc import ApprovalServiceStub
from clew.v1.cache_service_pb2_grpc import CacheServiceStub
from clew.v1.checkpoint_service_pb2_grpc import CheckpointServiceStub
from clew.v1.run_service_pb2_grpc import RunServiceStub
from clew.v1.thread_service_pb2_grpc import ThreadServiceStub
from clew.v1.worker_service_pb2_grpc import WorkerServiceStub

Req = TypeVar("Req")
Resp = TypeVar("Resp")
T = TypeVar("T")

_MAX_RECEIVED = 4 << 20
# More than any field may have, so that the server refuses what is too large by the field's name.
_MAX_SENT = 8 << 20


class Leavable(Protocol):
    """A stream that is open."""

    async def leave(self) -> None:
        """End it on purpose, whoever reads it."""


class Connection:
    """Everything of a client that belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.channel = _open_channel(settings)
        self.runs = RunServiceStub(self.channel)
        self.threads = ThreadServiceStub(self.channel)
        self.checkpoints = CheckpointServiceStub(self.channel)
        self.approvals = ApprovalServiceStub(self.channel)
        self.apps = AppServiceStub(self.channel)
        self.cache = CacheServiceStub(self.channel)
        self.workers = WorkerServiceStub(self.channel)
        self.open: set[Leavable] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def ask(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Req, Resp], request: Req, within: float | None = None
    ) -> Resp:
        """The answer to a call that has one. Raises the error that a refusal stands for."""
        wait = self.settings.timeout if within is None else within
        with raising(self.settings.target, self.is_reached):
            return await method(request, timeout=wait, metadata=self.metadata())

    def is_reached(self) -> bool:
        """Whether there is a connection just now."""
        return self.channel.get_state() is grpc.ChannelConnectivity.READY

    def error_of(self, refused: grpc.aio.AioRpcError) -> ClewError:
        """The error of a call on this channel that ended with a status."""
        return error_of(refused, self.settings.target, reached=self.is_reached())

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with every call."""
        token = self.settings.token
        if token is None:
            return ()
        return (("authorization", f"Bearer {token() if callable(token) else token}"),)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something that no caller's cancellation ends; `close` waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Leave what is open, and let the channel go."""
        await asyncio.gather(*(stream.leave() for stream in tuple(self.open)))
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))
        await self.channel.close()


def _open_channel(settings: Settings) -> grpc.aio.Channel:
    options = (
        ("grpc.service_config", _service_config()),
        ("grpc.max_receive_message_length", _MAX_RECEIVED),
        ("grpc.max_send_message_length", _MAX_SENT),
        # A connection that died without a word is noticed while a call waits on it, and a server that comes back is found soon.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1_000),
        # A new client of a server that has come back does not share the backoff of an older one.
        ("grpc.use_local_subchannel_pool", 1),
        *settings.options,
    )
    if settings.tls is None:
        return grpc.aio.insecure_channel(settings.target, options=options)
    tls = settings.tls
    credentials = grpc.ssl_channel_credentials(tls.root_certificates, tls.client_key, tls.client_certificate)
    return grpc.aio.secure_channel(settings.target, credentials, options=options)


def _service_config() -> str:
    return resources.files("clew.v1").joinpath("service_config.json").read_text(encoding="utf-8")
