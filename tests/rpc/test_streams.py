"""What becomes of runs when their streams are left, end too early, come again, or are not read."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from clew.v1 import event_pb2
from clew.v1.checkpoint_pb2 import (
    CHECKPOINT_STATUS_COMPLETED,
    CHECKPOINT_STATUS_FAILED,
    CHECKPOINT_STATUS_IN_PROGRESS,
)
from clew.v1.error_pb2 import FAILURE_CODE_CANCELLED
from clew.v1.run_pb2 import (
    BUSY_POLICY_REJECT,
    Limits,
    RunOptions,
)
from clew.v1.run_service_pb2 import (
    CancelRunRequest,
    DecideRequest,
    Decision,
    ResumeRequest,
    RetryRequest,
    SendRequest,
    WatchRequest,
)
from clew.v1.thread_pb2 import RUN_STATE_RUNNING
from clew.v1.thread_service_pb2 import DeleteThreadRequest, ListThreadsRequest
from tests.rpc.agents import Gate, echo, support
from tests.rpc.gated import CONTINUE, LEAVING, begun, settled, thread_of
from tests.support.serving import Served, events_of, kinds, logged, read_refusal, refusal, serving


@pytest.fixture
async def gated(gate: Gate) -> AsyncIterator[Served]:
    async with serving([gate.agent]) as served:
        yield served


@pytest.mark.parametrize("policy", ["unspecified", "cancel"])
async def test_leaving_the_stream_cancels_the_run_saves_it_and_retry_continues(
    gated: Served, gate: Gate, policy: str
) -> None:
    call = await begun(gated, gate, options=LEAVING[policy])
    call.cancel()
    events = await settled(gated)
    assert events[-1].run_failed.code == FAILURE_CODE_CANCELLED
    assert gate.cancelled == 1
    assert (await thread_of(gated)).status == CHECKPOINT_STATUS_FAILED
    gate.opened.set()
    retried = await events_of(gated.runs.Retry(RetryRequest(thread_id="t")))
    assert retried[-1].run_completed.reply.text == "Through."


async def test_leaving_the_stream_of_a_run_that_continues_leaves_it_alone(gated: Served, gate: Gate) -> None:
    call = await begun(gated, gate, options=CONTINUE)
    call.cancel()
    thread = await thread_of(gated)
    assert thread.status == CHECKPOINT_STATUS_IN_PROGRESS
    assert thread.run.state == RUN_STATE_RUNNING
    watch = gated.runs.Watch(WatchRequest(thread_id="t"))
    await watch.read()
    gate.opened.set()
    events = await events_of(watch)
    assert events[-1].run_completed.reply.text == "Through."
    assert gate.cancelled == 0


async def test_leaving_a_watch_has_no_effect_on_the_run(gated: Served, gate: Gate) -> None:
    await begun(gated, gate, options=CONTINUE)
    watch = gated.runs.Watch(WatchRequest(thread_id="t"))
    await watch.read()
    watch.cancel()
    gate.opened.set()
    assert (await settled(gated))[-1].HasField("run_completed")


@pytest.mark.parametrize("policy", sorted(LEAVING))
async def test_a_deadline_ends_the_stream_and_the_run_only_as_its_policy_says(
    gated: Served, gate: Gate, policy: str
) -> None:
    call = gated.runs.Send(SendRequest(thread_id="t", text="wait", options=LEAVING[policy]), timeout=0.7)
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await events_of(call)
    assert ended.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    if policy == "continue":
        assert (await thread_of(gated)).run.state == RUN_STATE_RUNNING
        gate.opened.set()
        assert (await settled(gated))[-1].HasField("run_completed")
        return
    assert (await settled(gated))[-1].run_failed.code == FAILURE_CODE_CANCELLED
    assert gate.cancelled == 1


async def test_a_deadline_that_is_over_does_nothing(gated: Served) -> None:
    call = gated.runs.Send(SendRequest(thread_id="t", text="hi"), timeout=-1)
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await events_of(call)
    assert ended.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert not (await gated.threads.ListThreads(ListThreadsRequest())).threads


async def test_a_busy_thread_is_told_before_the_deadline(gated: Served, gate: Gate) -> None:
    await begun(gated, gate, options=CONTINUE)
    began = time.monotonic()
    call = gated.runs.Send(SendRequest(thread_id="t", text="hi"), timeout=1.5)
    seen: list[event_pb2.Event] = []
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        await events_of(call, seen)
    refused = read_refusal(ended.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "THREAD_BUSY")
    assert refused.retry_after_s is not None
    assert time.monotonic() - began < 1.5
    assert kinds(seen) == ["run_queued"]
    gate.opened.set()
    await settled(gated)


async def test_a_busy_thread_is_told_at_once_where_that_is_asked_for(gated: Served, gate: Gate) -> None:
    await begun(gated, gate, options=CONTINUE)
    for options in (RunOptions(on_busy=BUSY_POLICY_REJECT), RunOptions(busy_timeout=Duration())):
        refused = await refusal(gated.runs.Send(SendRequest(thread_id="t", text="hi", options=options)))
        assert refused.reason == "THREAD_BUSY"
    gate.opened.set()
    await settled(gated)


async def test_the_same_request_streams_the_first_attempt_again_also_while_it_runs(gated: Served, gate: Gate) -> None:
    first = await begun(gated, gate, request_id="r", options=CONTINUE)
    again: Any = gated.runs.Send(
        SendRequest(thread_id="t", text="wait", request_id="r", options=RunOptions(on_busy=BUSY_POLICY_REJECT))
    )
    assert kinds((await again.read()).events)[0] == "run_started"
    again.cancel()
    gate.opened.set()
    rest = await events_of(first)
    assert rest[-1].HasField("run_completed")
    repeated = await events_of(gated.runs.Send(SendRequest(thread_id="t", text="wait", request_id="r")))
    assert repeated == logged(await settled(gated))
    assert gate.runs == 1
    assert gate.cancelled == 0


async def test_a_request_id_is_not_for_another_request(gated: Served) -> None:
    await events_of(gated.runs.Send(SendRequest(thread_id="t", text="hi", request_id="r")))
    refused = await refusal(gated.runs.Send(SendRequest(thread_id="t", text="ho", request_id="r")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "REQUEST_ID_REUSED")
    assert refused.metadata == {"request_id": "r"}


async def test_deleting_a_thread_ends_its_stream_and_its_watchers(gated: Served, gate: Gate) -> None:
    call = await begun(gated, gate)
    watch = gated.runs.Watch(WatchRequest(thread_id="t", follow=True))
    await watch.read()
    assert (await gated.threads.DeleteThread(DeleteThreadRequest(thread_id="t"))).existed
    for stream in (call, watch):
        assert (await refusal(stream)).reason == "THREAD_NOT_FOUND"


async def test_cancelling_a_run_answers_when_it_is_written(gated: Served, gate: Gate) -> None:
    call = await begun(gated, gate)
    checkpoint = (await gated.runs.CancelRun(CancelRunRequest(thread_id="t"))).checkpoint
    assert checkpoint.failure_code == FAILURE_CODE_CANCELLED
    assert (await events_of(call))[-1].run_failed.code == FAILURE_CODE_CANCELLED
    refused = await refusal(gated.runs.CancelRun(CancelRunRequest(thread_id="t", run_id="x.r9")))
    assert refused.reason == "RUN_NOT_FOUND"


async def test_limits_of_the_attempt_fail_the_run(gated: Served) -> None:
    options = RunOptions(limits=Limits(max_duration=Duration(nanos=100_000_000)))
    events = await events_of(gated.runs.Send(SendRequest(thread_id="t", text="wait", options=options)))
    failed = events[-1].run_failed
    assert failed.status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert failed.retryable


async def test_an_inbox_gives_what_waits_then_a_mark_then_changes() -> None:
    from clew.v1.approval_service_pb2 import WatchApprovalsRequest  # noqa: PLC0415

    async with serving([support()]) as served:
        await events_of(served.runs.Send(SendRequest(thread_id="a", text="refund")))
        inbox: Any = served.approvals.WatchApprovals(WatchApprovalsRequest())
        seen: list[Any] = []
        while not any(event.HasField("snapshot_end") for event in seen):
            seen += (await inbox.read()).events
        assert [event.WhichOneof("payload") for event in seen] == ["pending", "snapshot_end"]
        approval = seen[0].pending
        decision = Decision(approval_id=approval.id, reject=Decision.Reject())
        await events_of(served.runs.Decide(DecideRequest(thread_id="a", decisions=[decision])))
        (changed,) = (await inbox.read()).events
        assert changed.changed.id == approval.id
        inbox.cancel()


async def test_a_stateless_run_streams_and_leaves_nothing() -> None:
    async with serving([echo()]) as served:
        events = await events_of(served.runs.Send(SendRequest(text="hello")))
        assert events[-1].run_completed.reply.text == "hello"
        assert {event.thread_id for event in events} == {""}
        assert not (await served.threads.ListThreads(ListThreadsRequest())).threads
        assert not served.storage.scratches


async def test_a_stateless_run_ends_when_its_stream_is_left_whatever_was_asked(gate: Gate) -> None:
    async with serving([gate.agent]) as served:
        call = served.runs.Send(SendRequest(text="wait", options=CONTINUE))
        await call.read()
        await gate.began.wait()
        call.cancel()
        await gate.ended.wait()
        assert gate.cancelled == 1


async def test_a_stateless_run_of_an_agent_that_needs_a_person_says_so_and_cannot_be_resumed() -> None:
    async with serving([support()]) as served:
        events = await events_of(served.runs.Send(SendRequest(text="refund")))
        suspended = events[-1].run_suspended
        assert [approval.tool for approval in suspended.approvals] == ["refund"]
        assert not suspended.snapshot
        refused = await refusal(served.runs.Resume(ResumeRequest(snapshot=b"mine", value_json="1")))
        assert refused.reason == "RESUME_INVALID"


async def test_which_app_a_send_is_for() -> None:
    async with serving([support(), echo()]) as served:
        refused = await refusal(served.runs.Send(SendRequest(thread_id="t", text="hi")))
        assert (refused.reason, refused.metadata["field"]) == ("ARGUMENT_INVALID", "app")
        await events_of(served.runs.Send(SendRequest(thread_id="t", app="echo", text="hi")))
        again = await events_of(served.runs.Send(SendRequest(thread_id="t", text="ho")))
        assert again[-1].run_completed.reply.text == "ho"
        refused = await refusal(served.runs.Send(SendRequest(thread_id="t", app="support", text="hi")))
        assert refused.reason == "APP_MISMATCH"
        refused = await refusal(served.runs.Send(SendRequest(thread_id="u", app="nope", text="hi")))
        assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "APP_NOT_FOUND")


def test_an_event_of_a_kind_that_is_not_known_still_moves_the_cursor() -> None:
    newer = event_pb2.Event(version=7, last_of_version=True).SerializeToString() + b"\xba\x06\x03abc"
    event = event_pb2.Event.FromString(newer)
    assert event.WhichOneof("payload") is None
    assert (event.version, event.last_of_version) == (7, True)


async def test_a_request_with_fields_of_a_newer_contract_is_taken(gated: Served) -> None:
    newer = SendRequest(thread_id="t", text="hi").SerializeToString() + b"\xba\x06\x03abc"
    send: Any = gated.channel.unary_stream("/clew.v1.RunService/Send")
    call = send(newer)
    async for _ in call:
        pass
    assert (await thread_of(gated)).status == CHECKPOINT_STATUS_COMPLETED
