"""What all calls have in common, as frames around the handlers: errors outermost, then the log, then what a call must be."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from clew_engine.errors import (
    ArgumentInvalidError,
    ClewError,
    RunCancelledError,
    StorageUnavailableError,
    StreamCutError,
)
from clew_engine.ids import MAX_ID_LENGTH
from clew_server.rpc.failures import Refusal, code_of, incident_of, is_foreseen, refusal_of
from clew_server.rpc.rules import check

_log = structlog.stdlib.get_logger("clew.rpc")
_OURS = "/clew."
STATUS_DETAILS = "grpc-status-details-bin"


@dataclass(slots=True)
class Call:
    """One call: its RPC as `Service/Method`, its request (None where that was no message) and gRPC's context."""

    method: str
    request: Any
    context: Any


Frame = Callable[[Call], AbstractAsyncContextManager[None]]
Behavior = Callable[[Any, Any], Awaitable[Any]]
Answer = Callable[[Call], Awaitable[Any]]
# Raises what is wrong with a call.
Check = Callable[[Call], None]


class Framing(grpc.aio.ServerInterceptor):
    """Puts frames around every handler of the contract, the first outermost, and within them what a call must be before it is handled.

    Other services (health, reflection) are left as they are.
    """

    def __init__(self, *frames: Frame, checks: Sequence[Check] = (), stall_s: float = 60.0) -> None:
        self._frames = frames
        self._checks = checks
        self._stall_s = stall_s
        self._handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}

    async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """The handler in its frames."""
        method = handler_call_details.method
        if method in self._handlers:
            return self._handlers[method]
        handler = await continuation(handler_call_details)
        if handler is None or not method.startswith(_OURS):
            return handler
        self._handlers[method] = self._framed(method.removeprefix("/clew.v1."), handler)
        return self._handlers[method]

    def _framed(self, method: str, handler: Any) -> grpc.RpcMethodHandler[Any, Any]:
        inner = handler.unary_stream or handler.unary_unary
        if handler.unary_stream:
            inner = _written(inner, self._stall_s)
        answer = _answering(inner, self._checks)
        for frame in reversed(self._frames):
            answer = _within(frame, answer)

        async def behavior(request: Any, context: Any) -> Any:
            return await answer(Call(method, request, context))

        make = grpc.unary_stream_rpc_method_handler if handler.unary_stream else grpc.unary_unary_rpc_method_handler
        return make(
            behavior,
            request_deserializer=_tolerant(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )


@asynccontextmanager
async def errors(call: Call) -> AsyncGenerator[None, None]:
    """Every error ends its call by the one table. What was not foreseen is logged under the number that the caller is told."""
    try:
        yield
    except grpc.aio.AbortError:
        raise
    except Exception as error:  # noqa: BLE001 - this is the last place: what goes further is shown to the caller
        if isinstance(error, ClewError) and is_foreseen(error):
            if code_of(error) is grpc.StatusCode.DATA_LOSS:
                _log.error("incident", method=call.method, incident_id=secrets.token_hex(8), exc_info=error)
            await _abort(call.context, refusal_of(error))
        incident = secrets.token_hex(8)
        _log.error("incident", method=call.method, incident_id=incident, exc_info=error)
        await _abort(call.context, incident_of(incident))


@asynccontextmanager
async def logging(call: Call) -> AsyncGenerator[None, None]:
    """One line a call: what it was, how it ended, how long it took."""
    began = time.perf_counter()
    code = grpc.StatusCode.UNKNOWN
    try:
        yield
        code = grpc.StatusCode.OK
    except asyncio.CancelledError:
        over = _is_over(call.context)
        code = grpc.StatusCode.DEADLINE_EXCEEDED if over else grpc.StatusCode.CANCELLED
        raise
    except ClewError as error:
        code = code_of(error)
        raise
    except Exception:
        code = grpc.StatusCode.INTERNAL
        raise
    finally:
        milliseconds = round((time.perf_counter() - began) * 1000, 1)
        _log.info(
            "call",
            method=call.method,
            code=code.name,
            ms=milliseconds,
            thread_id=getattr(call.request, "thread_id", "")[:MAX_ID_LENGTH],
        )


def reading(sees_all: Callable[[], bool]) -> Frame:
    """On a file that is only read, what is refused as unavailable stays so: it is told, so that no client tries it again."""

    @asynccontextmanager
    async def frame(_: Call) -> AsyncGenerator[None, None]:
        try:
            yield
        except StorageUnavailableError as error:
            if sees_all():
                raise
            raise StorageUnavailableError(error.message, access="read_only") from error

    return frame


def deadline(call: Call) -> None:
    """A call whose time is over before it begins does nothing."""
    if _is_over(call.context):
        raise RunCancelledError("the call's deadline was over before it began; nothing was done")


def rules(call: Call) -> None:
    """A request that breaks a rule reaches no handler."""
    if call.request is None:
        raise ArgumentInvalidError("request", "these bytes are no message of this type")
    check(call.request)


def _is_over(context: Any) -> bool:
    left = context.time_remaining()
    return left is not None and left <= 0


async def _abort(context: Any, refusal: Refusal) -> None:
    details: Status = refusal.status
    trailer = ((STATUS_DETAILS, details.SerializeToString()),)
    await context.abort(refusal.code, details.message, trailer)


def _answering(inner: Behavior, checks: Sequence[Check]) -> Answer:
    async def answer(call: Call) -> Any:
        for each in checks:
            each(call)
        return await inner(call.request, call.context)

    return answer


def _within(frame: Frame, inner: Answer) -> Answer:
    async def answer(call: Call) -> Any:
        async with frame(call):
            return await inner(call)

    return answer


def _written(generate: Callable[[Any, Any], AsyncGenerator[Any, None]], stall_s: float) -> Behavior:
    """A generator's responses written one by one, so that it is closed at once when the caller leaves.

    gRPC stops taking responses when the caller does not read them. One that reads nothing for `stall_s` seconds is cut off.
    """

    async def write(request: Any, context: Any) -> None:
        cursor = 0
        async with aclosing(generate(request, context)) as responses:
            async for response in responses:
                try:
                    async with asyncio.timeout(stall_s):
                        await context.write(response)
                except TimeoutError:
                    # Told to the handler, which knows that this is no disconnect.
                    await responses.athrow(StreamCutError(cursor, "its reader did not keep up"))
                cursor = _cursor(response, cursor)

    return write


def _cursor(response: Any, before: int) -> int:
    """The last version that was written whole; `before`: the one before this response."""
    events = getattr(response, "events", ())
    return next((event.version for event in reversed(events) if getattr(event, "last_of_version", False)), before)


def _tolerant(deserialize: Any) -> Callable[[bytes], Any]:
    """Bytes that are no message become None, which the rules refuse by the contract's own words."""

    def parse(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return None

    return parse
