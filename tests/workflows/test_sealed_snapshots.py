"""Snapshots over gRPC: sealed by the server, carried by the client, and good for nothing when they were touched."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from clew import ArgumentInvalidError, Client, ResumeInvalidError, RunFailedError
from clew.v1.error_pb2 import FAILURE_CODE_LIMIT_EXCEEDED
from clew.v1.run_service_pb2 import DecideRequest, ResumeRequest, SendRequest
from clew_engine import Agent, OfflineModel, Storage, Workflow, append, pause, tool
from clew_engine.models.offline_rules import after, otherwise
from clew_server.rpc.wire.scalars import MESSAGE_BYTES, VALUE_BYTES
from tests.rpc.serve_process import serve
from tests.support.serving import events_of, kinds, refusal, serving
from tests.workflows.sealed_apps import NOTHING_MORE, a_key, adding, paused, sent


async def test_a_run_without_a_thread_goes_on_from_its_sealed_snapshot(storage: Storage) -> None:
    async with serving([adding()], storage) as served, Client(served.target) as client:
        app = client.app("adding")
        reply = await app.run({"count": 1})
        assert (reply.status, [each.prompt for each in reply.approvals]) == ("suspended", [{"now": 1}])
        assert reply.snapshot
        assert b"count" not in reply.snapshot
        with pytest.raises(ArgumentInvalidError):
            await app.resume(reply.snapshot, "many")
        with pytest.raises(ArgumentInvalidError, match="waits for an answer"):
            await app.resume(reply.snapshot)
        last = await app.resume(reply.snapshot, 41)
        assert (last.status, last.snapshot, last.run_id) == ("completed", b"", reply.run_id)
        assert await client.threads.list() == []
        assert not storage.scratches


async def test_the_events_of_a_resumed_run_name_no_thread_and_go_on_counting() -> None:
    async with serving([adding()]) as served:
        first = await sent(served)
        resumed = ResumeRequest(snapshot=first[-1].run_suspended.snapshot, value_json="1")
        events = await events_of(served.runs.Resume(resumed))
        assert {event.thread_id for event in (*first, *events)} == {""}
        assert {event.run_id for event in events} == {first[-1].run_id}
        assert kinds(events)[0] == "run_started"
        assert events[0].run_started.attempt == 2
        assert events[0].version == first[-1].version + 1
        assert kinds(events)[-1] == "run_completed"


async def test_a_failed_run_goes_on_where_the_code_was_mended() -> None:
    key = a_key()
    async with serving([adding(broken=True)], snapshot_key=key) as served, Client(served.target) as client:
        app = client.app("adding")
        with pytest.raises(RunFailedError, match="it is broken") as failed:
            await app.resume((await app.run({"count": 1})).snapshot, 2)
        assert failed.value.snapshot
        with pytest.raises(ResumeInvalidError, match="without one"):
            await app.resume(failed.value.snapshot, 1)
    async with serving([adding()], snapshot_key=key) as served, Client(served.target) as client:
        assert (await client.app("adding").resume(failed.value.snapshot)).status == "completed"


async def test_a_node_that_the_served_version_no_longer_has_is_named() -> None:
    key = a_key()
    async with serving([adding()], snapshot_key=key) as served:
        snapshot = await paused(served)
    newer = Workflow("adding")
    newer.node(lambda _: None, name="other")
    newer.start("other")
    async with serving([newer.compile()], snapshot_key=key) as served:
        refused = await refusal(served.runs.Resume(ResumeRequest(snapshot=snapshot, value_json="1")))
        assert (refused.reason, refused.metadata["nodes"]) == ("RESUME_INVALID", "add")
    async with serving([adding("another")], snapshot_key=key) as served:
        refused = await refusal(served.runs.Resume(ResumeRequest(snapshot=snapshot, value_json="1")))
        assert refused.reason == "APP_NOT_FOUND"


async def test_a_call_of_an_agent_inside_is_decided_and_cannot_be_forged_past() -> None:
    ran: list[str] = []

    @tool
    def refund(order: str) -> str:
        """Pay back."""
        ran.append(order)
        return f"refunded {order}"

    model = OfflineModel([after("refund").say("Done: {result}"), otherwise.call("refund", order="A-1")])
    flow = Workflow("w")
    flow.agent(Agent("helper", model=model, tools=[refund], approve=["refund"]), ask="question", keep="answer")
    flow.start("helper")
    async with serving([flow.compile()]) as served, Client(served.target) as client:
        app = client.app("w")
        reply = await app.run({"question": "refund"})
        (waiting,) = reply.approvals
        with pytest.raises(ArgumentInvalidError):
            await app.resume(reply.snapshot, True)
        assert (await app.decide(reply.snapshot, {waiting.id: {"arguments": {"order": "B-2"}}})).status == "completed"
        assert ran == ["B-2"]


async def test_several_pauses_are_decided_one_by_one_each_from_the_newest_snapshot() -> None:
    flow = Workflow("both", reducers={"log": append})
    for name in ("a", "b"):
        flow.node(lambda _, name=name: {"log": [pause(name)]}, name=name)
    flow.start("a", "b")
    async with serving([flow.compile()]) as served, Client(served.target) as client:
        app = client.app("both")
        reply = await app.run({})
        with pytest.raises(ArgumentInvalidError) as refused:
            await app.resume(reply.snapshot, 1)
        one, other = (each.id for each in reply.approvals)
        assert set(refused.value.metadata["approval_ids"].split(",")) == {one, other}
        reply = await app.decide(reply.snapshot, {other: {"value": 2}})
        assert [each.id for each in reply.approvals] == [one]
        assert (await app.decide(reply.snapshot, {one: {"value": 1}})).status == "completed"


async def test_a_snapshot_outlives_the_server_where_a_key_is_set_and_only_there() -> None:
    old, new = a_key(), a_key()
    async with serving([adding()], snapshot_key=old) as served:
        snapshot = await paused(served)
    resume = ResumeRequest(snapshot=snapshot, value_json="1")
    async with serving([adding()], snapshot_key=f"{new},{old}") as served:
        assert kinds(await events_of(served.runs.Resume(resume)))[-1] == "run_completed"
        newest = await paused(served)
    async with serving([adding()], snapshot_key=[new]) as served:
        assert kinds(await events_of(served.runs.Resume(ResumeRequest(snapshot=newest, value_json="1"))))
        assert (await refusal(served.runs.Resume(resume))).message == NOTHING_MORE
    async with serving([adding()]) as served:
        assert (await refusal(served.runs.Resume(resume))).reason == "RESUME_INVALID"


FILE = """
from pathlib import Path
from clew_engine import Workflow, pause, step

