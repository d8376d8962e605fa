"""Translation is pure, and loses nothing."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from msgspec.structs import replace

from clew.v1 import approval_pb2, checkpoint_pb2, event_pb2, message_pb2, run_pb2, run_service_pb2, thread_service_pb2
from clew_engine import events
from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision
from clew_engine.checkpoints import Call, Checkpoint, Failure
from clew_engine.events import Event, Payload
from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Part,
    Provider,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
)
from clew_engine.options import Limits, OnBusy, OnDisconnect, RunOptions
from clew_engine.replies import Reply
from clew_server.rpc.wire.content import content_of, part_of
from clew_server.rpc.wire.decisions import decision_of
from clew_server.rpc.wire.events import batches, to_event, to_reply, to_responses
from clew_server.rpc.wire.messages import put_part, to_message
from clew_server.rpc.wire.options import mutation_of, run_options_of
from clew_server.rpc.wire.scalars import MESSAGE_BYTES, VALUE_BYTES, timestamp
from clew_server.rpc.wire.threads import change_of
from clew_storage import ApprovalState, Source, Status

PROVIDER = Provider("openai", id="r_1", signature="s", details={"big": 2**53 + 1})
SENDABLE: list[Part] = [
    TextPart("a\0b 🧶"),
    TextPart(""),
    TextPart("x", part_id="p1", provider=PROVIDER),
    MediaPart("image", "image/png", data=b"\x00\xff"),
    MediaPart("audio", "audio/wav", uri="https://x/y"),
    MediaPart("video", "video/mp4", file_id="f"),
    MediaPart("document", "text/plain", data=b"a", name="a.txt"),
    DataPart(b'{"n": 9007199254740993, "f": 1.0}'),
]
CHECKPOINT = Checkpoint(
    id="u.3",
    thread_id="t",
    thread_uid="u",
    run_id="u.r1",
    parent_id="u.2",
    version=3,
    parent_version=2,
    status=Status.FAILED,
    source=Source.FAILURE,
    step=2,
    attempt=1,
    created_at_ms=1_700_000_000_123,
    next=("model",),
    failure=Failure("limit_exceeded", "no more", retryable=True, metadata={"limit": "steps"}),
)
APPROVAL = Approval(
    id="u.a3.0",
    thread_id="t",
    thread_uid="u",
    run_id="u.r1",
    version=3,
    kind=ApprovalKind.TOOL_CALL,
    state=ApprovalState.PENDING,
    subject="call_2_0",
    tool="refund",
    arguments_json='{"amount": 40}',
    arguments_digest="d" * 64,
    prompt_json="",
    schema_json="",
    requested_by="ada",
    created_at_ms=1,
    expires_at_ms=None,
)
SAID = Message("m3.0", "assistant", (TextPart("hi"),), 1, position=4, version=3, usage=Usage(1, 2, 0, 0, 1))
RESULT = Message("m3.1", "tool", (ToolResultPart("c", "look_up", (TextPart("40"),), b"40", False, "done"),), 1)
REPLY = Reply("t", "u", "u.r1", 3, Status.COMPLETED, SAID, Usage(3, 4), 2)
PAYLOADS: list[Payload] = [
    events.RunQueued(3),
    events.RunStarted(2),
    events.TextDelta("m3.0", 1, 7, "hé"),
    events.ReasoningDelta("m3.0", 0, 0, "hm"),
    events.MessageDiscarded("m3.0", Failure("model_unavailable", "x", retryable=True)),
    events.ToolCallStarted(Call("c", "refund", "{}")),
    events.ToolCallProgress("c", "look_up", b'{"half":true}', "node"),
    events.ToolCallFinished("c", "look_up", "done", RESULT),
    events.ApprovalRequested(APPROVAL),
    events.CheckpointWritten(CHECKPOINT, (SAID, RESULT)),
    events.StateReturned(b'{"a":1.0}'),
    events.LogTrimmed(9),
    events.Heartbeat(),
    events.RunSuspended((APPROVAL,)),
    events.RunCompleted(REPLY),
    events.RunFailed(Failure("model_rate_limited", "slow down", True, {"retry_after_s": "1.5"}), Usage(1, 1)),
]


class NoDeadline:
    def time_remaining(self) -> float | None:
        return 5.0


def to_part(part: Part) -> message_pb2.Part:
    wire = message_pb2.Part()
    put_part(part, wire)
    return wire


def an_event(payload: Payload) -> Event:
    return Event("t", "u", "u.r1", 3, True, 1_700_000_000_123, payload)


@pytest.mark.parametrize("part", SENDABLE, ids=str)
def test_a_part_that_may_be_sent_comes_back_as_it_was(part: Part) -> None:
    wire = to_part(part)
    assert wire.WhichOneof("kind") is not None
    assert part_of(message_pb2.Part.FromString(wire.SerializeToString())) == part


def test_parts_that_only_the_server_writes_keep_all_they_hold() -> None:
    call = to_part(ToolCallPart("c", "refund", "{not json", provider=PROVIDER))
    assert (call.tool_call.id, call.tool_call.name, call.tool_call.arguments_json) == ("c", "refund", "{not json")
    assert call.provider.details_json == '{"big":9007199254740993}'
    result = to_part(RESULT.content[0]).tool_result
    assert (result.tool_call_id, result.structured_json, result.outcome) == ("c", "40", message_pb2.TOOL_OUTCOME_DONE)
    assert not to_part(ToolResultPart("c", "n")).tool_result.HasField("structured_json")
    assert to_part(ReasoningPart("")).WhichOneof("kind") == "reasoning"
    assert to_part(UnknownPart(b'{"type":"hologram"}')).unknown_json == '{"type":"hologram"}'


def test_thoughts_are_left_out_unless_they_are_asked_for() -> None:
    message = replace(SAID, content=(ReasoningPart("hm"), TextPart("hi")))
    assert [part.WhichOneof("kind") for part in to_message(message, reasoning=False).content] == ["text"]
    assert [part.WhichOneof("kind") for part in to_message(message).content] == ["reasoning", "text"]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload.type)
def test_an_event_of_every_kind_keeps_its_frame_and_its_kind(payload: Payload) -> None:
    wire = to_event(an_event(payload))
    assert wire.WhichOneof("payload") == payload.type
    assert (wire.thread_id, wire.thread_uid, wire.run_id, wire.version) == ("t", "u", "u.r1", 3)
    assert wire.last_of_version
    assert wire.create_time.ToMilliseconds() == 1_700_000_000_123


def test_every_kind_of_event_of_the_contract_is_tried_above() -> None:
    kinds = {field.name for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields}
    assert {payload.type for payload in PAYLOADS} == kinds


def test_a_written_checkpoint_leaves_the_results_to_the_calls_that_finished() -> None:
    written = to_event(an_event(events.CheckpointWritten(CHECKPOINT, (SAID, RESULT)))).checkpoint_written
    assert [message.id for message in written.messages] == ["m3.0"]
    assert written.parent_version == 2
    assert written.checkpoint.failure_code
    assert (written.checkpoint.failure_message, written.checkpoint.retryable) == ("no more", True)
    finished = to_event(an_event(events.ToolCallFinished("c", "look_up", "done", RESULT))).tool_call_finished
    assert finished.message == to_message(RESULT)


def test_a_checkpoint_that_did_not_fail_has_no_failure_code() -> None:
    assert to_event(
        an_event(events.CheckpointWritten(replace(CHECKPOINT, failure=None, status=Status.COMPLETED), ()))
    ).checkpoint_written.checkpoint == checkpoint_pb2.Checkpoint(
        id="u.3",
        thread_id="t",
        thread_uid="u",
        run_id="u.r1",
        parent_id="u.2",
        version=3,
        attempt=1,
        status=checkpoint_pb2.CHECKPOINT_STATUS_COMPLETED,
        source=checkpoint_pb2.CHECKPOINT_SOURCE_FAILURE,
        step=2,
        next=["model"],
        create_time=timestamp(1_700_000_000_123),
    )


def test_a_reply_too_large_for_one_event_comes_without_its_message() -> None:
    large = to_reply(replace(REPLY, said=replace(SAID, content=(TextPart("x" * (2 << 20)),))))
    assert not large.HasField("message")
    assert (large.message_id, len(large.text)) == ("m3.0", 2 << 20)
    assert to_reply(REPLY).message == to_message(SAID)


def test_a_run_that_waits_for_too_many_answers_names_as_many_as_fit() -> None:
    many = tuple(replace(APPROVAL, arguments_json="x" * 1_000_000) for _ in range(5))
    suspended = to_event(an_event(events.RunSuspended(many)))
    assert len(suspended.run_suspended.approvals) == 3
    assert suspended.ByteSize() < MESSAGE_BYTES


def test_a_snapshot_goes_before_the_approvals_that_its_event_has_no_room_for() -> None:
    small, large = APPROVAL, replace(APPROVAL, id="u.a3.1", arguments_json="x" * 700_000)
    for snapshot, named in ((b"s", ["u.a3.1", "u.a3.0"]), (b"s" * VALUE_BYTES, ["u.a3.0"])):
        suspended = to_event(an_event(events.RunSuspended((large, small), snapshot)))
        assert suspended.run_suspended.snapshot == snapshot
        assert [approval.id for approval in suspended.run_suspended.approvals] == named
        assert suspended.ByteSize() < MESSAGE_BYTES
    failed = to_event(an_event(events.RunFailed(Failure("tool_failed", "x", True), None, b"s")))
    assert failed.run_failed.snapshot == b"s"


def test_batches_keep_the_order_and_the_limit() -> None:
    items = [event_pb2.Event(thread_id="x" * size) for size in (10, 50, 100, 30, 30)]
    split = list(batches(items, limit=120))
    assert [each for batch in split for each in batch] == items
    for batch in split:
        assert len(batch) == 1 or run_service_pb2.SendResponse(events=batch).ByteSize() <= 120
    assert [len(batch) for batch in split] == [2, 1, 2]
    assert not list(batches([]))


def test_responses_hold_a_batch_in_its_order_and_within_the_limit() -> None:
    batch = [an_event(events.TextDelta("m1.0", 0, number, "x" * size)) for number, size in enumerate((10, 90, 50, 10))]
    limit = sum(to_event(each).ByteSize() + 6 for each in batch[:2])
    filled = list(to_responses(batch, run_service_pb2.SendResponse, limit))
    assert [each for response in filled for each in response.events] == [to_event(each) for each in batch]
    assert [len(response.events) for response in filled] == [2, 2]
    assert all(response.ByteSize() <= limit for response in filled)
    alone = list(to_responses(batch, run_service_pb2.SendResponse, 1))
    assert [len(response.events) for response in alone] == [1, 1, 1, 1], "one that is too large goes alone"
    assert not list(to_responses([], run_service_pb2.SendResponse))


def test_a_failure_says_when_to_try_again_where_that_is_known() -> None:
    failed = to_event(an_event(PAYLOADS[-1])).run_failed
    assert failed.retryable
    assert len(failed.status.details) == 2
    assert failed.usage.input_tokens == 1


@pytest.mark.parametrize(
    ("wire", "decision"),
    [
        ({"approve": {}}, Decision("a", Choice.APPROVE)),
        ({"approve": {"arguments_json": "{}"}}, Decision("a", Choice.APPROVE, arguments="{}")),
        ({"reject": {"reason": "no"}}, Decision("a", Choice.REJECT, reason="no")),
        ({"value_json": "1.0"}, Decision("a", Choice.VALUE, value="1.0")),
        ({"outcome": {"run_again": {}}}, Decision("a", Choice.RUN_AGAIN)),
        ({"outcome": {"result_json": "null"}}, Decision("a", Choice.RESULT, value="null")),
        ({"outcome": {"fail": "lost"}}, Decision("a", Choice.FAIL, reason="lost")),
    ],
)
def test_a_decision_of_every_kind(wire: dict[str, Any], decision: Decision) -> None:
    assert decision_of(run_service_pb2.Decision(approval_id="a", **wire)) == decision


def test_options_that_say_nothing_are_the_defaults_of_the_contract() -> None:
    options = run_options_of(run_pb2.RunOptions(), NoDeadline())
    assert options == RunOptions(deadline_s=5.0)
    assert options.on_disconnect is OnDisconnect.CANCEL


def test_options_that_say_all() -> None:
    options = run_options_of(
        run_pb2.RunOptions(
            on_busy=run_pb2.BUSY_POLICY_INTERRUPT,
            busy_timeout=Duration(nanos=500_000_000),
            on_disconnect=run_pb2.DISCONNECT_POLICY_CONTINUE,
            limits=run_pb2.Limits(max_steps=3, max_tokens=9, max_duration=Duration(seconds=2)),
            actor="ada",
        ),
        NoDeadline(),
    )
    assert options == RunOptions(
        on_busy=OnBusy.INTERRUPT,
        busy_timeout_s=0.5,
        on_disconnect=OnDisconnect.CONTINUE,
        limits=Limits(steps=3, tokens=9, seconds=2.0, tool_seconds=None),
        actor="ada",
        deadline_s=5.0,
    )


def test_the_same_request_with_other_options_has_the_same_body() -> None:
    def body(**more: Any) -> bytes:
        return mutation_of(run_service_pb2.SendRequest(thread_id="t", text="hi", **more)).body

    same = body(request_id="a")
    assert body(request_id="b") == same
    assert body(request_id="a", options={"actor": "ada", "on_busy": run_pb2.BUSY_POLICY_REJECT}) == same
    assert body(request_id="a", user_id="ada") != same
    assert body(request_id="a", state_json=b"{}") != same
    assert body(request_id="a", expected_version=0) != same


def test_an_expected_version_of_0_is_one_and_unset_is_none() -> None:
    assert mutation_of(run_service_pb2.SendRequest(expected_version=0)).expected_version == 0
    assert mutation_of(run_service_pb2.SendRequest()).expected_version is None


@pytest.mark.parametrize(
    ("mask", "name", "metadata", "user"),
    [
        (None, "n", None, None),
        (["name"], "n", None, None),
        (["user_id"], None, None, ""),
        (["metadata_json"], None, b"{}", None),
        (["*"], "n", b"{}", ""),
    ],
)
def test_an_update_sets_what_the_mask_names(
    mask: list[str] | None, name: str | None, metadata: bytes | None, user: str | None
) -> None:
    change = change_of(
        thread_service_pb2.UpdateThreadRequest(name="n", update_mask=None if mask is None else FieldMask(paths=mask))
    )
    assert (change.name, change.metadata, change.user_id) == (name, metadata, user)


def test_content_of_text_and_of_parts() -> None:
    assert content_of(run_service_pb2.SendRequest(text="hi")) == (TextPart("hi"),)
    request = run_service_pb2.SendRequest(content=run_service_pb2.Content(parts=[to_part(part) for part in SENDABLE]))
    assert content_of(request) == tuple(SENDABLE)


def test_an_approval_keeps_what_was_asked_to_the_letter() -> None:
    wire = to_event(an_event(events.ApprovalRequested(APPROVAL))).approval_requested.approval
    assert wire.arguments_json == '{"amount": 40}'
    assert wire.tool_call_id == "call_2_0"
    assert wire.kind == approval_pb2.APPROVAL_KIND_TOOL_CALL
    assert not wire.HasField("expire_time")
    assert not wire.HasField("decide_time")
