"""What a frontend is told of agents inside nodes: text, calls and results under ids that lead somewhere, the same live and in every replay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import pytest

import clew
from clew_engine import Agent, Storage, Workflow, tool
from clew_engine.errors import LeaseLostError, RunFailedError
from clew_engine.messages import Part, TextPart, ToolCallPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk
from clew_engine.watch import watch_stream
from clew_engine.workflows.app import WorkflowThread
from tests.scenarios.scripts import Gate
from tests.support.serving import serving


class Speaking:
    """A model that says its answers in two pieces, and stops at a gate between them where it has one."""

    name = "speaking"

    def __init__(self, *answers: str | ToolCallPart, gate: Gate | None = None) -> None:
        self._answers = [*answers]
        self._gate = gate

    async def stream(self, _: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        answer = self._answers.pop(0)
        if isinstance(answer, ToolCallPart):
            yield _response(answer)
            return
        yield TextChunk(0, answer[:2])
        if self._gate is not None:
            await self._gate.pass_through()
        yield TextChunk(0, answer[2:])
        yield _response(TextPart(answer))


def _response(*parts: Part) -> ModelResponse:
    return ModelResponse(parts, Usage(1, 1), "stop", "speaking")


def calling(name: str) -> ToolCallPart:
    """An answer that asks for a call."""
    return ToolCallPart("", name, '{"n":1}')


@tool
def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


@tool(once=True)
def pay(n: int) -> str:
    """Pay."""
    return f"paid {n}"


def one(model: Any, *tools: Any, gated: Iterable[str] = ()) -> Workflow:
    """A workflow of one agent, the node `helper`."""
    flow = Workflow("w")
    flow.agent(
        Agent("a", model=model, tools=[*tools], approve=[*gated]), ask=lambda _: "go", keep="answer", name="helper"
    )
    flow.start("helper")
    return flow


def told(events: Iterable[Any]) -> list[tuple[str, ...]]:
    """What events of either surface say of calls and of what agents inside said."""
    found: list[tuple[str, ...]] = []
    for event in events:
        payload = event.payload
        if event.type == "tool_call_started":
            call = payload.tool_call if isinstance(payload, clew.ToolCallStarted) else vars_of(payload.call)
            args = call["args"] if isinstance(call["args"], str) else f'{{"n":{call["args"]["n"]}}}'
            found.append(("started", payload.node, call["id"], call["name"], args))
        elif event.type == "tool_call_finished":
            call_id = payload.tool_call_id if isinstance(payload, clew.ToolCallFinished) else payload.call_id
            found.append(("finished", payload.node, call_id, payload.outcome))
        elif event.type == "checkpoint_written":
            for each in payload.node_messages:
                message = each.message if isinstance(each.message, dict) else each.message.as_dict()
                calls = [part["id"] for part in message["content"] if part["type"] == "tool_call"]
                texts = [part["text"] for part in message["content"] if part["type"] == "text"]
                found.append(("said", each.node, message["id"], *texts, *calls))
    return found


def vars_of(call: Any) -> dict[str, Any]:
    """An engine's call as the client has it."""
    return {"id": call.id, "name": call.name, "args": call.args}


async def replayed(thread: WorkflowThread) -> list[Any]:
    """The log from its beginning."""
    return [event async for event in watch_stream(thread.storage, thread.key, after_version=0)]


async def test_calls_replies_and_results_are_told_and_a_replay_tells_the_same(storage: Storage) -> None:
    thread = one(Speaking(calling("look"), "done"), look).compile(storage).thread("t")
    live: list[Any] = [event async for event in thread.stream()]
    assert told(live) == [
        ("said", "helper", "helper/m2.0", "helper/call_2_0"),
        ("started", "helper", "helper/call_2_0", "look", '{"n":1}'),
        ("finished", "helper", "helper/call_2_0", "done"),
        ("said", "helper", "helper/m4.0", "done"),
    ]
    (finished,) = [event.payload for event in live if event.type == "tool_call_finished"]
    (result,) = finished.message.tool_results
    assert (result.tool_call_id, result.text) == ("helper/call_2_0", "seen 1")
    assert [event for event in live if event.payload.logged] == await replayed(thread)


