"""Pauses: a run waits for people's answers, and goes on with them; what was done before is not done twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clew_engine import Agent, ClewError, OfflineModel, PauseRejectedError, Storage, Workflow, append, pause, step, tool
from clew_engine.models.offline_rules import after, otherwise, when


def asking(*names: str) -> Workflow:
    """A workflow whose nodes all ask in one step."""
    flow = Workflow("asking", reducers={"log": append})
    for name in names:

        def node(_: Any, name: str = name) -> dict[str, Any]:
            return {"log": [[name, pause({"for": name}, {"type": "integer"})]]}

        flow.node(node, name=name)
    flow.start(*names)
    return flow


async def test_resume_answers_the_one_pause_that_waits(storage: Storage) -> None:
    thread = asking("a").compile(storage).thread("t")
    result = await thread.run()
    assert result.status.value == "suspended"
    assert [(each.kind.value, each.prompt) for each in result.approvals] == [("pause", {"for": "a"})]
    await thread.resume(7)
    assert (await thread.result()).state == {"log": [["a", 7]]}


async def test_a_value_that_does_not_fit_the_schema_is_refused_and_the_pause_waits_on(storage: Storage) -> None:
    thread = asking("a").compile(storage).thread("t")
    await thread.run()
    with pytest.raises(ClewError) as refusal:
        await thread.resume("seven")
    assert refusal.value.code == "argument_invalid"
    assert len(await thread.approvals()) == 1
    await thread.resume(7)


async def test_several_pauses_are_answered_by_their_ids_in_any_order(storage: Storage) -> None:
    thread = asking("a", "b", "c").compile(storage).thread("t")
    result = await thread.run()
    by_name = {each.subject.partition(":")[0]: each.id for each in result.approvals}
    with pytest.raises(ClewError) as refusal:
        await thread.resume(1)
    assert refusal.value.code == "argument_invalid"
    assert all(each in str(refusal.value) for each in by_name.values())
    results = [await thread.decide({by_name[name]: {"value": number}}) for number, name in enumerate(("c", "a", "b"))]
    assert [each.status.value for each in results] == ["suspended", "suspended", "completed"]
    assert await thread.state() == {"log": [["a", 1], ["b", 2], ["c", 0]]}


async def test_a_rejected_pause_raises_in_the_node(storage: Storage) -> None:
    flow = Workflow("w")

    @flow.node
    def only(_: Any) -> dict[str, Any]:
        try:
            return {"answer": pause("well?")}
        except PauseRejectedError as error:
            return {"answer": str(error)}

    flow.start("only")
    thread = flow.compile(storage).thread("t")
    await thread.run()
    (waiting,) = await thread.approvals()
    await thread.decide({waiting.id: {"reject": "not now"}})
    assert await thread.state() == {"answer": "not now"}


async def test_a_node_that_paused_begins_anew_but_its_steps_are_not_done_twice(storage: Storage) -> None:
    flow = Workflow("w")
    did: list[str] = []

    def ordered() -> str:
        did.append("ordered")
        return "order-1"

    def pay() -> int:
        did.append("paid")
        return 12

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        did.append("begin")
        order = await step("order", ordered)
        first = pause("first?")
        paid = await step("pay", pay)
        second = pause("second?")
        return {"all": [order, first, paid, second]}

    flow.start("only")
    thread = flow.compile(storage).thread("t")
    await thread.run()
    await thread.resume("one")
    await thread.resume("two")
    assert await thread.state() == {"all": ["order-1", "one", 12, "two"]}
    assert did == ["begin", "ordered", "begin", "paid", "begin"]


async def test_an_except_of_everything_does_not_stop_a_pause(storage: Storage) -> None:
    flow = Workflow("w")

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        try:
            return {"answer": pause("well?")}
        except Exception:  # noqa: BLE001
            return {"answer": "swallowed"}

    flow.start("only")
    thread = flow.compile(storage).thread("t")
    assert (await thread.run()).status.value == "suspended"


async def test_static_pauses_come_before_and_after_the_nodes_they_name(storage: Storage) -> None:
    flow = Workflow("w", reducers={"log": append})
    for name in ("a", "b"):
        flow.node(lambda _, name=name: {"log": [name]}, name=name)
    flow.start("a")
    flow.edge("a", "b")
    thread = flow.compile(storage, pause_before=["a"], pause_after=["a", "b"]).thread("t")
    assert [each.subject for each in (await thread.run()).approvals] == ["before a"]
    assert await thread.state() == {}
    await thread.resume(None)
    assert [each.subject for each in await thread.approvals()] == ["after a"]
    assert await thread.state() == {"log": ["a"]}
    await thread.resume(None)
    assert [each.subject for each in await thread.approvals()] == ["after b"]
    assert (await thread.resume(None)).status.value == "completed"
    assert await thread.state() == {"log": ["a", "b"]}


async def test_a_run_that_is_rewound_to_its_pause_asks_anew(storage: Storage) -> None:
    thread = asking("a", "b").compile(storage).thread("t")
    await thread.run()
    asked = await thread.approvals()
    suspended = (await thread.history())[0]
    await thread.decide({each.id: {"value": 1} for each in asked})
    await thread.rewind(suspended["id"])
    again = await thread.approvals()
    assert [each.subject for each in again] == [each.subject for each in asked]
    assert not {each.id for each in again} & {each.id for each in asked}
    await thread.decide({each.id: {"value": 2} for each in again})
    assert await thread.state() == {"log": [["a", 2], ["b", 2]]}


async def test_a_copy_of_a_run_that_waits_asks_for_itself(storage: Storage) -> None:
    app = asking("a").compile(storage)
    await app.thread("t").run()
    await app.thread("t").copy("other")
    await app.thread("other").resume(3)
    assert (await app.thread("other").result()).state == {"log": [["a", 3]]}
    assert len(await app.thread("t").approvals()) == 1


async def test_a_node_that_a_newer_version_no_longer_has_is_named(storage: Storage) -> None:
    await asking("a").compile(storage).thread("t").run()
    newer = asking("b").compile(storage).thread("t")
    (waiting,) = await newer.approvals()
    with pytest.raises(ClewError, match="'a'") as refusal:
        await newer.decide({waiting.id: {"value": 1}})
    assert refusal.value.code == "resume_invalid"
    assert len(await newer.approvals()) == 1


async def test_a_once_step_that_was_cut_off_asks_a_person_and_is_never_run_by_itself(storage: Storage) -> None:
    flow = Workflow("w")
    ran: list[int] = []

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        async def pay() -> str:
            ran.append(1)
            if len(ran) == 1:
                raise asyncio.CancelledError
            return "paid"

        return {"paid": await step("pay", pay, once=True)}

    flow.start("only")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(ClewError):
        await thread.run()
    assert (await thread.retry()).status.value == "suspended"
    (waiting,) = await thread.approvals()
    assert (waiting.kind.value, waiting.tool) == ("tool_outcome", "pay")
    await thread.decide({waiting.id: {"run_again": True}})
    assert await thread.state() == {"paid": "paid"}
    assert len(ran) == 2


@tool
def look_up(order: str) -> dict[str, Any]:
    """Find an order."""
    return {"order": order, "total": 5}


@tool(once=True)
def refund(order: str) -> str:
    """Pay back."""
    return f"refunded {order}"


def helper() -> Agent:
    """An agent that looks an order up and then wants to refund it."""
    model = OfflineModel(
        [
            after("refund").say("Done: {result}"),
            after("look_up").call("refund", order="{result.order}"),
            when(r"refund (?P<order>\S+)").call("look_up", order="{order}"),
            otherwise.say("I only refund."),
        ]
    )
    return Agent("helper", model=model, tools=[look_up, refund], approve=["refund"])


async def test_an_agent_is_a_node_whose_calls_people_approve(storage: Storage) -> None:
    flow = Workflow("w")
    flow.agent(helper(), ask="question", keep="answer")
    flow.node(lambda state: {"loud": state["answer"].upper()}, name="shout")
    flow.start("helper")
    flow.edge("helper", "shout")
    thread = flow.compile(storage).thread("t")
    result = await thread.run({"question": "refund A-1"})
    (waiting,) = result.approvals
    assert (waiting.kind.value, waiting.tool, waiting.arguments) == ("tool_call", "refund", {"order": "A-1"})
    await thread.decide({waiting.id: {"arguments": {"order": "B-2"}}})
    assert await thread.state() == {
        "question": "refund A-1",
        "answer": "Done: refunded B-2",
        "loud": "DONE: REFUNDED B-2",
    }


async def test_a_workflow_is_a_node_of_another_and_its_pauses_are_the_outer_ones(storage: Storage) -> None:
    did: list[str] = []
    inner = Workflow("inner", reducers={"log": append})

    @inner.node
    async def fetch(state: Any) -> dict[str, Any]:
        did.append("fetch")
        return {"log": [f"fetched {state['what']}"]}

    @inner.node
    async def confirm(_: Any) -> dict[str, Any]:
        did.append("confirm")
        return {"log": [pause("sure?")]}

    inner.start("fetch")
    inner.edge("fetch", "confirm")
    outer = Workflow("outer", reducers={})
    outer.workflow(inner.compile())
    outer.node(lambda state: {"end": len(state["log"])}, name="last")
    outer.start("inner")
    outer.edge("inner", "last")
    thread = outer.compile(storage).thread("t")
    result = await thread.run({"what": "it"})
    assert [each.subject for each in result.approvals] == ["inner/1.confirm:0"]
    await thread.resume("yes")
    assert await thread.state() == {"what": "it", "log": ["fetched it", "yes"], "end": 2}
    assert did == ["fetch", "confirm", "confirm"]
