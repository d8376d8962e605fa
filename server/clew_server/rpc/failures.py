"""Errors as gRPC statuses: one table for refusals, one for the failures of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from clew_engine import errors
from clew_engine.checkpoints import Failure
from clew_engine.errors import ClewError

DOMAIN = "clew"
# Trailers are headers, of which gRPC takes 8 KiB: what is told is cut, and percent-encoding may triple the message.
_TRAILER_TEXT = 1024
_TRAILER_VALUE = 512
_EVENT_TEXT = 4096
_CODE = grpc.StatusCode

# An error is looked up along its MRO, so that a new one is at least what its base is.
CODES: dict[type[ClewError], grpc.StatusCode] = {
    errors.ThreadBusyError: _CODE.ABORTED,
    errors.VersionConflictError: _CODE.ABORTED,
    errors.RequestIdReusedError: _CODE.ABORTED,
    errors.LeaseLostError: _CODE.ABORTED,
    errors.ThreadSuspendedError: _CODE.FAILED_PRECONDITION,
    errors.ThreadInterruptedError: _CODE.FAILED_PRECONDITION,
    errors.ResumeInvalidError: _CODE.FAILED_PRECONDITION,
    errors.ApprovalAlreadyDecidedError: _CODE.FAILED_PRECONDITION,
    errors.ApprovalExpiredError: _CODE.FAILED_PRECONDITION,
    errors.CallNotPendingError: _CODE.FAILED_PRECONDITION,
    errors.AppMismatchError: _CODE.FAILED_PRECONDITION,
    errors.NotFoundError: _CODE.NOT_FOUND,
    errors.InvalidError: _CODE.INVALID_ARGUMENT,
    errors.ExhaustedError: _CODE.RESOURCE_EXHAUSTED,
    errors.UnavailableError: _CODE.UNAVAILABLE,
    errors.RunCancelledError: _CODE.CANCELLED,
    errors.DataCorruptError: _CODE.DATA_LOSS,
    errors.UnauthenticatedError: _CODE.UNAUTHENTICATED,
    errors.PermissionDeniedError: _CODE.PERMISSION_DENIED,
    errors.ClewError: _CODE.INTERNAL,
}
FAILURE_CODES: dict[str, grpc.StatusCode] = {
    "cancelled": _CODE.CANCELLED,
    "limit_exceeded": _CODE.RESOURCE_EXHAUSTED,
    "model_unavailable": _CODE.UNAVAILABLE,
    "model_rate_limited": _CODE.RESOURCE_EXHAUSTED,
    "model_rejected": _CODE.FAILED_PRECONDITION,
    "model_incomplete": _CODE.UNAVAILABLE,
    "tool_failed": _CODE.ABORTED,
    "state_conflict": _CODE.FAILED_PRECONDITION,
    "worker_unavailable": _CODE.UNAVAILABLE,
    "rewound": _CODE.ABORTED,
    "updated": _CODE.ABORTED,
    "thread_not_found": _CODE.NOT_FOUND,
    "internal": _CODE.INTERNAL,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused call: the status that ends it, and its details."""

    code: grpc.StatusCode
    status: Status


def is_foreseen(error: BaseException) -> bool:
    """Whether an error says something that a caller may know."""
    return isinstance(error, ClewError) and code_of(error) is not _CODE.INTERNAL


def code_of(error: ClewError) -> grpc.StatusCode:
    """The status code of an error."""
    return next(CODES[kind] for kind in type(error).__mro__ if kind in CODES)


def refusal_of(error: ClewError) -> Refusal:
    """An error as a status with exactly one ErrorInfo."""
    code = code_of(error)
    status = _status(
        code, _cut(error.message, _TRAILER_TEXT), error.code.upper(), _short(error.metadata), error.retry_after
    )
    return Refusal(code, status)


def incident_of(incident_id: str) -> Refusal:
    """What is told of an error that was not foreseen."""
    message = (
        f"something unforeseen happened (incident {incident_id}; the server's log has its cause); "
        "a write may or may not have happened: try again only with the same request id"
    )
    return Refusal(_CODE.INTERNAL, _status(_CODE.INTERNAL, message, "INTERNAL", {"incident_id": incident_id}, None))


def failure_status(failure: Failure) -> Status:
    """The status that stands for a failed run."""
    known = failure.code in FAILURE_CODES
    code = FAILURE_CODES[failure.code] if known else _CODE.INTERNAL
    reason = failure.code.upper() if known else "INTERNAL"
    retry_after = failure.metadata.get("retry_after_s")
    return _status(
        code,
        _cut(failure.message, _EVENT_TEXT),
        reason,
        {name: _cut(value, _EVENT_TEXT) for name, value in failure.metadata.items()},
        None if retry_after is None else float(retry_after),
    )


def _status(
    code: grpc.StatusCode, message: str, reason: str, metadata: Mapping[str, str], retry_after_s: float | None
) -> Status:
    status = Status(code=code.value[0], message=message)
    _pack(status, ErrorInfo(reason=reason, domain=DOMAIN, metadata=dict(metadata)))
    if retry_after_s is not None:
        milliseconds = round(retry_after_s * 1000)
        delay = Duration(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
        _pack(status, RetryInfo(retry_delay=delay))
    return status


def _pack(status: Status, detail: ErrorInfo | RetryInfo) -> None:
    packed = Any()
    packed.Pack(detail)
    status.details.append(packed)


def _short(metadata: Mapping[str, str]) -> dict[str, str]:
    """The values, cut; a list of ids loses whole ids only."""
    short: dict[str, str] = {}
    for name, value in metadata.items():
        cut = _cut(value, _TRAILER_VALUE)
        short[name] = cut.rpartition(",")[0] if cut != value and name.endswith("_ids") else cut
    return short


def _cut(text: str, limit: int) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= limit:
        return text.encode(errors="replace").decode()
    return encoded[: limit - 3].decode(errors="ignore") + "…"
