"""WorkerService on the wire: a worker of stubs alone, what it is told, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from clew.v1 import event_pb2, message_pb2, run_service_pb2
from clew.v1 import worker_pb2 as pb
from clew.v1 import worker_service_pb2 as service_pb
from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import RemoteTool, remote
from tests.support.serving import Served, events_of, kinds, read_refusal, refusal, serving

LEASE_S = 0.5
CHARGE = pb.WorkerTool(name="charge")
SCHEMA = '{"type":"object","properties":{"order":{"type":"string"}}}'


def a_shop(tool: RemoteTool) -> Agent:
    """Charges whatever is said."""
    return Agent(
        "shop",
        model=OfflineModel([after("charge").say("It is {result}."), otherwise.call("charge", order="A-1")]),
        tools=[tool],
    )


@pytest.fixture(params=["memory", "sqlite"])
async def shop(request: pytest.FixtureRequest, tmp_path: Any) -> AsyncIterator[Served]:
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path}/clew.db"
    async with serving([a_shop(remote("charge"))], url, call_lease=LEASE_S, heartbeat=0.1) as served:
        yield served


class AWorker:
    """A stream of Work, read as it comes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.ready: service_pb.WorkResponse.Ready | None = None
        self.heartbeats = 0

    async def next(self) -> service_pb.WorkResponse:
        """The next response that says something."""
        while True:
            response: service_pb.WorkResponse = await self.stream.read()
            assert isinstance(response, service_pb.WorkResponse), "the stream is over"
            if response.HasField("ready"):
                self.ready = response.ready
            if response.calls or response.revoked:
                return response
            self.heartbeats += 1

    async def call(self) -> pb.WorkerCall:
        """The one call that comes next."""
        (call,) = (await self.next()).calls
        return call


@asynccontextmanager
async def working(
    served: Served, worker_id: str = "w1", *tools: pb.WorkerTool, **more: Any
) -> AsyncGenerator[AWorker, None]:
    """A worker that is registered."""
    stream: Any = served.workers.Work(service_pb.WorkRequest(worker_id=worker_id, tools=tools or (CHARGE,), **more))
    worker = AWorker(stream)
    response = await stream.read()
    assert response.HasField("ready")
    worker.ready = response.ready
    try:
        yield worker
    finally:
        stream.cancel()


def send(served: Served, thread_id: str = "t") -> Any:
    """A turn, as a stream."""
    return served.runs.Send(run_service_pb2.SendRequest(thread_id=thread_id, text="go"))


async def told(turn: Any) -> str:
    """What a turn's reply says."""
    return (await events_of(turn))[-1].run_completed.reply.text


def done(call: pb.WorkerCall, text: str = "charged", worker_id: str = "w1") -> service_pb.FinishCallRequest:
    """A call that went well."""
    part = message_pb2.Part(text=message_pb2.TextPart(text=text))
    return service_pb.FinishCallRequest(worker_id=worker_id, call=call.name, result=pb.CallResult(content=[part]))


async def test_a_worker_of_stubs_alone_takes_a_call_and_brings_its_result(shop: Served) -> None:
    async with working(shop) as worker:
        assert worker.ready is not None
        assert worker.ready.lease.ToMilliseconds() == 500
        turn = send(shop)
        begun = (await turn.read()).events
        call = await worker.call()
        assert (call.tool, call.arguments_json, call.delivery) == ("charge", '{"order":"A-1"}', 1)
        assert (call.name.thread_id, call.thread_uid, call.run_id) == ("t", begun[0].thread_uid, begun[0].run_id)
        assert not call.HasField("expire_time")
        assert not (await shop.workers.FinishCall(done(call))).retried
        assert not (await shop.workers.FinishCall(done(call))).retried, "bringing it again does nothing more"
        assert await told(turn) == "It is charged."


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (pb.CallResult(structured_json='{"n":9007199254740993}'), 'It is {"n": 9007199254740993}.'),
        (pb.CallResult(structured_json="null"), "It is null."),
        (pb.CallResult(content=[message_pb2.Part(text=message_pb2.TextPart(text="\0🙂"))]), "It is \0🙂."),
    ],
)
async def test_results_come_as_they_were_brought(shop: Served, result: pb.CallResult, said: str) -> None:
    async with working(shop) as worker:
        turn = send(shop)
        call = await worker.call()
        await shop.workers.FinishCall(service_pb.FinishCallRequest(worker_id="w1", call=call.name, result=result))
        assert await told(turn) == said