async def test_streamed_text_leads_to_the_message_that_is_written(storage: Storage) -> None:
    thread = one(Speaking("done")).compile(storage).thread("t")
    live: list[Any] = [event async for event in thread.stream()]
    texts: dict[str, str] = {}
    for event in live:
        if event.type == "text_delta":
            texts[event.payload.message_id] = texts.get(event.payload.message_id, "") + event.payload.text
    said = [
        each.message for event in live if event.type == "checkpoint_written" for each in event.payload.node_messages
    ]
    assert texts == {message.id: message.text for message in said} == {"helper/m2.0": "done"}
    assert await thread.messages() == []


async def test_ids_are_unique_in_the_thread_over_runs_and_rewinds(storage: Storage) -> None:
    thread = one(Speaking(*(calling("look"), "done") * 3), look).compile(storage).thread("t")
    await thread.run()
    await thread.run()
    first = (await thread.history(None))[-1]
    await thread.rewind(first["id"])
    await thread.retry()
    ids = [each[2] for each in told(await replayed(thread)) if each[0] == "said"]
    assert len(ids) == len(set(ids)) == 6


async def test_a_call_that_waits_is_asked_about_and_told_under_one_id(storage: Storage) -> None:
    app = one(Speaking(calling("look"), "done", calling("look"), "done"), look, gated=["look"]).compile(storage)
    thread = app.thread("t")
    events: list[Any] = [event async for event in thread.stream()]
    (asked,) = [event.payload.approval for event in events if event.type == "approval_requested"]
    assert (asked.tool_call_id, asked.tool) == ("helper/call_2_0", "look")
    assert [each[0] for each in told(events)] == ["said"]
    events = [event async for event in thread.stream_decide({asked.id: {"arguments": {"n": 7}}})]
    assert told(events)[:2] == [
        ("started", "helper", "helper/call_2_0", "look", '{"n":7}'),
        ("finished", "helper", "helper/call_2_0", "done"),
    ]
    (asked,) = (await thread.run()).approvals
    events = [event async for event in thread.stream_reject(asked.id)]
    assert told(events)[0] == ("finished", "helper", asked.tool_call_id, "rejected")


async def test_a_call_that_a_crash_cut_off_is_told_again_and_one_that_is_done_is_not(storage: Storage) -> None:
    gate, cut = Gate(), [True]

    @tool
    async def wait(n: int) -> str:
        """Waits the first time."""
        if cut.pop():
            await gate.pass_through()
        return "waited"

    class Both(Speaking):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            if len(request.messages) > 1:
                async for event in super().stream(request):
                    yield event
                return
            yield _response(calling("look"), calling("wait"))

    thread = one(Both("done"), look, wait).compile(storage).thread("t")
    running = asyncio.create_task(thread.run())
    await gate.wait()
    async with asyncio.timeout(10):
        while len([each for each in told(await events_so_far(thread)) if each[0] == "finished"]) < 1:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0)
    run = storage.live[thread.key]
    run.abandon(LeaseLostError("the process died"))
    with pytest.raises(LeaseLostError):
        await running
    cut.append(False)
    live: list[Any] = [event async for event in thread.stream_retry()]
    assert [each[:1] + each[2:3] for each in told(live)] == [
        ("started", "helper/call_2_1"),
        ("finished", "helper/call_2_1"),
        ("said", "helper/m7.0"),
    ]
    logged = [event for event in live if event.payload.logged]
    assert logged == (await replayed(thread))[-len(logged) :]


async def events_so_far(thread: WorkflowThread) -> list[Any]:
    """The log as it is now, of a run that goes on."""
    head = (await thread.history(1))[0]["version"]
    found: list[Any] = []
    async for event in watch_stream(thread.storage, thread.key, after_version=0):
        found.append(event)
        if event.version == head and event.last_of_version:
            return found
    return found


async def test_a_call_that_is_done_once_is_told_by_its_intent(storage: Storage) -> None:
    thread = one(Speaking(calling("pay"), "done"), pay).compile(storage).thread("t")
    live: list[Any] = [event async for event in thread.stream()]
    (started,) = [event for event in live if event.type == "tool_call_started"]
    sources = {event.version: event.payload.checkpoint.source for event in live if event.type == "checkpoint_written"}
    assert sources[started.version] == "intent"
    assert [event for event in live if event.payload.logged] == await replayed(thread)


