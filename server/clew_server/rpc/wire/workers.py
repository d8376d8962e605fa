"""Workers, their tools and calls."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from google.protobuf.duration_pb2 import Duration

from clew.v1 import worker_pb2 as pb
from clew.v1 import worker_service_pb2 as service_pb
from clew_engine.errors import ArgumentInvalidError, StateTooLargeError
from clew_engine.messages import TextPart, ToolResultPart
from clew_engine.worker_sessions import Told, Why
from clew_engine.worker_tools import WorkerTool, record_of, tools_of
from clew_server.rpc.wire.content import part_of
from clew_server.rpc.wire.events import batches
from clew_server.rpc.wire.scalars import VALUE_BYTES, put_time, seconds
from clew_storage import CallName, GivenCall, ThreadKey, WorkerRecord

_REASONS = {
    Why.CANCELLED: pb.CALL_REVOKED_REASON_CANCELLED,
    Why.LEASE_LOST: pb.CALL_REVOKED_REASON_LEASE_LOST,
}


def record_from(request: service_pb.WorkRequest, tenant: str, now_ms: int) -> WorkerRecord:
    """The worker that comes. Raises ArgumentInvalidError."""
    return record_of(
        tenant,
        request.worker_id,
        [_tool_of(tool) for tool in request.tools],
        max_calls=request.max_calls,
        thread_id=request.thread_id,
        now_ms=now_ms,
    )


def to_worker(worker: WorkerRecord) -> pb.Worker:
    """A worker as operators see it."""
    wire = pb.Worker(
        worker_id=worker.worker_id,
        tools=map(_to_tool, tools_of(worker)),
        thread_id=worker.thread_id,
        max_calls=worker.max_calls,
        draining=worker.draining,
    )
    put_time(worker.created_at_ms, wire.create_time)
    return wire


def call_of(name: pb.CallName, tenant: str) -> CallName:
    """Which call."""
    return CallName(ThreadKey(tenant, name.thread_id), name.idempotency_key)


def result_of(request: service_pb.FinishCallRequest) -> ToolResultPart:
    """What came of a call. Raises ArgumentInvalidError, or StateTooLargeError for more than can be carried."""
    if request.HasField("error"):
        text = TextPart(request.error.message)
        return ToolResultPart(request.call.idempotency_key, "", (text,), None, is_error=True, outcome="failed")
    size = request.result.ByteSize()
    if size > VALUE_BYTES:
        raise StateTooLargeError("the result of a call", size, VALUE_BYTES, "result")
    structured = request.result.structured_json.encode() if request.result.HasField("structured_json") else None
    try:
        content = tuple(map(part_of, request.result.content))
        return ToolResultPart(request.call.idempotency_key, "", content, structured, is_error=False, outcome="done")
    except ValueError as error:
        raise ArgumentInvalidError("result", str(error)) from None


def to_ready(lease_s: float) -> service_pb.WorkResponse.Ready:
    """What is said first."""
    return service_pb.WorkResponse.Ready(lease=_duration(lease_s))


def to_responses(told: Told, ready: service_pb.WorkResponse.Ready | None) -> Iterator[service_pb.WorkResponse]:
    """What a worker is told, in as many responses as its calls need."""
    first = service_pb.WorkResponse(ready=ready, revoked=map(to_revoked, told.revoked.items()))
    calls = list(batches(map(_to_call, told.calls)))
    if ready is not None or told.revoked or not calls:
        yield first
    for some in calls:
        yield service_pb.WorkResponse(calls=some)


def to_revoked(revoked: tuple[CallName, Why]) -> service_pb.WorkResponse.Revoked:
    """A call to stop."""
    call, why = revoked
    return service_pb.WorkResponse.Revoked(call=_to_name(call), reason=_REASONS[why])


def _to_call(given: GivenCall) -> pb.WorkerCall:
    body = orjson.loads(given.offer.body)
    wire = pb.WorkerCall(
        name=_to_name(given.offer.call),
        tool=given.offer.tool,
        arguments_json=body["arguments"],
        thread_uid=body["uid"],
        run_id=body["run"],
        tool_call_id=body["call"],
        actor=body["actor"],
        delivery=given.delivery,
    )
    if given.deadline_ms is not None:
        put_time(given.deadline_ms, wire.expire_time)
    return wire


def _to_name(call: CallName) -> pb.CallName:
    return pb.CallName(thread_id=call.key.thread_id, idempotency_key=call.name)


def _tool_of(tool: pb.WorkerTool) -> WorkerTool:
    return WorkerTool(
        tool.name,
        tool.description,
        tool.parameters_schema_json,
        tool.once,
        seconds(tool.timeout) if tool.HasField("timeout") else None,
        tool.max_calls,
        tool.max_tries or 1,
    )


def _to_tool(tool: WorkerTool) -> pb.WorkerTool:
    return pb.WorkerTool(
        name=tool.name,
        description=tool.description,
        parameters_schema_json=tool.schema_json,
        once=tool.once,
        timeout=None if tool.timeout_s is None else _duration(tool.timeout_s),
        max_calls=tool.max_calls,
        max_tries=tool.max_tries,
    )


def _duration(seconds_: float) -> Duration:
    return Duration(seconds=int(seconds_), nanos=round(seconds_ % 1 * 1_000_000_000))
