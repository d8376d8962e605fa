"""How a server begins, what it shows beside the contract, and how it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from clew.v1.app_service_pb2 import GetAppRequest, ListAppsRequest
from clew.v1.approval_pb2 import APPROVAL_STATE_EXPIRED
from clew.v1.approval_service_pb2 import ListApprovalsRequest
from clew.v1.run_service_pb2 import RetryRequest, SendRequest, WatchRequest
from clew.v1.thread_pb2 import RUN_STATE_INTERRUPTED
from clew.v1.thread_service_pb2 import GetThreadRequest, ListThreadsRequest
from clew_engine import Agent, Storage
from clew_engine.errors import ArgumentInvalidError
from clew_engine.options import Tuning
from clew_server.app import SERVICES, Server
from clew_server.settings import Settings
from clew_server.upkeep import KEPT_MS, forget_requests
from tests.rpc.agents import Gate, echo, support
from tests.rpc.gated import CONTINUE, begun
from tests.support.serving import Served, events_of, read_refusal, refusal, serving

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def told(**settings: Any) -> Settings:
    return Settings.read({"port": 0, "storage": "memory://", "grace": 0.5, **settings})


async def test_health_is_told_for_each_service(served: Served) -> None:
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    for service in ("", *SERVICES):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == SERVING, service
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await health.Check(health_pb2.HealthCheckRequest(service="clew.v1.Nope"))
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


async def listed_by_reflection(served: Served) -> set[str]:
    channel: Any = served.channel
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    call = stub.ServerReflectionInfo()
    await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
    answer = await call.read()
    await call.done_writing()
    return {service.name for service in answer.list_services_response.service}


async def test_reflection_lists_the_services_on_this_machine(served: Served) -> None:
    assert await listed_by_reflection(served) >= set(SERVICES)


async def test_reflection_can_be_off() -> None:
    async with serving([support()], reflection=False) as served:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await listed_by_reflection(served)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_apps_are_listed_by_name_page_by_page() -> None:
    agents = [Agent(f"a{number}") for number in range(3)]
    async with serving([*agents, support()]) as served:
        names, token = [], ""
        while True:
            page = await served.apps.ListApps(ListAppsRequest(page_size=3, page_token=token))
            names += [app.name for app in page.apps]
            token = page.next_page_token
            if not token:
                break
        assert names == ["a0", "a1", "a2", "support"]
        app = (await served.apps.GetApp(GetAppRequest(name="support"))).app
        assert [(each.name, each.requires_approval) for each in app.tools] == [("look_up", False), ("refund", True)]
        assert not app.input_schema_json
        assert (await refusal(served.apps.GetApp(GetAppRequest(name="nope")))).reason == "APP_NOT_FOUND"


async def test_two_apps_of_one_name_are_refused() -> None:
    with pytest.raises(ArgumentInvalidError):
        Server([Agent("a"), Agent("a")], told())


async def test_a_quiet_stream_shows_that_it_is_alive(served: Served) -> None:
    storage = Storage("memory://", tuning=Tuning(heartbeat_s=0.05))
    gate = Gate()
    async with storage, serving([gate.agent], storage) as quick:
        call = quick.runs.Send(SendRequest(thread_id="t", text="wait"))
        beats = 0
        while beats < 2:
            response: Any = await call.read()
            beats += sum(event.HasField("heartbeat") for event in response.events)
        gate.opened.set()
        events = await events_of(call)
        assert events[-1].HasField("run_completed")


async def test_a_drain_lets_runs_end_and_cuts_the_watchers_with_their_cursor() -> None:
    gate = Gate()
    async with serving([gate.agent], grace=10.0) as served:
        health: Any = health_pb2_grpc.HealthStub(served.channel)
        watched = health.Watch(health_pb2.HealthCheckRequest(service="clew.v1.RunService"))
        assert (await watched.read()).status == SERVING
        call = await begun(served, gate, options=CONTINUE)
        follower = served.runs.Watch(WatchRequest(thread_id="t", follow=True))
        await follower.read()
        stopping = asyncio.create_task(served.server.stop())
        assert (await watched.read()).status == NOT_SERVING
        refused = await refusal(served.runs.Send(SendRequest(thread_id="u", text="hi")))
        assert refused.code is grpc.StatusCode.UNAVAILABLE
        listed = await served.threads.ListThreads(ListThreadsRequest())
        assert [thread.thread_id for thread in listed.threads] == ["t"]
        gate.opened.set()
        events = await events_of(call)
        assert events[-1].run_completed.reply.text == "Through."
        with pytest.raises(grpc.aio.AioRpcError) as cut:
            await events_of(follower)
        assert read_refusal(cut.value).reason == "STREAM_CUT"
        assert int(read_refusal(cut.value).metadata["version"]) == events[-1].version
        await stopping


async def test_a_call_that_waits_for_its_thread_is_told_of_the_drain_at_once() -> None:
    gate = Gate()
    async with serving([gate.agent], grace=10.0) as served:
        call = await begun(served, gate, options=CONTINUE)
        queued: Any = served.runs.Send(SendRequest(thread_id="t", text="hi", options=CONTINUE))
        assert (await queued.read()).events[0].HasField("run_queued")
        stopping = asyncio.create_task(served.server.stop())
        refused = await refusal(queued)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STREAM_CUT")
        assert not gate.opened.is_set()
        gate.opened.set()
        assert (await events_of(call))[-1].run_completed.reply.text == "Through."
        await stopping


async def test_a_run_that_outlasts_the_grace_is_left_for_a_retry(tmp_path: Path) -> None:
    gate = Gate()
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([gate.agent], url, grace=0.4) as served:
        call = await begun(served, gate, options=CONTINUE)
        await served.server.stop()
        refused = await refusal(call)
        assert refused.reason == "STREAM_CUT"
        cursor = int(refused.metadata["version"])
    gate.opened.set()
    async with serving([gate.agent], url) as served:
        thread = (await served.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
        assert thread.run.state == RUN_STATE_INTERRUPTED
        assert thread.version == cursor
        refused = await refusal(served.runs.Watch(WatchRequest(thread_id="t", after_version=cursor)))
        assert refused.reason == "THREAD_INTERRUPTED"
        events = await events_of(served.runs.Retry(RetryRequest(thread_id="t")))
        assert events[-1].run_completed.reply.text == "Through."


async def test_a_second_stop_does_not_wait_for_the_grace() -> None:
    gate = Gate()
    async with serving([gate.agent], grace=60.0) as served:
        call = await begun(served, gate, options=CONTINUE)
        first = asyncio.create_task(served.server.stop())
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await served.server.stop(0)
            await first
        with pytest.raises((grpc.aio.AioRpcError, asyncio.CancelledError)):
            await events_of(call)


async def test_request_ids_are_forgotten_after_a_day(served: Served) -> None:
    now = served.storage.now_ms
    request = SendRequest(thread_id="t", text="hi", request_id="r")
    first = await events_of(served.runs.Send(request))
    assert await forget_requests(served.storage) == 0
    served.storage.now_ms = lambda: now() + KEPT_MS + 1000
    assert await forget_requests(served.storage) == 1
    again = await events_of(served.runs.Send(request))
    assert again[-1].version > first[-1].version


async def test_a_storage_that_was_given_stays_open() -> None:
    async with Storage("memory://") as storage:
        async with serving([echo()], storage) as served:
            await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
        assert (await Agent("echo", storage=storage).thread("t").info()).version == 2


async def test_an_approval_that_nobody_answers_expires_and_the_run_goes_on() -> None:
    agent = support()
    agent.approval_ttl = 0.05
    storage = Storage("memory://", tuning=Tuning(sweep_s=0.02))
    storage.know(agent.program)
    async with storage, serving([agent], storage) as served:
        asked = await events_of(served.runs.Send(SendRequest(thread_id="t", text="refund")))
        follower: Any = served.runs.Watch(WatchRequest(thread_id="t", after_version=asked[-1].version, follow=True))
        events: list[Any] = []
        while not events or not events[-1].HasField("run_completed"):
            events += (await follower.read()).events
        assert events[-1].run_completed.reply.text == "It was not allowed."
        follower.cancel()
        expired = await served.approvals.ListApprovals(ListApprovalsRequest(state=APPROVAL_STATE_EXPIRED))
        assert [each.thread_id for each in expired.approvals] == ["t"]


async def test_thousands_of_calls_that_come_at_once_are_all_answered(served: Served) -> None:
    """As when clients come back to a server that was restarted; gRPC by itself would cancel many of them."""
    health: Any = health_pb2_grpc.HealthStub(served.channel)
    calls = [health.Check(health_pb2.HealthCheckRequest()) for _ in range(4_000)]
    assert {(await call).status for call in calls} == {SERVING}
