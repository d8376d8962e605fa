"""From a gRPC status to the error that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from clew.errors import (
    ClewError,
    DataCorruptError,
    DeadlineExceededError,
    ExhaustedError,
    InternalError,
    InvalidError,
    NotFoundError,
    PermissionDeniedError,
    RunCancelledError,
    UnauthenticatedError,
    UnavailableError,
    error_classes,
)

_DOMAIN = "clew"
_DETAILS = "grpc-status-details-bin"
_BY_CODE = error_classes()
# What a status means where no reason comes with it, or one that this version does not know.
_BY_STATUS: dict[grpc.StatusCode, type[ClewError]] = {
    grpc.StatusCode.CANCELLED: RunCancelledError,
    grpc.StatusCode.DATA_LOSS: DataCorruptError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ExhaustedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
}
# The statuses that a broken connection, a proxy or a server that stops ends a stream with.
_BREAKS = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
}


# What the transport's own words stand for, where no reason of the server's comes with the status: what happened, and what to do next.
_REPEAT = "what was asked may have happened: repeat it with the same request id"
_TLS = "see that the target is right, and that both sides speak TLS (`tls=` of the client) or neither"
_WORDS: dict[grpc.StatusCode, str] = {
    grpc.StatusCode.CANCELLED: f"the call to {{target}} was cancelled before it ended; {_REPEAT}",
    grpc.StatusCode.DEADLINE_EXCEEDED: (
        "{target} did not finish the call within its timeout: it is busy, or stopping. A run that has started goes on; "
        f"{_REPEAT}, or give the call more time"
    ),
    grpc.StatusCode.UNAVAILABLE: f"no server answers at {{target}}, or the connection broke; {_REPEAT}. Where it stays so, {_TLS}",
    grpc.StatusCode.UNKNOWN: f"the connection to {{target}} broke in the middle of the call; {_REPEAT}",
    grpc.StatusCode.INTERNAL: f"the connection to {{target}} broke in the middle of the call; {_REPEAT}",
    grpc.StatusCode.RESOURCE_EXHAUSTED: "a message to or from {target} is larger than the transport takes, or something on the way has no room for it; send less at once",
    grpc.StatusCode.UNIMPLEMENTED: "{target} does not know this call: it is a server of an older version, or none of Clew's",
    grpc.StatusCode.UNAUTHENTICATED: "{target} asks for a credential, or does not accept this one; give the client a `token`",
    grpc.StatusCode.PERMISSION_DENIED: "{target} does not allow this with the credential that was given",
}

_NOT_REACHED = f"no server answers at {{target}}, and the call's timeout is over; {_TLS}"


def error_of(refused: grpc.aio.AioRpcError, target: str = "the server", *, reached: bool = True) -> ClewError:
    """The error of a call to a target that ended with a status.

    `reached` is whether there is a connection. What only the transport said of it is in the metadata, under `transport`.
    """
    info, retry_after = _details(_status_of(refused).details)
    status = refused.code()
    text = refused.details() or status.name
    if info is None:
        if status is grpc.StatusCode.UNKNOWN and "Deadline Exceeded" in text:
            status = grpc.StatusCode.DEADLINE_EXCEEDED
        kind = _BY_STATUS.get(status, ClewError)
        late = status is grpc.StatusCode.DEADLINE_EXCEEDED
        known_words = _WORDS.get(status, "{target} refused the call with {status}")
        words = (_NOT_REACHED if late and not reached else known_words).format(target=target, status=status.name)
        metadata = {"target": target, "status": status.name, "transport": text}
        return kind(words, code=status.name.lower(), metadata=metadata, retry_after=retry_after)
    code = info.reason.lower()
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, ClewError)
    return kind(text, code=code, metadata=info.metadata, retry_after=retry_after)


def is_break(refused: grpc.aio.AioRpcError) -> bool:
    """Whether a stream that ended so was broken or cut, and not refused: it may be joined again."""
    info, _ = _details(_status_of(refused).details)
    if info is None:
        return refused.code() in _BREAKS
    if info.metadata.get("access") == "read_only":
        # The server only reads its file, now and later.
        return False
    return refused.code() is grpc.StatusCode.UNAVAILABLE or info.reason == "LEASE_LOST"


def failure_details(status: status_pb2.Status) -> tuple[dict[str, str], float | None]:
    """Metadata, and the seconds to wait where they are known, of a status inside an event."""
    info, retry_after = _details(status.details)
    return dict(info.metadata) if info else {}, retry_after


@contextmanager
def raising(target: str, reached: Callable[[], bool]) -> Iterator[None]:
    """Calls inside raise the client's errors, which stand alone: all that the transport knows and a caller needs is in them."""
    try:
        yield
    except grpc.aio.AioRpcError as refused:
        raise error_of(refused, target, reached=reached()) from None


def _status_of(refused: grpc.aio.AioRpcError) -> status_pb2.Status:
    status = status_pb2.Status()
    for key, value in refused.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            try:
                status.ParseFromString(value)
            except DecodeError:
                status.Clear()
    return status


def _details(details: Sequence[AnyMessage]) -> tuple[error_details_pb2.ErrorInfo | None, float | None]:
    found: error_details_pb2.ErrorInfo | None = None
    retry_after: float | None = None
    for detail in details:
        info, wait = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        if _holds(detail, info) and info.domain == _DOMAIN:
            found = info
        elif _holds(detail, wait):
            retry_after = wait.retry_delay.seconds + wait.retry_delay.nanos / 1e9
    return found, retry_after


def _holds(detail: AnyMessage, message: Any) -> bool:
    try:
        return bool(detail.Unpack(message))
    except DecodeError:
        return False