async def test_a_large_result_comes_whole(shop: Served) -> None:
    async with working(shop) as worker:
        turn = send(shop)
        call = await worker.call()
        await shop.workers.FinishCall(done(call, "x" * (3 << 20)))
        assert len(await told(turn)) == (3 << 20) + len("It is .")


async def test_a_failed_call_is_tried_again_after_its_time_until_it_had_its_tries(shop: Served) -> None:
    tool = pb.WorkerTool(name="charge", max_tries=2)
    async with working(shop, "w1", tool) as worker:
        turn = send(shop)
        error = pb.CallError(message="no line", retryable=True, retry_after=Duration(nanos=1_000_000))
        for delivery, retried in ((1, True), (2, False)):
            call = await worker.call()
            assert call.delivery == delivery
            request = service_pb.FinishCallRequest(worker_id="w1", call=call.name, error=error)
            assert (await shop.workers.FinishCall(request)).retried is retried
        assert await told(turn) == "It is no line."


async def test_a_worker_that_renews_keeps_its_call_and_one_that_does_not_loses_it(shop: Served) -> None:
    async with working(shop) as first, working(shop, "w2") as second:
        turn = send(shop)
        waiting = {asyncio.create_task(first.call()): ("w1", first), asyncio.create_task(second.call()): ("w2", second)}
        (got,), (other,) = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        name, _ = waiting[got]
        call = got.result()
        for _ in range(4):
            await asyncio.sleep(LEASE_S / 2)
            renewed = await shop.workers.RenewCalls(service_pb.RenewCallsRequest(worker_id=name, calls=[call.name]))
            assert not renewed.revoked
            assert not other.done()
        again = await other
        assert (again.name, again.delivery) == (call.name, 2)
        renewed = await shop.workers.RenewCalls(service_pb.RenewCallsRequest(worker_id=name, calls=[call.name]))
        assert [each.reason for each in renewed.revoked] == [pb.CALL_REVOKED_REASON_LEASE_LOST]
        refused = await refusal(shop.workers.FinishCall(done(call, worker_id=name)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "CALL_NOT_PENDING")
        await shop.workers.FinishCall(done(again, worker_id=waiting[other][0]))
        assert await told(turn) == "It is charged."


async def test_a_cancelled_call_is_revoked(shop: Served) -> None:
    async with working(shop) as worker:
        turn = send(shop)
        call = await worker.call()
        await shop.runs.CancelRun(run_service_pb2.CancelRunRequest(thread_id="t"))
        (revoked,) = (await worker.next()).revoked
        assert (revoked.call, revoked.reason) == (call.name, pb.CALL_REVOKED_REASON_CANCELLED)
        assert kinds(await events_of(turn))[-1] == "run_failed"
        refused = await refusal(shop.workers.FinishCall(done(call)))
        assert refused.reason == "CALL_NOT_PENDING"


async def test_who_watches_hears_how_far_a_call_is(shop: Served) -> None:
    async with working(shop) as worker:
        turn = send(shop)
        call = await worker.call()
        report = service_pb.ReportProgressRequest(worker_id="w1", call=call.name, progress_json='{"done":0.5}')
        await shop.workers.ReportProgress(report)
        seen: list[event_pb2.Event] = []
        while "tool_call_progress" not in kinds(seen):
            seen += (await turn.read()).events
        progress = next(each.tool_call_progress for each in seen if each.HasField("tool_call_progress"))
        assert (progress.tool_call_id, progress.name, progress.progress_json) == (
            call.tool_call_id,
            "charge",
            '{"done":0.5}',
        )
        report.worker_id = "w2"
        assert (await refusal(shop.workers.ReportProgress(report))).reason == "CALL_NOT_PENDING"
        await shop.workers.FinishCall(done(call))
        assert await told(turn) == "It is charged."


async def test_a_worker_drains(shop: Served) -> None:
    async with working(shop) as worker:
        turn = send(shop)
        call = await worker.call()
        assert (await shop.workers.DrainWorker(service_pb.DrainWorkerRequest(worker_id="w1"))).known
        later = send(shop, "u")
        await shop.workers.FinishCall(done(call))
        assert await told(turn) == "It is charged."
        while (response := await worker.stream.read()) is not grpc.aio.EOF:
            assert not response.calls
        assert await worker.stream.code() is grpc.StatusCode.OK
    async with working(shop, "w2") as worker:
        await shop.workers.FinishCall(done(await worker.call(), worker_id="w2"))
        assert await told(later) == "It is charged."
    assert not (await shop.workers.DrainWorker(service_pb.DrainWorkerRequest(worker_id="never"))).known


async def test_a_second_stream_of_one_worker_takes_the_place_of_the_first_and_what_it_holds_stays(shop: Served) -> None:
    async with working(shop) as first:
        turn = send(shop)
        call = await first.call()
        async with working(shop, "w1", held=[call.name]) as second:
            with pytest.raises(grpc.aio.AioRpcError) as ended:
                await first.next()
            refused = read_refusal(ended.value)
            assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "LEASE_LOST")
            await shop.workers.FinishCall(done(call))
            assert await told(turn) == "It is charged."
            assert second.ready is not None


