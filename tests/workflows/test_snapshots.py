"""Snapshots: a run without a thread that pauses or fails goes on from plain JSON, here or in another process."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
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
    append,
    pause,
    step,
    tool,
)
from clew_engine.models.offline_rules import after, otherwise
from tests.workflows.snapshot_apps import asking, failed, failing, noting, travelled

CHILD = Path(__file__).with_name("snapshot_process.py")


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
                raise asyncio.CancelledError
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