async def test_a_model_that_fails_leaves_its_calls_told(storage: Storage) -> None:
    thread = one(Speaking(calling("look")), look).compile(storage).thread("t")
    with pytest.raises(RunFailedError):
        await thread.run()
    assert [each[0] for each in told(await replayed(thread))] == ["said", "started", "finished"]


async def test_a_node_of_a_workflow_inside_is_told_by_its_path(storage: Storage) -> None:
    outer = Workflow("outer")
    outer.workflow(one(Speaking(calling("look"), "done"), look).compile(), name="inner")
    outer.start("inner")
    live: list[Any] = [event async for event in outer.compile(storage).thread("t").stream()]
    assert {each[1] for each in told(live)} == {"inner/0.helper"}
    assert told(live)[1][2] == "inner/0.helper/call_2_0"


# The version of what the left node returned; what it said is version 2. Text waits for the versions before it, and is told with its
# message alone where that is written by then: so the right one goes on only after this version.
LEFT_IS_DONE = 3


def two(gates: list[Gate]) -> Workflow:
    """Two agents side by side, each of which stops in the middle of what it says."""
    flow = Workflow("w")
    for name, gate in zip(("left", "right"), gates, strict=True):
        model = Speaking(f"{name} speaks", gate=gate)
        flow.agent(Agent(name, model=model), ask=lambda _: "go", keep=name)
    flow.start("left", "right")
    return flow


async def test_the_client_is_told_the_same_and_its_transcript_has_none_of_it(storage: Storage) -> None:
    app = one(Speaking(calling("look"), "done"), look).compile(storage)
    async with serving([app], storage) as served, clew.Client(served.target) as client:
        thread = client.workflow("w").thread("t")
        live: list[Any] = [event async for event in thread.stream()]
        assert told(live) == told(await replayed(app.thread("t")))
        transcript = clew.Transcript()
        for event in live:
            transcript.apply(event)
            if event.type == "text_delta":
                assert set(transcript.writing) == {"helper/m4.0"}
        assert (transcript.messages, transcript.writing) == ([], {})
        assert [event async for event in thread.watch()] == [event for event in live if event.payload.logged]


async def test_who_joins_while_one_node_is_done_gets_the_text_so_far_of_the_other(storage: Storage) -> None:
    gates = [Gate(), Gate()]
    app = two(gates).compile(storage)
    async with serving([app], storage) as served, clew.Client(served.target) as client:
        thread = client.workflow("w").thread("t")
        running = asyncio.create_task(thread.run())
        for gate in gates:
            await gate.wait()
        gates[0].open()
        texts: dict[str, str] = {}
        said: list[str] = []
        reached = 0
        async for event in thread.watch():
            if isinstance(event.payload, clew.TextDelta):
                texts[event.payload.message_id] = texts.get(event.payload.message_id, "") + event.payload.text
            if isinstance(event.payload, clew.CheckpointWritten):
                said += [each.message["id"] for each in event.payload.node_messages]
            reached = max(reached, event.version)
            if reached >= LEFT_IS_DONE and "right/m2.0" in texts:
                # What the other has said so far is here: only now does it go on.
                gates[1].open()
        assert said == ["left/m2.0", "right/m2.0"]
        assert texts["right/m2.0"] == "right speaks"
        assert (await running).state == {"left": "left speaks", "right": "right speaks"}


async def test_who_comes_late_gets_the_text_so_far_of_the_node_that_still_speaks(storage: Storage) -> None:
    gates = [Gate(), Gate()]
    thread = two(gates).compile(storage).thread("t")
    running = asyncio.create_task(thread.run())
    for gate in gates:
        await gate.wait()
    gates[0].open()
    async for event in watch_stream(storage, thread.key, after_version=0):
        written: Any = event.payload
        if event.type == "checkpoint_written" and written.node_messages:
            break
    deltas: list[tuple[str, int, str]] = []
    reached = 0
    async for event in watch_stream(storage, thread.key, after_version=0):
        payload: Any = event.payload
        if event.type == "text_delta":
            deltas.append((payload.message_id, payload.offset, payload.text))
        reached = max(reached, event.version)
        if reached >= LEFT_IS_DONE and deltas:
            gates[1].open()
    assert deltas == [("right/m2.0", 0, "ri"), ("right/m2.0", 2, "ght speaks")]
    await running
