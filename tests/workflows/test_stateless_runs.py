"""Runs without a thread, through the client: what they give back is all that there is of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import clew
from clew import Client, RunFailedError
from clew.v1.error_pb2 import FAILURE_CODE_LIMIT_EXCEEDED
from clew.v1.run_service_pb2 import SendRequest
from clew_engine import Agent, OfflineModel, Storage, Workflow, tool
from clew_engine.models.offline_rules import after, otherwise
from clew_server.rpc.wire.scalars import VALUE_BYTES
from tests.support.serving import events_of, kinds, serving
from tests.workflows.sealed_apps import adding, paused, sent


def doubling() -> Workflow:
    """Doubles what it is given."""
    flow = Workflow("doubling")
    flow.node(lambda state: {"n": state["n"] * 2}, name="double")
    flow.start("double")
    return flow


async def test_a_run_gives_the_state_that_it_gives_in_process(storage: Storage) -> None:
    app = doubling().compile(storage)
    async with serving([app], storage) as served, Client(served.target) as client:
        given = {"n": 2**60 + 1, "kept": [1.0, None, "\0é"]}
        result, here = await client.workflow("doubling").run(given), await app.run(given)
        assert result.state == here.state == {**given, "n": 2**61 + 2}
        assert (result.status, result.steps, result.snapshot) == ("completed", 1, b"")
        assert result.thread_id == ""
        assert await client.threads.list() == []


async def test_the_state_comes_byte_for_byte_right_before_the_end(storage: Storage) -> None:
    async with serving([doubling().compile()], storage) as served:
        events = await events_of(served.runs.Send(SendRequest(input_json=b'{"one": 1.0, "n": 2, "big":1e2}')))
        assert kinds(events)[-2:] == ["state_returned", "run_completed"]
        assert events[-2].state_returned.state_json == b'{"one":1.0,"n":4,"big":1e2}'
        assert [event.last_of_version for event in events[-2:]] == [False, True]
        assert events[-2].thread_id == ""


async def test_a_run_that_pauses_gives_its_state_and_goes_on_to_the_end(storage: Storage) -> None:
    async with serving([adding()], storage) as served, Client(served.target) as client:
        flow = client.workflow("adding")
        waits = await flow.run({"count": 1})
        assert (waits.status, waits.state, [each.prompt for each in waits.approvals]) == (
            "suspended",
            {"count": 1},
            [{"now": 1}],
        )
        done = await flow.resume(waits.snapshot, 41)
        assert (done.status, done.state) == ("completed", {"count": 42, "log": ["begun", "checked"]})
        assert done.run_id == waits.run_id
        decided = await flow.decide(waits.snapshot, {waits.approvals[0].id: {"value": 1}})
        assert decided.state["count"] == 2
        assert [event.type async for event in flow.stream({"count": 1})][-2:] == ["state_returned", "run_suspended"]


async def test_a_run_that_fails_tells_its_state_and_raises_with_its_snapshot(storage: Storage) -> None:
    async with serving([adding(broken=True)], storage) as served, Client(served.target) as client:
        flow = client.workflow("adding")
        snapshot = (await flow.run({"count": 1})).snapshot
        with pytest.raises(RunFailedError, match="it is broken") as failed:
            await flow.resume(snapshot, 1)
        assert failed.value.snapshot
        told = [event.payload async for event in flow.stream_resume(snapshot, 1)]
        (state,) = [each.state_json for each in told if isinstance(each, clew.StateReturned)]
        assert json.loads(state)["count"] == 2


async def test_a_state_as_large_as_it_may_be_comes_also_beside_its_snapshot() -> None:
    async with serving([adding()], state_limit=VALUE_BYTES) as served:
        text = "x" * (3 << 20)
        *_, state, last = await sent(served, text=text)
        assert json.loads(state.state_returned.state_json)["text"] == text
        assert last.run_suspended.snapshot
        assert await paused(served, text=text)


async def test_a_state_that_no_event_can_carry_fails_the_run() -> None:
    flow = Workflow("growing")
    # A NUL in a key is one character of the state and six bytes of its JSON.
    flow.node(lambda _: {"\0" * 700_000: 1}, name="grow")
    flow.start("grow")
    async with serving([flow.compile()], state_limit=VALUE_BYTES) as served:
        events = await events_of(served.runs.Send(SendRequest(input_json=b"{}")))
        assert events[-1].run_failed.code == FAILURE_CODE_LIMIT_EXCEEDED
        assert "run it on a thread" in events[-1].run_failed.status.message
        assert kinds(events)[-2] == "checkpoint_written"


def test_the_blocking_forms_do_the_same(tmp_path: Path) -> None:
    async def served() -> None:
        async with serving([adding()], f"sqlite://{tmp_path / 'clew.db'}") as server:
            await asyncio.to_thread(played, server.target)

    def played(target: str) -> None:
        with Client(target) as client:
            flow = client.workflow("adding")
            waits = flow.run_sync({"count": 1})
            assert flow.resume_sync(waits.snapshot, 1).state["count"] == 2
            assert flow.decide_sync(waits.snapshot, {waits.approvals[0].id: {"value": 2}}).state["count"] == 3
            assert [event.type for event in flow.stream_sync({"count": 1})][-1] == "run_suspended"

    asyncio.run(served())


async def test_an_agents_run_gives_its_text_its_message_and_what_was_said_on_the_way(storage: Storage) -> None:
    @tool
    def price(item: str) -> str:
        """Look a price up."""
        return f"{item}: 40"

    agent = Agent(
        "desk",
        model=OfflineModel([after("price").say("It is {result}."), otherwise.call("price", item="lamp")]),
        tools=[price],
        storage=storage,
    )
    async with serving([agent], storage) as served, Client(served.target) as client:
        reply = await client.app("desk").run("how much?", mood="good")
        assert (reply.status, reply.thread_id, reply.snapshot) == ("completed", "", b"")
        assert reply.message is not None
        assert reply.message["content"][0]["text"] == reply.text == (await agent.run("how much?")).text
        assert reply.text == "It is lamp: 40."
        seen: list[Any] = [event.payload async for event in client.app("desk").stream("how much?", mood="good")]
        said = [message for each in seen if isinstance(each, clew.CheckpointWritten) for message in each.messages]
        assert [message["role"] for message in said] == ["user", "assistant", "assistant"]
        assert said[-1]["id"] == reply.message_id
        (finished,) = [each for each in seen if isinstance(each, clew.ToolCallFinished)]
        assert finished.message["content"][0]["content"][0]["text"] == "lamp: 40"
        (state,) = [each for each in seen if isinstance(each, clew.StateReturned)]
        assert state.state_json == b'{"mood":"good"}'
        assert await client.threads.list() == []
