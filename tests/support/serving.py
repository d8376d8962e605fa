"""A server in this process on a free port of 127.0.0.1, and raw stubs to call it with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from clew.v1 import (
    app_service_pb2_grpc,
    approval_service_pb2_grpc,
    cache_service_pb2_grpc,
    checkpoint_service_pb2_grpc,
    event_pb2,
    run_service_pb2_grpc,
    thread_service_pb2_grpc,
    worker_service_pb2_grpc,
)
from clew_engine import App, Storage
from clew_server.app import Server
from clew_server.settings import Settings

CHANNEL_OPTIONS = (("grpc.max_receive_message_length", 4 << 20), ("grpc.enable_retries", 0))


@dataclass(frozen=True)
class Stubs:
    """The contract's services on one channel."""

    channel: grpc.aio.Channel
    runs: run_service_pb2_grpc.RunServiceStub
    threads: thread_service_pb2_grpc.ThreadServiceStub
    checkpoints: checkpoint_service_pb2_grpc.CheckpointServiceStub
    approvals: approval_service_pb2_grpc.ApprovalServiceStub
    apps: app_service_pb2_grpc.AppServiceStub
    cache: cache_service_pb2_grpc.CacheServiceStub
    workers: worker_service_pb2_grpc.WorkerServiceStub


@dataclass(frozen=True)
class Served(Stubs):
    """A server and stubs on it. `target` is what a client dials."""

    server: Server
    target: str

    @property
    def storage(self) -> Storage:
        """The server's storage."""
        return self.server.storage


@asynccontextmanager
async def serving(
    apps: Sequence[App], storage: str | Storage = "memory://", **settings: Any
) -> AsyncGenerator[Served, None]:
    """A server of these apps. A storage that is given as such stays open afterwards."""
    given = storage if isinstance(storage, Storage) else None
    url = None if given else storage
    told = Settings.read({"host": "127.0.0.1", "port": 0, "storage": url, "grace": 1.0, **settings})
    server = await Server(apps, told, given).start()
    try:
        async with grpc.aio.insecure_channel(server.address, options=CHANNEL_OPTIONS) as channel:
            yield Served(**stubs_on(channel).__dict__, server=server, target=server.address)
    finally:
        await server.stop(0)


def stubs_on(channel: grpc.aio.Channel) -> Stubs:
    """Stubs of every service."""
    return Stubs(
        channel=channel,
        runs=run_service_pb2_grpc.RunServiceStub(channel),
        threads=thread_service_pb2_grpc.ThreadServiceStub(channel),
        checkpoints=checkpoint_service_pb2_grpc.CheckpointServiceStub(channel),
        approvals=approval_service_pb2_grpc.ApprovalServiceStub(channel),
        apps=app_service_pb2_grpc.AppServiceStub(channel),
        cache=cache_service_pb2_grpc.CacheServiceStub(channel),
        workers=worker_service_pb2_grpc.WorkerServiceStub(channel),
    )


async def events_of(call: Any, seen: list[event_pb2.Event] | None = None) -> list[event_pb2.Event]:
    """All events of a stream, or what is left of them; `seen` has those too that came before it was refused."""
    events = [] if seen is None else seen
    while (response := await call.read()) is not grpc.aio.EOF:
        events += response.events
    return events


def kinds(events: Sequence[event_pb2.Event], *, deltas: bool = False) -> list[str]:
    """What the events are, without the deltas and heartbeats unless they are asked for."""
    left_out = () if deltas else ("text_delta", "reasoning_delta", "heartbeat")
    return [kind for event in events if (kind := event.WhichOneof("payload") or "") not in left_out]


def logged(events: Sequence[event_pb2.Event]) -> list[event_pb2.Event]:
    """The events that a replay yields too."""
    live_only = {"text_delta", "reasoning_delta", "heartbeat", "run_queued", "message_discarded", "log_trimmed"}
    live_only |= {"state_returned", "tool_call_progress"}
    return [event for event in events if event.WhichOneof("payload") not in live_only]


@dataclass(frozen=True)
class Refused:
    """A refusal as a caller reads it."""

    code: grpc.StatusCode
    reason: str
    metadata: dict[str, str]
    message: str
    retry_after_s: float | None


async def refusal(call: Any) -> Refused:
    """How a call was refused; fails where it was not."""
    try:
        if hasattr(call, "__aiter__"):
            await events_of(call)
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return read_refusal(error)
    raise AssertionError("the call was not refused")


def read_refusal(error: grpc.aio.AioRpcError) -> Refused:
    """The one ErrorInfo of an error, and its RetryInfo if any."""
    packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    assert packed is not None, f"no details: {error.code()} {error.details()}"
    status = Status.FromString(packed)
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    infos, retries = [], []
    for detail in status.details:
        if detail.Is(ErrorInfo.DESCRIPTOR):
            infos.append(info := ErrorInfo())
            detail.Unpack(info)
        else:
            retries.append(retry := RetryInfo())
            assert detail.Unpack(retry)
    (info,) = infos
    assert info.domain == "clew"
    delay = retries[0].retry_delay if retries else None
    wait = None if delay is None else delay.seconds + delay.nanos / 1e9
    return Refused(error.code(), info.reason, dict(info.metadata), status.message, wait)
