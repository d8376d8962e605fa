"""Snapshots: a run without a thread that pauses or fails goes on from plain JSON, here or in another process."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew_engine import (
    Agent,
    ClewError,
    OfflineModel,
    PauseRejectedError,
    Storage,
    ToolContext,
    Workflow,
    WorkflowApp,
    append,
    pause,
    step,
    tool,
)
from clew_engine.errors import RunFailedError
from clew_engine.models.offline_rules import after, otherwise

CHILD = Path(__file__).with_name("snapshot_process.py")


def travelled(snapshot: Any) -> Any:
    """A snapshot as it comes back from wherever it was kept."""
    assert isinstance(snapshot, dict)
    return json.loads(json.dumps(snapshot))


def noting(did: list[str], what: str, result: str) -> Callable[[], str]:
    """A function that notes what it did."""

    def act() -> str:
        did.append(what)
        return result

    return act


def asking(*names: str, name: str = "asking") -> WorkflowApp:
    """A workflow whose nodes all ask in one step."""
    flow = Workflow(name, reducers={"log": append})
    for each in names:

        def node(_: Any, each: str = each) -> dict[str, Any]:
            return {"log": [[each, pause({"for": each}, {"type": "integer"})]]}

        flow.node(node, name=each)
    flow.start(*names)
    return flow.compile()


def failing(times: int, did: list[str]) -> WorkflowApp:
    """A workflow of two steps whose second fails so many times, after a step of its own."""
    flow = Workflow("failing", reducers={"log": append})

    @flow.node
    async def first(_: Any) -> dict[str, Any]:
        did.append("first")
        return {"log": ["first"]}

    @flow.node
    async def second(_: Any) -> dict[str, Any]:
        did.append("second")
        order = await step("order", noting(did, "order", "o-1"))
        paid = await step("pay", noting(did, "pay", "paid"))
        if did.count("second") <= times:
            raise ValueError("not yet")
        return {"log": [order, paid]}

    flow.start("first")
    flow.edge("first", "second")
    return flow.compile()


async def failed(run: Any) -> dict[str, Any]:
    """The snapshot that a run fails with."""
    with pytest.raises(RunFailedError) as error:
        await run
    return travelled(error.value.snapshot)  # type: ignore[no-any-return]


async def test_a_run_that_pauses_goes_on_from_its_snapshot_and_may_pause_again() -> None:
    flow = Workflow("twice")
    did: list[str] = []

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        order = await step("order", noting(did, "ordered", "o-1"))
        return {"all": [order, pause("first?"), pause("second?")]}

    flow.start("only")
    app = flow.compile()
    first = await app.run({"n": 1})
    assert (first.status.value, [each.prompt for each in first.approvals]) == ("suspended", ["first?"])
    second = await app.resume(travelled(first.snapshot), "one")
    assert [each.prompt for each in second.approvals] == ["second?"]
    assert second.run_id == first.run_id
    assert second.version > first.version
    assert not {each.id for each in second.approvals} & {each.id for each in first.approvals}
    last = await app.resume(travelled(second.snapshot), None)
    assert (last.status.value, last.snapshot) == ("completed", None)
    assert last.state == {"n": 1, "all": ["o-1", "one", None]}
    assert did == ["ordered"]
    assert not app.storage.scratches


async def test_a_run_that_failed_is_retried_with_what_it_had_done_and_the_same_keys() -> None:
    did: list[str] = []
    app = failing(2, did)
    snapshot = await failed(app.run())
    assert (snapshot["status"], snapshot["failure"]["code"]) == ("failed", "tool_failed")
    snapshot = await failed(app.resume(snapshot))
    result = await app.resume(snapshot)
    assert result.state == {"log": ["first", "o-1", "paid"]}
    assert did == ["first", "second", "order", "pay", "second", "second"]


async def test_a_step_that_was_cut_off_runs_again_with_the_idempotency_key_it_had() -> None:
    flow = Workflow("keys")
    seen: list[tuple[str, str, str]] = []

    @tool
    def pay(context: ToolContext) -> str:
        """Pay."""
        seen.append((context.idempotency_key, context.run_id, context.thread_id))
        if len(seen) == 1:
            raise KeyError("cut off")
        return "paid"

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        return {"paid": await step("pay", pay)}

    flow.start("only")
    app = flow.compile()
    await app.resume(await failed(app.run()))
    assert len(seen) == 2
    assert seen[0] == seen[1]


async def test_a_once_step_that_was_cut_off_asks_a_person_and_is_never_run_by_itself() -> None:
    flow = Workflow("once")
    ran: list[int] = []

    @flow.node
    async def only(_: Any) -> dict[str, Any]:
        def pay() -> str:
            ran.append(1)
            if len(ran) == 1:
                raise KeyError("the answer was lost")
            return "paid"

        paid = await step("pay", pay, once=True)
        return {"paid": paid, "sure": pause("sure?")}

    flow.start("only")
    app = flow.compile()
    asked = await app.resume(await failed(app.run()))
    (waiting,) = asked.approvals
    assert (waiting.kind.value, waiting.tool, len(ran)) == ("tool_outcome", "pay", 1)
    again = await app.decide(travelled(asked.snapshot), {waiting.id: {"run_again": True}})
    assert len(ran) == 2
    assert (await app.resume(travelled(again.snapshot), True)).state == {"paid": "paid", "sure": True}
    assert len(ran) == 2


async def test_several_pauses_are_decided_by_id_or_by_subject_at_once_or_one_by_one() -> None:
    app = asking("a", "b", "c")
    result = await app.run()
    with pytest.raises(ClewError) as refusal:
        await app.resume(travelled(result.snapshot), 1)
    assert refusal.value.code == "argument_invalid"
    assert set(refusal.value.metadata["approval_ids"].split(",")) == {each.id for each in result.approvals}
    ids = {each.subject: each.id for each in result.approvals}
    result = await app.decide(travelled(result.snapshot), {ids["b:0"]: {"value": 2}})
    assert {each.id for each in result.approvals} == {ids["a:0"], ids["c:0"]}
    result = await app.decide(travelled(result.snapshot), {"a:0": {"value": 1}, ids["c:0"]: {"value": 3}})
    assert result.state == {"log": [["a", 1], ["b", 2], ["c", 3]]}


async def test_an_agent_in_a_workflow_asks_for_its_calls_and_says_the_same_things_again() -> None:
    asked: list[str] = []

    @tool(once=True)
    def refund(order: str) -> str:
        """Pay back."""
        asked.append(order)
        return f"refunded {order}"

    model = OfflineModel([after("refund").say("Done: {result}"), otherwise.call("refund", order="A-1")])
    flow = Workflow("w")
    flow.agent(Agent("helper", model=model, tools=[refund], approve=["refund"]), ask="question", keep="answer")
    flow.start("helper")
    app = flow.compile()
    result = await app.run({"question": "refund"})
    (waiting,) = result.approvals
    edited = {waiting.id: {"arguments": {"order": "B-2"}}}
    assert (await app.decide(travelled(result.snapshot), edited)).state["answer"] == "Done: refunded B-2"
    assert asked == ["B-2"]


async def test_the_state_goes_through_a_snapshot_byte_for_byte() -> None:
    odd = {"big": 2**53 + 1, "one": 1.0, "text": "a\0\u2028😀é", "none": None, "deep": [[{"x": [1e-7]}]]}
    app = asking("a")
    result = await app.run(odd)
    assert result.snapshot is not None
    assert result.snapshot["state"].startswith('{"big":9007199254740993,"one":1.0,"text":"a\\u0000\u2028😀é"')
    again = await app.resume(travelled(result.snapshot), 1)
    assert again.state == {**odd, "log": [["a", 1]]}
    assert isinstance(again.state["one"], float)


async def test_a_value_that_does_not_fit_is_refused_and_the_snapshot_is_good_for_another() -> None:
    app = asking("a")
    snapshot = travelled((await app.run()).snapshot)
    for wrong in ("seven", 1.5):
        with pytest.raises(ClewError) as refusal:
            await app.resume(snapshot, wrong)
        assert refusal.value.code == "argument_invalid"
    with pytest.raises(ClewError, match="waits for an answer"):
        await app.resume(snapshot)
    assert (await app.resume(snapshot, 7)).state == {"log": [["a", 7]]}


async def test_a_failed_run_takes_no_answer() -> None:
    app = failing(1, [])
    snapshot = await failed(app.run())
    for call in (app.resume(snapshot, 1), app.decide(snapshot, {"a": True})):
        with pytest.raises(ClewError, match="without one") as refusal:
            await call
        assert refusal.value.code == "resume_invalid"


async def test_a_newer_version_goes_on_where_it_still_has_the_node() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    newer = Workflow("asking", reducers={"log": append})
    newer.node(lambda _: {"log": [["newer", pause("?")]]}, name="a")
    newer.node(lambda _: {"log": ["more"]}, name="b")
    newer.node(lambda _: {"log": ["last"]}, name="z")
    newer.start("b")
    newer.edge("b", "a")
    newer.edge("a", "z")
    assert (await newer.compile().resume(snapshot, 1)).state == {"log": [["newer", 1], "last"]}


async def test_a_node_that_a_newer_version_no_longer_has_is_named() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    with pytest.raises(ClewError, match="'a'") as refusal:
        await asking("b").resume(snapshot, 1)
    assert (refusal.value.code, refusal.value.metadata["nodes"]) == ("resume_invalid", "a")
    broken = await failed(failing(1, []).run())
    with pytest.raises(ClewError, match="'second'") as refusal:
        await asking("b", name="failing").resume(broken)
    assert refusal.value.code == "resume_invalid"


async def test_a_snapshot_of_another_app_or_of_a_newer_format_is_refused() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    with pytest.raises(ClewError, match="'asking'") as refusal:
        await asking("a", name="other").resume(snapshot, 1)
    assert refusal.value.code == "resume_invalid"
    with pytest.raises(ClewError, match="format 2") as refusal:
        await asking("a").resume({**snapshot, "format": 2, "new": True}, 1)
    assert refusal.value.code == "resume_invalid"


SPOILT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no dict": lambda _: [1],
    "text": json.dumps,
    "None": lambda _: None,
    "empty": lambda _: {},
    "anything": lambda _: {"state": {}},
    "an odd format": lambda each: {**each, "format": "1"},
    "no JSON": lambda each: {**each, "state": float("nan")},
    "a key is missing": lambda each: {name: value for name, value in each.items() if name != "uid"},
    "an unknown status": lambda each: {**each, "status": "perhaps"},
    "a status that needs no snapshot": lambda each: {**each, "status": "completed"},
    "a run of another": lambda each: {**each, "run_id": "0123456789abcdef.r1"},
    "nothing to go on with": lambda each: {**each, "next": {}},
    "odd nodes": lambda each: {**each, "next": {"do": "a"}},
    "odd answers": lambda each: {**each, "next": {**each["next"], "answers": {"a": 1}}},
    "odd memos": lambda each: {**each, "memos": [["a"]]},
    "nothing asked": lambda each: {**each, "approvals": []},
    "an unknown kind": lambda each: {**each, "approvals": [{**each["approvals"][0], "kind": "perhaps"}]},
    "a state that is no object": lambda each: {**each, "state": "[1]"},
    "a state that is no JSON": lambda each: {**each, "state": '{"a":1,"a":2}'},
    "a thread id that is none": lambda each: {**each, "thread_id": "a/b"},
}


@pytest.mark.parametrize("spoilt", SPOILT)
async def test_what_is_no_snapshot_is_refused_and_nothing_runs(spoilt: str) -> None:
    app = asking("a")
    snapshot = SPOILT[spoilt](travelled((await app.run()).snapshot))
    with pytest.raises(ClewError, match="snapshot") as refusal:
        await app.resume(snapshot, 1)
    assert refusal.value.code in ("argument_invalid", "state_invalid", "id_invalid")
    assert not app.storage.scratches


async def test_what_expired_counts_as_rejected_and_takes_no_answer_any_more() -> None:
    now = [1_000_000]
    flow = Workflow("late")

    @flow.node
    def only(_: Any) -> dict[str, Any]:
        try:
            return {"answer": pause("well?")}
        except PauseRejectedError as error:
            return {"answer": str(error)}

    flow.start("only")
    async with Storage("memory://", clock=lambda: now[0]) as storage:
        app = flow.compile(storage, approval_ttl=60)
        snapshot = travelled((await app.run()).snapshot)
        now[0] += 61_000
        with pytest.raises(ClewError) as refusal:
            await app.resume(snapshot, "yes")
        assert refusal.value.code == "approval_expired"
        assert (await app.resume(snapshot)).state == {"answer": "expired: nobody answered in time"}


async def test_static_pauses_stand_in_snapshots_too() -> None:
    flow = Workflow("w", reducers={"log": append})
    for name in ("a", "b"):
        flow.node(lambda _, name=name: {"log": [name]}, name=name)
    flow.start("a")
    flow.edge("a", "b")
    app = flow.compile(pause_before=["a"], pause_after=["a"])
    before = await app.run()
    after_a = await app.resume(travelled(before.snapshot), None)
    assert [each.subject for each in after_a.approvals] == ["after a"]
    assert (await app.resume(travelled(after_a.snapshot), None)).state == {"log": ["a", "b"]}


def test_the_blocking_forms_take_and_give_the_same() -> None:
    app = asking("a")
    snapshot = travelled(app.run_sync().snapshot)
    assert app.resume_sync(snapshot, 1).state == {"log": [["a", 1]]}
    assert app.decide_sync(snapshot, {"a:0": {"value": 2}}).state == {"log": [["a", 2]]}


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python process that runs or resumes a workflow of its own."""
    return subprocess.run(
        [sys.executable, str(CHILD), *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("begins", ["pause", "fail"])
async def test_a_run_goes_on_in_another_process_after_the_first_was_killed(tmp_path: Path, begins: str) -> None:
    kept, ledger = tmp_path / "snapshot.json", tmp_path / "ledger"
    first = await asyncio.to_thread(child, "run", begins, str(kept), str(ledger))
    assert first.returncode == -signal.SIGKILL, first.stderr
    second = await asyncio.to_thread(child, "resume", begins, str(kept), str(ledger))
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout) == {"order": "o-1", "ended": begins}
    keys = ledger.read_text().split()
    assert len(keys) == 1, "what the first process recorded as done was done again"
