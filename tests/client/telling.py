"""Events as a server tells them: one run of thread `t-1`, whose incarnation is `u`."""

from __future__ import annotations

from typing import Any

from google.rpc import error_details_pb2, status_pb2

from clew import EventStream
from clew.v1 import approval_pb2, checkpoint_pb2, error_pb2, event_pb2, message_pb2, run_pb2
from clew.v1 import run_service_pb2 as pb
from tests.client.scripted import packed

RUN = "u.r1"


def event(version: int, last: bool = False, run: str = RUN, **payload: Any) -> event_pb2.Event:
    return event_pb2.Event(
        thread_id="t-1", thread_uid="u", run_id=run, version=version, last_of_version=last, **payload
    )


def queued(ahead: int = 0, version: int = 0) -> event_pb2.Event:
    return event(version, run="", run_queued=event_pb2.RunQueued(ahead=ahead))


def started(version: int, attempt: int = 1) -> event_pb2.Event:
    return event(version, run_started=event_pb2.RunStarted(attempt=attempt))


def delta(version: int, message_id: str, offset: int, text: str, part: int = 0) -> event_pb2.Event:
    return event(
        version,
        text_delta=event_pb2.TextDelta(message_id=message_id, part_index=part, offset=offset, text=text),
    )


def discarded(version: int, message_id: str) -> event_pb2.Event:
    code = error_pb2.FAILURE_CODE_MODEL_INCOMPLETE
    return event(version, message_discarded=event_pb2.MessageDiscarded(message_id=message_id, code=code))


def heartbeat(version: int) -> event_pb2.Event:
    return event(version, heartbeat=event_pb2.Heartbeat())


def said(message_id: str, text: str, version: int = 0, role: int = message_pb2.ROLE_ASSISTANT) -> message_pb2.Message:
    part = message_pb2.Part(text=message_pb2.TextPart(text=text))
    return message_pb2.Message(id=message_id, role=role, content=[part], version=version)  # type: ignore[arg-type]


def asked(message_id: str, text: str, version: int = 0) -> message_pb2.Message:
    return said(message_id, text, version, message_pb2.ROLE_USER)


def written(
    version: int,
    *messages: message_pb2.Message,
    last: bool = True,
    source: str = "STEP",
    status: str = "IN_PROGRESS",
    parent: int | None = None,
) -> event_pb2.Event:
    parent_version = version - 1 if parent is None else parent
    checkpoint = checkpoint_pb2.Checkpoint(
        id=f"u.{version}",
        thread_id="t-1",
        thread_uid="u",
        run_id=RUN,
        parent_id=f"u.{parent_version}" if parent_version else "",
        version=version,
        attempt=1,
        status=checkpoint_pb2.CheckpointStatus.Value(f"CHECKPOINT_STATUS_{status}"),
        source=checkpoint_pb2.CheckpointSource.Value(f"CHECKPOINT_SOURCE_{source}"),
    )
    payload = event_pb2.CheckpointWritten(checkpoint=checkpoint, parent_version=parent_version, messages=messages)
    return event(version, last, checkpoint_written=payload)


def tool_started(version: int, call_id: str, last: bool = False) -> event_pb2.Event:
    call = message_pb2.ToolCall(id=call_id, name="look_up", arguments_json='{"order":"A-1"}')
    return event(version, last, tool_call_started=event_pb2.ToolCallStarted(tool_call=call))


def tool_finished(version: int, call_id: str) -> event_pb2.Event:
    result = message_pb2.ToolResult(
        tool_call_id=call_id,
        name="look_up",
        content=[message_pb2.Part(text=message_pb2.TextPart(text="found"))],
        outcome=message_pb2.TOOL_OUTCOME_DONE,
    )
    message = message_pb2.Message(
        id=f"m{version}.1", role=message_pb2.ROLE_TOOL, content=[message_pb2.Part(tool_result=result)]
    )
    payload = event_pb2.ToolCallFinished(
        tool_call_id=call_id, name="look_up", outcome=message_pb2.TOOL_OUTCOME_DONE, message=message
    )
    return event(version, tool_call_finished=payload)


def completed(version: int, text: str = "done", message_id: str = "m2.1") -> event_pb2.Event:
    reply = run_pb2.Reply(
        thread_id="t-1",
        thread_uid="u",
        run_id=RUN,
        version=version,
        text=text,
        message_id=message_id,
        message=said(message_id, text, version),
        usage=message_pb2.Usage(input_tokens=3, output_tokens=2),
        steps=1,
    )
    return event(version, True, run_completed=event_pb2.RunCompleted(reply=reply))


def approval(
    approval_id: str, state: int = approval_pb2.APPROVAL_STATE_PENDING, **fields: Any
) -> approval_pb2.Approval:
    return approval_pb2.Approval(
        id=approval_id,
        thread_id="t-1",
        run_id=RUN,
        kind=approval_pb2.APPROVAL_KIND_TOOL_CALL,
        state=state,  # type: ignore[arg-type]
        tool="refund",
        arguments_json='{"amount":12}',
        **fields,
    )


def suspended(version: int, *approvals: approval_pb2.Approval) -> event_pb2.Event:
    return event(version, True, run_suspended=event_pb2.RunSuspended(approvals=approvals))


def failed(version: int, code: str, *, retryable: bool = False, text: str = "it failed") -> event_pb2.Event:
    status = status_pb2.Status(code=2, message=text)
    status.details.append(packed(error_details_pb2.ErrorInfo(reason=code, domain="clew", metadata={"model": "m"})))
    payload = event_pb2.RunFailed(
        status=status, code=error_pb2.FailureCode.Value(f"FAILURE_CODE_{code}"), retryable=retryable
    )
    return event(version, True, run_failed=payload)


def turn(first: int = 1, text: str = "done") -> list[event_pb2.Event]:
    """A whole turn of two versions."""
    message_id = f"m{first + 1}.1"
    return [
        started(first),
        written(first, asked(f"m{first}.1", "hi"), source="INPUT"),
        delta(first, message_id, 0, text),
        written(first + 1, said(message_id, text), last=False, status="COMPLETED"),
        completed(first + 1, text, message_id),
    ]


# A turn in two parts, of which the second may come over another connection; and the reply to a cancel.
BEGINNING = [started(1), written(1, asked("m1.1", "hi"), source="INPUT"), delta(1, "m2.1", 0, "do")]
END = [written(2, said("m2.1", "done"), last=False, status="COMPLETED"), completed(2)]
CANCELLED = pb.CancelRunResponse(checkpoint=checkpoint_pb2.Checkpoint(id="u.2", version=2))


async def types(stream: EventStream) -> list[str]:
    return [each.type async for each in stream]
