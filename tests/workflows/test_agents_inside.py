"""Agents and workflows as nodes: their failures, tries, limits, hooks and usage are those of an agent; what is done is not done again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, TypedDict

import pytest

from clew_engine import Agent, ClewError, Limits, Storage, Workflow, append, pause, tool
from clew_engine.errors import RunCancelledError, RunFailedError
from clew_engine.events import MessageDiscarded, RunCompleted, TextDelta
from clew_engine.messages import TextPart, ToolCallPart, Usage
from clew_engine.models import ModelError, ModelEvent, ModelRequest, ModelResponse, TextChunk


class Script:
    """A model that answers as it is told to; an exception is raised after some text."""

    name = "script"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.append(request)
        answer = self.answers.pop(0)
        yield TextChunk(0, "so far")
        if isinstance(answer, Exception):
            raise answer
        parts = tuple(TextPart(each) if isinstance(each, str) else each for each in answer)
        yield ModelResponse(parts, model="script", finish_reason="stop", usage=Usage(10, 5))


def call(name: str, args: str = "{}") -> ToolCallPart:
    """A call that a model asks for."""
    return ToolCallPart("", name, args)


def with_agent(agent: Agent, **settings: Any) -> Workflow:
    """A workflow of one agent."""
    flow = Workflow("w", **settings)
    flow.agent(agent, ask=lambda _: "go", keep="answer", name="helper")
    flow.start("helper")
    return flow


async def test_a_models_passing_fault_is_tried_again_and_its_text_given_up(storage: Storage) -> None:
    model = Script(ModelError("model_unavailable", "down", retryable=True), ["done"])
    thread = with_agent(Agent("a", model=model)).compile(storage).thread("t")
    events = [event.payload async for event in thread.stream()]
    ids = [each.message_id for each in events if isinstance(each, TextDelta)]
    assert len(set(ids)) == 2
    assert [each.message_id for each in events if isinstance(each, MessageDiscarded)] == ids[:1]
    assert (await thread.state())["answer"] == "done"


async def test_a_models_failure_is_the_runs_with_its_own_code(storage: Storage) -> None:
    model = Script(ModelError("model_rejected", "no such model", retryable=False))
    with pytest.raises(RunFailedError, match="node 'helper': no such model") as failure:
        await with_agent(Agent("a", model=model)).compile(storage).thread("t").run()
    assert (failure.value.failure_code, failure.value.retryable) == ("model_rejected", False)


async def test_what_models_used_is_told_over_steps_and_attempts(storage: Storage) -> None:
    model = Script(["one"], [call("broken")], ModelError("model_rejected", "no", retryable=False), ["two"])

    @tool
    def broken() -> str:
        """Fails."""
        raise ValueError("always")

    agent = Agent("a", model=model, tools=[broken])
    flow = Workflow("w")
    flow.agent(agent, ask=lambda _: "go", keep="first", name="one")
    flow.agent(agent, ask=lambda _: "go", keep="second", name="two")
    flow.start("one")
    flow.edge("one", "two")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError):
        await thread.run()
    events = [event.payload async for event in thread.stream_retry()]
    (completed,) = [each for each in events if isinstance(each, RunCompleted)]
    assert completed.reply.usage == Usage(30, 15)
    assert model.asked[-1].messages[-1].tool_results[0].content == (TextPart("ValueError: always"),)


@pytest.mark.parametrize(
    ("limits", "own", "limit"),
    [
        (Limits(tokens=15), Limits(), "tokens"),
        (Limits(), Limits(tokens=15), "tokens"),
        (Limits(), Limits(steps=1), "steps"),
    ],
)
async def test_limits_end_an_agents_talk_and_a_retry_goes_on_in_it(
    storage: Storage, limits: Limits, own: Limits, limit: str
) -> None:
    model = Script([call("look")], ["done"])
    looked: list[int] = []

    @tool
    def look() -> str:
        """Looks."""
        looked.append(1)
        return "seen"

    thread = with_agent(Agent("a", model=model, tools=[look], limits=own), limits=limits).compile(storage).thread("t")
    with pytest.raises(RunFailedError, match=limit) as failure:
        await thread.run()
    assert failure.value.failure_code == "limit_exceeded"
    assert (await thread.retry()).state == {"answer": "done"}
    assert (looked, len(model.asked)) == ([1], 2)


async def test_hooks_see_the_talk_and_change_the_state(storage: Storage) -> None:
    class Counting:
        async def before_step(self, state: Any) -> dict[str, Any]:
            return {"steps": state.get("steps", 0) + 1}

        def after_step(self, state: Any) -> dict[str, Any]:
            return {"last": state["messages"][-1]["content"][0]["text"], "seen": len(state["messages"])}

    model = Script([call("ask_me")], ["done"])
    told: list[Any] = []

    @tool(approve=True)
    def ask_me() -> str:
        """Waits for a person."""
        return "yes"

    async def instructions(state: Any) -> str:
        told.append(state.get("steps"))
        return "be brief"

    agent = Agent("a", model=model, tools=[ask_me], hooks=[Counting()], instructions=instructions)
    thread = with_agent(agent).compile(storage).thread("t")
    model.answers[0] = ["thinking", call("ask_me")]
    (waiting,) = (await thread.run()).approvals
    await thread.decide({waiting.id: True})
    assert await thread.state() == {"steps": 2, "last": "done", "seen": 4, "answer": "done"}
    assert told == [1, 2]


async def test_parallel_calls_wait_together_when_the_ungated_ones_are_done(storage: Storage) -> None:
    did: list[str] = []

    @tool
    def free(n: int) -> dict[str, int]:
        """Needs nobody."""
        did.append(f"free {n}")
        return {"n": n}

    @tool(approve=True)
    def gated(n: int) -> str:
        """Needs a person."""
        did.append(f"gated {n}")
        return f"gated {n}"

    asked = [call("gated", '{"n":1}'), call("free", '{"n":2}'), call("gated", '{"n":3}'), call("nothing")]
    model = Script(asked, ["done"])
    thread = with_agent(Agent("a", model=model, tools=[free, gated])).compile(storage).thread("t")
    first, second = (await thread.run()).approvals
    assert (did, first.arguments, second.arguments) == (["free 2"], {"n": 1}, {"n": 3})
    result = await thread.decide({second.id: {"reject": "not three"}})
    assert (result.status.value, did) == ("suspended", ["free 2"])
    with pytest.raises(ClewError, match="n: "):
        await thread.decide({first.id: {"arguments": {"n": "many"}}})
    await thread.decide({first.id: {"arguments": {"n": 9}}})
    assert did == ["free 2", "gated 9"]
    results = [part for message in model.asked[-1].messages for part in message.tool_results]
    assert [(each.outcome, each.text) for each in results] == [
        ("done", "gated 9"),
        ("done", '{"n":2}'),
        ("rejected", "not three"),
        ("failed", "there is no tool 'nothing'; tools: free, gated"),
    ]


async def test_a_once_call_that_a_cancel_meets_is_for_a_person_to_tell(storage: Storage) -> None:
    reached = asyncio.Event()

    @tool(once=True)
    async def pay(amount: int) -> str:
        """Pays."""
        reached.set()
        await asyncio.sleep(3600)
        return "paid"

    model = Script([call("pay", '{"amount":5}')], ["done"])
    thread = with_agent(Agent("a", model=model, tools=[pay])).compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    assert (await thread.cancel())["status"] == "suspended"
    (waiting,) = (await run).approvals
    assert (waiting.kind.value, waiting.tool, waiting.arguments) == ("tool_outcome", "pay", {"amount": 5})
    await thread.decide({waiting.id: {"result": "it was paid"}})
    assert (await thread.state())["answer"] == "done"
    assert model.asked[-1].messages[-1].tool_results[0].shown == (TextPart('"it was paid"'),)


async def test_a_tool_that_takes_too_long_is_a_failed_outcome_and_its_runs_limit_the_runs_end(storage: Storage) -> None:
    slept: list[int] = []

    @tool(timeout=0.05)
    async def slow() -> str:
        """Is slow."""
        slept.append(1)
        await asyncio.sleep(3600)
        return "late"

    model = Script([call("slow")], ["done"])
    await with_agent(Agent("a", model=model, tools=[slow])).compile(storage).thread("t").run()
    assert model.asked[-1].messages[-1].tool_results[0].content == (TextPart("slow timed out after 0.05 s"),)
    model = Script([call("slow")], ["done"])
    flow = with_agent(Agent("a", model=model, tools=[slow]), limits=Limits(tool_seconds=0.02))
    with pytest.raises(RunFailedError) as failure:
        await flow.compile(storage).thread("u").run()
    assert failure.value.failure_code == "limit_exceeded"


def inner(*functions: Callable[[Any], Any], **settings: Any) -> Workflow:
    """A workflow of functions, one after the other."""
    flow = Workflow("inner", **settings)
    for number, function in enumerate(functions):
        flow.node(function, name=f"n{number}")
        if number:
            flow.edge(f"n{number - 1}", f"n{number}")
    flow.start("n0")
    return flow


def add(old: int | None, new: int) -> int:
    """A reducer of an author's own."""
    return (old or 0) + new


