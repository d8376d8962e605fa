"""A server: agents and workflows on a storage, behind the contract. Everything is put together here, and nowhere else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Self

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from clew.v1 import (
    app_service_pb2_grpc,
    approval_service_pb2_grpc,
    cache_service_pb2_grpc,
    checkpoint_service_pb2_grpc,
    run_service_pb2_grpc,
    thread_service_pb2_grpc,
    worker_service_pb2_grpc,
)
from clew_engine.apps import App
from clew_engine.options import OnBusy, Recover, Tuning
from clew_engine.storage import Storage
from clew_server import readiness, standstills
from clew_server.listening import listen
from clew_server.rpc import interceptors
from clew_server.rpc.app_listing import AppService
from clew_server.rpc.approvals import ApprovalService
from clew_server.rpc.cache import CacheService
from clew_server.rpc.checkpoints import CheckpointService
from clew_server.rpc.runs import RunService
from clew_server.rpc.served_apps import ServedApps
from clew_server.rpc.services import ByName
from clew_server.rpc.threads import ThreadService
from clew_server.rpc.wire.scalars import MESSAGE_BYTES
from clew_server.rpc.workers import WorkerService
from clew_server.sealing import Seals
from clew_server.settings import Settings
from clew_server.upkeep import upkeep
from clew_storage import RedisSettings

_log = structlog.stdlib.get_logger("clew.server")
SERVICES = tuple(
    f"clew.v1.{name}"
    for name in (
        "AppService",
        "ApprovalService",
        "CacheService",
        "CheckpointService",
        "RunService",
        "ThreadService",
        "WorkerService",
    )
)
# What is left of the grace for streams to be told where they were cut.
_LAST_WORDS_S = 1.0
# More than any field may have: what is too large is refused by the rules, which name it.
_REQUEST_BYTES = 2 * MESSAGE_BYTES
_MOST_PENDING = 100_000
_OPTIONS = (
    ("grpc.max_receive_message_length", _REQUEST_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    # A stream may be silent for long: both sides may ask whether the other is there.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Calls that came and are not begun yet. gRPC cancels some of more than 1,000 and all of more than 3,000, which is what comes back at
    # once to a server that was restarted; none of them has a status that a client tries again.
    ("grpc.server.max_pending_requests", _MOST_PENDING),
    ("grpc.server.max_pending_requests_hard_limit", _MOST_PENDING),
)


def open_storage(settings: Settings) -> Storage:
    """The storage that the settings name, yet to be opened."""
    tuning = Tuning(
        on_busy=OnBusy(settings.on_busy),
        busy_timeout_s=settings.busy_timeout,
        state_limit=settings.state_limit,
        cache_bytes=settings.cache_bytes,
        reader_bytes=settings.reader_bytes,
        heartbeat_s=settings.heartbeat,
        call_lease_s=settings.call_lease,
        recover=Recover(settings.recover),
        recover_tries=settings.recover_tries,
    )
    redis = None
    if settings.redis:
        redis = RedisSettings(settings.redis, prefix=settings.redis_prefix, cache_ttl=settings.cache_ttl)
    return Storage(settings.storage, tuning=tuning, redis=redis)


class Server:
    """Serves agents and workflows. It closes the storage that it opened itself, and leaves one that it was given."""

    def __init__(self, apps: Sequence[App], settings: Settings, storage: Storage | None = None) -> None:
        self.settings = settings
        self.storage = storage or open_storage(settings)
        self.apps = ServedApps(apps)
        self.address = ""
        self.port = 0
        self._owns_storage = storage is None
        self._seals = Seals(settings.snapshot_key)
        for app in apps:
            self.storage.know(app.program)
        self._health = health.aio.HealthServicer()
        self._server = self._assembled()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping: asyncio.Task[None] | None = None

    async def start(self) -> Self:
        """Take the address, open the storage and listen. Raises ServeError, or StorageUnavailableError for a database that cannot be opened.

        Where the address is taken no database is made.
        """
        try:
            self.address, self.port = listen(self._server, self.settings)
            await self.storage.open()
            await self._server.start()
        except BaseException:
            await self._server.stop(0)
            await self._let_go()
            raise
        if not self._seals.lasting and any(info.kind == "workflow" for info in self.apps.infos()):
            _log.info("snapshots of runs without a thread will not outlive this server: no snapshot_key is set")
        # The process itself is healthy from now on, whatever becomes of its database.
        await self._health.set("", health_pb2.HealthCheckResponse.SERVING)
        await self._tell_of_storage(True)
        self._tasks = [
            asyncio.create_task(upkeep(self.storage, self.settings.retention_policy)),
            asyncio.create_task(readiness.watch(self.storage.backend.check, self._tell_of_storage)),
            asyncio.create_task(standstills.watch()),
        ]
        if self.storage.beside is not None:
            self.storage.beside.when_it_changes(self._tell_of_redis)
            self._tell_of_redis(self.storage.beside.is_up)
        return self

    async def _tell_of_storage(self, is_up: bool) -> None:
        """Under the names of the services, of which each needs it: a server without its database is alive, and not ready."""
        for service in SERVICES:
            await self._health.set(service, _status(is_up))

    def _tell_of_redis(self, is_up: bool) -> None:
        """Under a name of its own: a server without its Redis is as healthy as it was."""
        self.storage.spawn(self._health.set("redis", _status(is_up)))

    async def wait(self) -> None:
        """Until the server has stopped."""
        await self._server.wait_for_termination()
        if self._stopping is not None:
            await self._stopped(self._stopping)

    async def stop(self, grace_s: float | None = None) -> None:
        """Take no new runs, let those under way go on for the grace, end streams with their cursor, and close.

        Runs that are not done by then stay interrupted, for a retry. A second call with a shorter grace cuts the first one short.
        """
        grace_s = self.settings.grace if grace_s is None else grace_s
        stopping = asyncio.create_task(self._stop(grace_s, self._stopping))
        self._stopping = stopping
        await self._stopped(stopping)

    async def _stopped(self, stopping: asyncio.Task[None]) -> None:
        """When the newest call to stop is done: it takes the place of those before it."""
        await asyncio.wait({stopping})
        while self._stopping is not None and stopping is not self._stopping:
            stopping = self._stopping
            await asyncio.wait({stopping})
        if not stopping.cancelled():
            stopping.result()

    async def _stop(self, grace_s: float, earlier: asyncio.Task[None] | None) -> None:
        began = time.monotonic()
        if earlier is not None:
            earlier.cancel()
            await asyncio.wait({earlier})
        await self._health.enter_graceful_shutdown()
        await self.storage.drain(max(0.0, grace_s - min(_LAST_WORDS_S, grace_s / 2)))
        left = max(0.0, grace_s - (time.monotonic() - began))
        await self._server.stop(min(left, _LAST_WORDS_S))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._let_go()

    async def _let_go(self) -> None:
        if self._owns_storage:
            await self.storage.close()

    def _assembled(self) -> grpc.aio.Server:
        framing = interceptors.Framing(
            interceptors.errors,
            interceptors.logging,
            interceptors.reading(self.storage.backend.leases.sees_all),
            checks=(interceptors.deadline, interceptors.rules),
            stall_s=self.settings.stall,
        )
        # Two servers on one port would share its callers without a word; workers are meant to.
        shared_port = ("grpc.so_reuseport", int(self.settings.workers > 1))
        patience = ("grpc.http2.min_ping_interval_without_data_ms", round(self.settings.ping_interval * 1000))
        server = grpc.aio.server(interceptors=(framing,), options=(*_OPTIONS, shared_port, patience))
        # Generated code asks for gRPC's own class, and calls these two methods of it.
        services: Any = ByName(server)
        run_service_pb2_grpc.add_RunServiceServicer_to_server(
            RunService(self.storage, self.apps, self._seals), services
        )
        thread_service_pb2_grpc.add_ThreadServiceServicer_to_server(ThreadService(self.storage, self.apps), services)
        checkpoint_service_pb2_grpc.add_CheckpointServiceServicer_to_server(
            CheckpointService(self.storage, self.apps), services
        )
        approval_service_pb2_grpc.add_ApprovalServiceServicer_to_server(ApprovalService(self.storage), services)
        cache_service_pb2_grpc.add_CacheServiceServicer_to_server(CacheService(self.storage), services)
        app_service_pb2_grpc.add_AppServiceServicer_to_server(AppService(self.apps, self.storage), services)
        worker_service_pb2_grpc.add_WorkerServiceServicer_to_server(WorkerService(self.storage), services)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, services)
        if self.settings.with_reflection:
            reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), services)
        return server


def _status(is_up: bool) -> int:
    return health_pb2.HealthCheckResponse.SERVING if is_up else health_pb2.HealthCheckResponse.NOT_SERVING