def order():
    with Path("ledger").open("a") as ledger:
        ledger.write("ordered ")
    return "o-1"

shop = Workflow("shop")

@shop.node
async def buy(_):
    return {"order": await step("order", order), "sure": pause("sure?")}

shop.start("buy")
app = shop.compile()
"""


async def test_a_snapshot_outlives_a_server_that_was_killed(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(FILE)
    key = a_key()
    async with serve(tmp_path, CLEW_SNAPSHOT_KEY=key) as server:
        events = await events_of(server.stubs.runs.Send(SendRequest(input_json=b"{}")))
        server.signal(signal.SIGKILL)
        await server.ended()
    snapshot = events[-1].run_suspended.snapshot
    async with serve(tmp_path, "--snapshot-key", a_key(), "--snapshot-key", key) as server:
        resumed = server.stubs.runs.Resume(ResumeRequest(snapshot=snapshot, value_json="true"))
        assert kinds(await events_of(resumed))[-1] == "run_completed"
    assert (tmp_path / "ledger").read_text() == "ordered "


async def test_an_agent_without_a_thread_gives_no_snapshot() -> None:
    @tool
    def pay() -> str:
        """Pay."""
        return "paid"

    agent = Agent("payer", model=OfflineModel([otherwise.call("pay")]), tools=[pay], approve=["pay"])
    async with serving([agent]) as served:
        events = await events_of(served.runs.Send(SendRequest(text="hi")))
        assert kinds(events)[-1] == "run_suspended"
        assert not events[-1].run_suspended.snapshot


async def test_a_snapshot_that_nobody_could_carry_fails_the_run() -> None:
    async with serving([adding()], state_limit=VALUE_BYTES) as served:
        assert kinds(await sent(served, text="x" * (3 << 20)))[-1] == "run_suspended"
        last = (await sent(served, text='"' * 450_000, more="x" * (2 << 20)))[-1]
        assert last.run_failed.code == FAILURE_CODE_LIMIT_EXCEEDED
        assert not last.run_failed.snapshot
        assert "snapshot would be" in last.run_failed.status.message
        assert last.last_of_version


async def test_a_large_snapshot_leaves_out_approvals_that_its_event_has_no_room_for() -> None:
    flow = Workflow("large")
    flow.node(lambda _: {"a": pause("p" * (1 << 20))}, name="a")
    flow.start("a")
    async with serving([flow.compile()], state_limit=VALUE_BYTES) as served:
        sent_with = SendRequest(input_json=json.dumps({"text": "x" * 1_500_000}).encode())
        events = await events_of(served.runs.Send(sent_with))
        last = events[-1]
        assert last.ByteSize() < MESSAGE_BYTES
        assert not last.run_suspended.approvals
        asked = next(event.approval_requested.approval for event in events if event.HasField("approval_requested"))
        answer: Any = {"approval_id": asked.id, "value_json": "1"}
        request = DecideRequest(snapshot=last.run_suspended.snapshot, decisions=[answer])
        assert kinds(await events_of(served.runs.Decide(request)))[-1] == "run_completed"


async def test_a_server_of_workflows_without_a_key_says_so() -> None:
    with capture_logs() as logs:
        async with serving([adding()], snapshot_key=a_key()):
            pass
        async with serving([Agent("a", model=OfflineModel([otherwise.say("hi")]))]):
            pass
        assert not logs
        async with serving([adding()]):
            pass
    assert [each["event"].partition(":")[0] for each in logs] == [
        "snapshots of runs without a thread will not outlive this server"
    ]


async def test_a_snapshot_goes_on_under_the_handle_of_its_own_app_alone() -> None:
    async with serving([adding(), adding("other")]) as served, Client(served.target) as client:
        snapshot = (await client.workflow("adding").run({"count": 1})).snapshot
        for handle in (client.workflow("other"), client.app("other"), client.workflow("nobody")):
            for call in (handle.resume(snapshot, 1), handle.decide(snapshot, {"add:0": {"value": 1}})):
                with pytest.raises(ResumeInvalidError, match="of app 'adding'"):
                    await call
        assert (await client.workflow("adding").resume(snapshot, 1)).state["count"] == 2
        raw = ResumeRequest(snapshot=snapshot, value_json="1")
        assert (await events_of(served.runs.Resume(raw)))[-1].HasField("run_completed")