async def test_a_key_that_inside_and_outside_have_the_same_reducer_for_is_reduced_once(storage: Storage) -> None:
    reducers: dict[str, Any] = {"log": append, "sum": add}
    sub = inner(lambda _: {"log": ["in"], "sum": 1}, lambda _: {"log": ["more"], "sum": 2}, reducers=reducers)
    flow = Workflow("outer", reducers=reducers)
    flow.workflow(sub.compile(), name="left")
    flow.workflow(sub.compile(), name="right")
    flow.start("left", "right")
    result = await flow.compile(storage).thread("t").run({"log": ["first"], "sum": 10})
    assert result.state == {"log": ["first", "in", "more", "in", "more"], "sum": 16}


class Outer(TypedDict, total=False):
    """What the outer workflow keeps."""

    shared: int


class Inner(TypedDict, total=False):
    """What the inner one keeps beside it."""

    shared: int
    private: int


async def test_a_key_that_only_the_inner_workflow_declares_stays_inside(storage: Storage) -> None:
    sub = inner(lambda state: {"private": state["shared"]}, lambda state: {"shared": state["private"] + 1}, state=Inner)
    flow = Workflow("outer", state=Outer)
    flow.workflow(sub.compile())
    flow.start("inner")
    assert (await flow.compile(storage).thread("t").run({"shared": 1})).state == {"shared": 2}