async def test_what_never_came_to_a_worker_is_given_to_it_again_when_it_comes_back(shop: Served) -> None:
    async with working(shop) as first:
        turn = send(shop)
        call = await first.call()
        async with working(shop, "w1") as second:
            again = await second.call()
            assert (again.name, again.delivery) == (call.name, 2)
            await shop.workers.FinishCall(done(again))
            assert await told(turn) == "It is charged."


async def test_a_silent_stream_says_that_it_is_alive(shop: Served) -> None:
    async with working(shop) as worker:
        for _ in range(3):
            response = await worker.stream.read()
            assert response == service_pb.WorkResponse()


async def test_the_stream_is_cut_when_the_server_stops(shop: Served) -> None:
    async with working(shop) as worker:
        stopping = asyncio.create_task(shop.server.stop(1.0))
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await worker.next()
        refused = read_refusal(ended.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STREAM_CUT")
        assert "another server" in refused.message
        await stopping


async def test_workers_are_listed_in_pages_and_by_tool(shop: Served) -> None:
    tools = {
        "w1": pb.WorkerTool(
            name="charge", description="Charges.", parameters_schema_json=SCHEMA, once=True, max_tries=1
        ),
        "w2": pb.WorkerTool(name="refund", timeout=Duration(seconds=3), max_calls=2, max_tries=4),
    }
    async with working(shop, "w1", tools["w1"], max_calls=7), working(shop, "w2", tools["w2"], thread_id="t"):
        first = await shop.workers.ListWorkers(service_pb.ListWorkersRequest(page_size=1))
        (one,) = first.workers
        assert (one.worker_id, list(one.tools), one.max_calls, one.thread_id) == ("w1", [tools["w1"]], 7, "")
        assert one.create_time.seconds > 0
        rest = await shop.workers.ListWorkers(service_pb.ListWorkersRequest(page_token=first.next_page_token))
        (two,) = rest.workers
        assert (two.worker_id, list(two.tools), two.max_calls, two.thread_id) == ("w2", [tools["w2"]], 10, "t")
        assert rest.next_page_token == ""
        found = await shop.workers.ListWorkers(service_pb.ListWorkersRequest(tool="refund"))
        assert [each.worker_id for each in found.workers] == ["w2"]
        wrong = service_pb.ListWorkersRequest(tool="refund", page_token=first.next_page_token)
        assert (await refusal(shop.workers.ListWorkers(wrong))).reason == "ARGUMENT_INVALID"


def work(**fields: Any) -> service_pb.WorkRequest:
    """A request to work that is right but for these fields."""
    return service_pb.WorkRequest(**{"worker_id": "w1", "tools": [CHARGE], **fields})


NAME = pb.CallName(thread_id="t", idempotency_key="k")
WRONG: dict[str, tuple[str, Any, str, str]] = {
    "no id": ("Work", work(worker_id=""), "ID_INVALID", "worker_id"),
    "an id with a slash": ("Work", work(worker_id="a/b"), "ID_INVALID", "worker_id"),
    "no tool": ("Work", work(tools=[]), "ARGUMENT_INVALID", "tools"),
    "a tool twice": ("Work", work(tools=[CHARGE, CHARGE]), "ARGUMENT_INVALID", "tools.name"),
    "a tool without a name": ("Work", work(tools=[pb.WorkerTool()]), "ARGUMENT_INVALID", "tools.name"),
    "a name with a space": ("Work", work(tools=[pb.WorkerTool(name="a b")]), "ARGUMENT_INVALID", "tools.name"),
    "a schema that is no JSON": (
        "Work",
        work(tools=[pb.WorkerTool(name="a", parameters_schema_json="{")]),
        "ARGUMENT_INVALID",
        "tools.parameters_schema_json",
    ),
    "a schema that is none": (
        "Work",
        work(tools=[pb.WorkerTool(name="a", parameters_schema_json='{"type":"thing"}')]),
        "ARGUMENT_INVALID",
        "tools.parameters_schema_json",
    ),
    "a long description": (
        "Work",
        work(tools=[pb.WorkerTool(name="a", description="x" * 4097)]),
        "ARGUMENT_INVALID",
        "tools.description",
    ),
    "a time of none": (
        "Work",
        work(tools=[pb.WorkerTool(name="a", timeout=Duration())]),
        "ARGUMENT_INVALID",
        "tools.timeout",
    ),
    "too many tries": (
        "Work",
        work(tools=[pb.WorkerTool(name="a", max_tries=101)]),
        "ARGUMENT_INVALID",
        "tools.max_tries",
    ),
    "fewer than no calls": ("Work", work(max_calls=-1), "ARGUMENT_INVALID", "max_calls"),
    "a held call without a thread": (
        "Work",
        work(held=[pb.CallName(idempotency_key="k")]),
        "ID_INVALID",
        "held.thread_id",
    ),
    "a renewal of too many": (
        "RenewCalls",
        service_pb.RenewCallsRequest(worker_id="w1", calls=[NAME] * 1001),
        "ARGUMENT_INVALID",
        "calls",
    ),
    "progress that is no JSON": (
        "ReportProgress",
        service_pb.ReportProgressRequest(worker_id="w1", call=NAME, progress_json="half"),
        "ARGUMENT_INVALID",
        "progress_json",
    ),
    "progress of no call": (
        "ReportProgress",
        service_pb.ReportProgressRequest(worker_id="w1", progress_json="1"),
        "ARGUMENT_INVALID",
        "call",
    ),
    "too much progress": (
        "ReportProgress",
        service_pb.ReportProgressRequest(worker_id="w1", call=NAME, progress_json='"' + "x" * (64 << 10) + '"'),
        "ARGUMENT_INVALID",
        "progress_json",
    ),
    "no outcome": (
        "FinishCall",
        service_pb.FinishCallRequest(worker_id="w1", call=NAME),
        "ARGUMENT_INVALID",
        "outcome",
    ),
    "an empty result": (
        "FinishCall",
        service_pb.FinishCallRequest(worker_id="w1", call=NAME, result=pb.CallResult()),
        "ARGUMENT_INVALID",
        "result.content",
    ),
    "a result that is no JSON": (
        "FinishCall",
        service_pb.FinishCallRequest(worker_id="w1", call=NAME, result=pb.CallResult(structured_json='{"a":1,"a":2}')),
        "ARGUMENT_INVALID",
        "result.structured_json",
    ),
    "a result that is too large": (
        "FinishCall",
        service_pb.FinishCallRequest(
            worker_id="w1", call=NAME, result=pb.CallResult(structured_json='"' + "x" * (3_670_016) + '"')
        ),
        "STATE_TOO_LARGE",
        "result",
    ),
    "an error without a word": (
        "FinishCall",
        service_pb.FinishCallRequest(worker_id="w1", call=NAME, error=pb.CallError()),
        "ARGUMENT_INVALID",
        "error.message",
    ),
    "a call that nobody made": (
        "FinishCall",
        service_pb.FinishCallRequest(worker_id="w1", call=NAME, error=pb.CallError(message="no")),
        "CALL_NOT_PENDING",
        "",
    ),
    "no worker to drain": ("DrainWorker", service_pb.DrainWorkerRequest(), "ID_INVALID", "worker_id"),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_what_is_wrong_is_refused_by_its_field(shop: Served, wrong: str) -> None:
    method, request, reason, field = WRONG[wrong]
    refused = await _refusal_of(getattr(shop.workers, method)(request))
    assert (refused.reason, refused.metadata.get("field", "")) == (reason, field)


async def _refusal_of(call: Any) -> Any:
    try:
        if hasattr(call, "__aiter__"):
            async for _ in call:
                pass
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return read_refusal(error)
    raise AssertionError("the call was not refused")
