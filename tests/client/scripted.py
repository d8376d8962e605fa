"""A real gRPC server that speaks the contract and says what a test tells it to."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2

from clew.v1 import (
    app_service_pb2_grpc,
    approval_service_pb2_grpc,
    cache_service_pb2_grpc,
    checkpoint_service_pb2_grpc,
    event_pb2,
    run_service_pb2,
    run_service_pb2_grpc,
    thread_service_pb2_grpc,
    worker_service_pb2_grpc,
)

Context = Any
Answer = Callable[[Any, Context], Any]

_SERVICES = (
    (app_service_pb2_grpc, "AppService"),
    (approval_service_pb2_grpc, "ApprovalService"),
    (cache_service_pb2_grpc, "CacheService"),
    (checkpoint_service_pb2_grpc, "CheckpointService"),
    (run_service_pb2_grpc, "RunService"),
    (thread_service_pb2_grpc, "ThreadService"),
    (worker_service_pb2_grpc, "WorkerService"),
)


class ScriptedServer:
    """Every RPC takes the next answer of its name; the last one stays. `asked` are the requests, `left` is set when a stream was cancelled."""

    def __init__(self) -> None:
        self.answers: defaultdict[str, list[Answer]] = defaultdict(list)
        self.asked: list[tuple[str, Any]] = []
        self.metadata: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.cancelled: list[str] = []
        self.arrived: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.port = 0
        self._server: grpc.aio.Server | None = None

    async def start(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        for module, name in _SERVICES:
            getattr(module, f"add_{name}Servicer_to_server")(_servicer(module, name, self), self._server)
        address = f"127.0.0.1:{self.port}"
        if credentials is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self.port = self._server.add_secure_port(address, credentials)
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def on(self, name: str, *answers: Answer) -> None:
        self.answers[name] = list(answers)

    def requests(self, name: str) -> list[Any]:
        return [request for each, request in self.asked if each == name]

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def take(self, name: str, request: Any, context: Context) -> Answer:
        self.asked.append((name, request))
        self.metadata.append(dict(context.invocation_metadata() or ()))
        self.arrived[name].set()
        waiting = self.answers[name]
        assert waiting, f"{name} was not expected"
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


def _servicer(module: Any, name: str, server: ScriptedServer) -> Any:
    base = getattr(module, f"{name}Servicer")
    service = next(
        each
        for each in (
            value.DESCRIPTOR.services_by_name.get(name)
            for value in vars(module).values()
            if hasattr(value, "DESCRIPTOR") and hasattr(value.DESCRIPTOR, "services_by_name")
        )
        if each is not None
    )
    methods = {
        method.name: (_streaming if method.server_streaming else _unary)(server, method.name)
        for method in service.methods
    }
    return type(f"Scripted{name}", (base,), methods)()


def _streaming(server: ScriptedServer, name: str) -> Any:
    async def call(_: Any, request: Any, context: Context) -> AsyncIterator[Any]:
        try:
            async for response in server.take(name, request, context)(request, context):
                yield response
        except asyncio.CancelledError:
            server.cancelled.append(name)
            server.left.set()
            raise

    return call


def _unary(server: ScriptedServer, name: str) -> Any:
    async def call(_: Any, request: Any, context: Context) -> Any:
        answer = server.take(name, request, context)(request, context)
        return await answer if isinstance(answer, Awaitable) else answer

    return call


def replies(response: Any) -> Answer:
    """A unary answer."""
    return lambda _request, _context: response


def streams(*groups: list[event_pb2.Event] | Callable[[Context], Awaitable[Any]]) -> Answer:
    """A stream: each group of events in one message; a function is awaited in its place (to wait, or to refuse)."""

    async def answer(_request: Any, context: Context) -> AsyncIterator[Any]:
        for group in groups:
            if callable(group):
                await group(context)
            else:
                yield run_service_pb2.SendResponse(events=group)

    return answer


def waits_for(event: asyncio.Event) -> Callable[[Context], Awaitable[Any]]:
    """Until the test sets it."""
    return lambda _context: event.wait()


async def for_ever(_context: Context) -> None:
    """Until the client leaves."""
    await asyncio.Event().wait()


def refuses(
    code: grpc.StatusCode, reason: str = "", *, text: str = "no", retry_after: float | None = None, **metadata: str
) -> Callable[..., Awaitable[Any]]:
    """Ends a call with a status; with a reason, as the contract says it."""

    async def refuse(*call: Any) -> NoReturn:
        context = call[-1]
        await context.abort(code, text, details_of(code, reason, text, retry_after, metadata) if reason else ())
        raise AssertionError

    return refuse


def details_of(
    code: grpc.StatusCode, reason: str, text: str, retry_after: float | None, metadata: dict[str, str]
) -> tuple[tuple[str, bytes], ...]:
    status = status_pb2.Status(code=code.value[0], message=text)
    status.details.append(packed(error_details_pb2.ErrorInfo(reason=reason, domain="clew", metadata=metadata)))
    if retry_after is not None:
        delay = Duration()
        delay.FromNanoseconds(round(retry_after * 1e9))
        status.details.append(packed(error_details_pb2.RetryInfo(retry_delay=delay)))
    return (("grpc-status-details-bin", status.SerializeToString()),)


def packed(message: Any) -> AnyMessage:
    detail = AnyMessage()
    detail.Pack(message)
    return detail


cut = refuses(grpc.StatusCode.UNAVAILABLE, "STREAM_CUT", version="0")
broken = refuses(grpc.StatusCode.UNAVAILABLE)