async def test_an_inner_workflow_keeps_its_limit_of_steps_and_a_retry_goes_on_in_it(storage: Storage) -> None:
    sub = Workflow("inner", limits=Limits(steps=3))
    sub.node(lambda state: {"n": state["n"] + 1}, name="more")
    sub.start("more")
    sub.branch("more", lambda state: "more" if state["n"] < 5 else "__end__", ["more"])
    flow = Workflow("outer")
    flow.workflow(sub.compile())
    flow.start("inner")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="3 steps of workflow 'inner'") as failure:
        await thread.run({"n": 0})
    assert failure.value.failure_code == "limit_exceeded"
    assert (await thread.retry()).state == {"n": 5}


async def test_an_inner_workflows_static_pauses_are_kept(storage: Storage) -> None:
    sub = inner(lambda _: {"n": 1}, lambda _: {"n": 2}).compile(pause_before=["n1"], pause_after=["n0"])
    flow = Workflow("outer")
    flow.workflow(sub)
    flow.start("inner")
    thread = flow.compile(storage).thread("t")
    assert [each.prompt for each in (await thread.run()).approvals] == [{"after": "n0"}]
    assert [each.prompt for each in (await thread.resume(None)).approvals] == [{"before": "n1"}]
    assert (await thread.resume(None)).state == {"n": 2}


async def test_two_inner_nodes_that_write_a_key_without_a_reducer_are_named(storage: Storage) -> None:
    sub = Workflow("inner")
    for name in ("a", "b"):
        sub.node(lambda _: {"n": 1}, name=name)
    sub.start("a", "b")
    flow = Workflow("outer")
    flow.workflow(sub.compile())
    flow.start("inner")
    with pytest.raises(RunFailedError, match="'a' and 'b' of one step") as failure:
        await flow.compile(storage).thread("t").run()
    assert failure.value.failure_code == "state_conflict"


async def test_a_failure_inside_says_where(storage: Storage) -> None:
    def fail(_: Any) -> None:
        raise ValueError("deep down")

    middle = Workflow("middle")
    middle.workflow(inner(lambda _: None, fail).compile())
    middle.start("inner")
    flow = Workflow("outer")
    flow.workflow(middle.compile())
    flow.start("middle")
    with pytest.raises(RunFailedError, match=r"^node 'middle/0\.inner/1\.n1' failed: ValueError: deep down"):
        await flow.compile(storage).thread("t").run()


async def test_a_cancel_reaches_a_node_within_a_workflow_within_a_workflow(storage: Storage) -> None:
    reached = asyncio.Event()

    async def hang(_: Any) -> None:
        reached.set()
        await asyncio.sleep(3600)

    middle = Workflow("middle")
    middle.workflow(inner(hang).compile())
    middle.start("inner")
    flow = Workflow("outer")
    flow.workflow(middle.compile())
    flow.start("middle")
    thread = flow.compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    await thread.cancel()
    with pytest.raises(RunCancelledError):
        await run


async def test_an_agent_within_a_workflow_within_a_workflow_asks_people(storage: Storage) -> None:
    @tool(approve=True)
    def act() -> str:
        """Acts."""
        return "acted"

    sub = with_agent(Agent("a", model=Script([call("act")], ["done"]), tools=[act]))
    sub.node(lambda _: {"sure": pause("sure?")}, name="confirm")
    sub.start("confirm")
    flow = Workflow("outer")
    flow.workflow(sub.compile(), name="inner")
    flow.start("inner")
    app = flow.compile(storage)
    assert [each.name for each in app.info.tools] == ["act"]
    thread = app.thread("t")
    waiting = {each.kind.value: each.id for each in (await thread.run()).approvals}
    await thread.decide({waiting["tool_call"]: True, waiting["pause"]: {"value": "yes"}})
    assert await thread.state() == {"answer": "done", "sure": "yes"}
