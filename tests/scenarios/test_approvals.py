"""Approvals: what waits for a person, what is decided, and what becomes void."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from clew_engine import ToolContext, tool
from tests.scenarios.heads import refund, standing
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import Handle, World, head_of, refused, snapshot


async def suspended(world: World, *amounts: int) -> tuple[Handle, list[str]]:
    """A thread that waits for a refund of each amount."""
    world.agent([ask("refund", amount=amount) for amount in amounts], "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    turn = await thread.send()
    assert turn.status == "suspended"
    return thread, turn.approvals


async def test_an_approval_says_what_is_asked_exactly_and_of_whom(world: World) -> None:
    world.agent(ask("refund", '{"amount": 7}'), "ok", tools=[refund], approve=True, approval_ttl=60)
    thread = await world.thread(actor="ada")
    await thread.send()
    (approval,) = await thread.approvals()
    head = await head_of(thread)
    assert approval["kind"] == "tool_call"
    assert (approval["tool"], approval["arguments"]) == ("refund", {"amount": 7})
    assert approval["arguments_digest"] == hashlib.sha256(b'{"amount": 7}').hexdigest()
    assert approval["requested_by"] == "ada"
    assert approval["expires_at_ms"] - approval["created_at_ms"] in range(59_900, 60_100)
    assert (approval["run_id"], approval["version"]) == (head["run_id"], head["version"])


async def test_the_ungated_calls_of_a_step_run_first_and_one_checkpoint_asks_all(world: World) -> None:
    gate = Gate()

    async def look() -> str:
        await gate.pass_through()
        return "seen"

    calls = [ask("refund", amount=1), ask("look"), ask("refund", amount=2)]
    world.agent(calls, "ok", tools=[refund, look], approve=["refund"])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    assert await thread.approvals() == [], "no approval waits beside a live run"
    gate.open()
    turn = await run.turn()
    assert turn.status == "suspended"
    kinds = [event.type for event in turn.events if event.version == turn.version]
    assert kinds == ["approval_requested", "approval_requested", "checkpoint_written", "run_suspended"]
    assert [event.data["tool"] for event in turn.of("tool_call_finished")] == ["look"]
    assert turn.approvals == [each["id"] for each in await thread.approvals()]


async def test_an_approved_call_runs_and_the_model_is_not_asked_again_for_it(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    turn = await thread.decide({approval: True})
    assert (turn.status, turn.text) == ("completed", "ok")
    assert [event.data["arguments"] for event in turn.of("tool_call_started")] == [{"amount": 7}]


async def test_the_stored_arguments_are_what_runs(world: World) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    model = world.agent(ask("pay", amount=7), "ok", tools=[pay], approve=True)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    await thread.decide({approval: True})
    assert (paid, len(model.requests)) == ([7], 2)


async def test_arguments_may_be_edited(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    turn = await thread.decide({approval: {"arguments": {"amount": 3}}})
    assert [event.data["arguments"] for event in turn.of("tool_call_started")] == [{"amount": 3}]
    assert (await thread.messages())[2]["content"][0]["content"][0]["text"] == "refunded 3"
    assert (await thread.messages())[1]["content"][0]["args"] == {"amount": 7}, "what the model said stays"


async def test_edited_arguments_that_do_not_fit_are_refused_and_nothing_is_written(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    before = await snapshot(thread)
    with refused("argument_invalid"):
        await thread.decide({approval: {"arguments": {"amount": "many"}}})
    assert await snapshot(thread) == before


async def test_the_reason_of_a_rejection_reaches_the_model(world: World) -> None:
    model = world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=True)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    assert (await thread.decide({approval: {"reject": "over the limit"}})).status == "completed"
    assert model.heard()[-1] == ("rejected", "over the limit")


async def test_decisions_come_one_by_one_and_the_calls_run_when_the_last_is_in(world: World) -> None:
    thread, (first, second) = await suspended(world, 1, 2)
    turn = await thread.decide({second: True})
    assert (turn.status, turn.approvals) == ("suspended", [first])
    assert turn.of("tool_call_started") == []
    assert [each["id"] for each in await thread.approvals()] == [first]
    assert (await head_of(thread))["source"] == "decision"
    turn = await thread.decide({first: {"reject": "no"}})
    assert turn.status == "completed"
    assert sorted(event.data["outcome"] for event in turn.of("tool_call_finished")) == ["done", "rejected"]


async def test_a_partly_decided_thread_still_waits_after_a_restart_of_its_reader(world: World) -> None:
    thread, (first, second) = await suspended(world, 1, 2)
    await thread.decide({first: True})
    watch = await thread.watch((await thread.info())["version"]).turn()
    assert watch.approvals == [second]


async def test_decisions_of_one_call_are_taken_all_or_none(world: World) -> None:
    thread, (first, _) = await suspended(world, 1, 2)
    before = await snapshot(thread)
    with refused("approval_not_found"):
        await thread.decide({first: True, first[:-1] + "9": True})
    assert await snapshot(thread) == before


async def test_an_approval_decided_before_is_told_so(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    await thread.decide({approval: True})
    before = await snapshot(thread)
    with refused("approval_already_decided"):
        await thread.decide({approval: False})
    assert await snapshot(thread) == before


async def test_an_approval_decided_before_is_told_so_while_others_wait(world: World) -> None:
    thread, (first, second) = await suspended(world, 1, 2)
    await thread.decide({first: True})
    with refused("approval_already_decided"):
        await thread.decide({first: True, second: True})
    assert [each["id"] for each in await thread.approvals()] == [second]


async def test_an_approval_of_another_thread_is_not_found(world: World) -> None:
    calls = ask("refund", amount=7)
    world.agent(calls, calls, "ok", tools=[refund], approve=True)
    thread, other = await world.thread(), await world.thread("other")
    (mine,), (others,) = (await thread.send()).approvals, (await other.send()).approvals
    before = await snapshot(thread)
    with refused("approval_not_found"):
        await thread.decide({others: True})
    with refused("approval_not_found"):
        await other.decide({mine: True})
    assert await snapshot(thread) == before


async def test_an_answer_of_another_kind_is_refused(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    before = await snapshot(thread)
    with refused("argument_invalid"):
        await thread.decide({approval: {"result": 1}})
    assert await snapshot(thread) == before


@pytest.mark.parametrize("how", ["rewind", "cancel", "new turn"])
async def test_an_approval_is_void_after(world: World, how: str) -> None:
    at = await standing(world, "suspended")
    before = (await at.thread.history())[-1]["id"]
    if how == "rewind":
        await at.thread.rewind(before)
    else:
        await at.thread.cancel()
    if how == "new turn":
        await at.thread.send("something else")
    assert await at.thread.approvals() == []
    kept = await snapshot(at.thread)
    with refused("resume_invalid"):
        await at.thread.decide({at.approval: True})
    assert await snapshot(at.thread) == kept


async def test_an_approval_is_gone_with_its_thread(world: World) -> None:
    at = await standing(world, "suspended")
    await at.thread.delete()
    with refused("resume_invalid"):
        await at.thread.decide({at.approval: True})


async def test_an_expired_approval_counts_as_rejected(world: World) -> None:
    model = world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=True, approval_ttl=60)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    world.clock.advance(61)
    with refused("approval_expired"):
        await thread.decide({approval: True})
    await world.sweep()
    turn = await thread.watch().turn()
    assert turn.status == "completed"
    outcome, told = model.heard()[-1]
    assert outcome == "rejected"
    assert "expired" in told
    with refused("approval_expired"):
        await thread.decide({approval: True})


async def test_an_approval_that_is_in_time_does_not_expire(world: World) -> None:
    world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=True, approval_ttl=60)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    world.clock.advance(58)
    await world.sweep()
    assert (await thread.decide({approval: True})).status == "completed"


async def test_an_expired_unknown_outcome_counts_as_failed(world: World) -> None:
    gate = Gate()

    @tool(once=True)
    async def pay(context: ToolContext) -> str:
        await gate.pass_through()
        return "paid"

    model = world.agent(ask("pay"), "ok", tools=[pay], approval_ttl=60)
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    assert (await run.turn()).status == "suspended"
    world.clock.advance(61)
    await world.sweep()
    assert (await thread.watch().turn()).status == "completed"
    assert model.heard()[-1][0] == "failed"


async def test_of_two_concurrent_decisions_one_wins(world: World) -> None:
    thread, (approval,) = await suspended(world, 7)
    answers = [thread.decide({approval: True}), thread.decide({approval: {"reject": "no"}})]
    won, lost = await asyncio.gather(*answers, return_exceptions=True)
    if isinstance(won, BaseException):
        won, lost = lost, won
    assert not isinstance(won, BaseException)
    assert won.status == "completed"
    with refused("approval_already_decided"):
        raise lost if isinstance(lost, BaseException) else AssertionError("both won")


async def test_a_rewind_to_a_suspended_checkpoint_issues_its_approvals_anew(world: World) -> None:
    at = await standing(world, "suspended")
    await at.thread.decide({at.approval: True})
    await at.thread.rewind(at.checkpoint)
    (approval,) = await at.thread.approvals()
    assert approval["id"] != at.approval
    assert (approval["tool"], approval["arguments"]) == ("refund", {"amount": 7})
    with refused("approval_already_decided"):
        await at.thread.decide({at.approval: True})
    assert (await at.thread.decide({approval["id"]: True})).status == "completed"


async def test_a_rule_of_the_arguments_says_which_calls_are_asked_about(world: World) -> None:
    @tool(approve=lambda args: args["amount"] > 5)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    world.agent([ask("pay", amount=1), ask("pay", amount=9)], "ok", tools=[pay])
    thread = await world.thread()
    turn = await thread.send()
    assert [each["arguments"] for each in await thread.approvals()] == [{"amount": 9}]
    assert len(turn.of("tool_call_finished")) == 1


async def test_a_rule_that_cannot_tell_lets_no_call_through(world: World) -> None:
    @tool(approve=lambda args: args["missing"] > 5)
    def pay(amount: int) -> str:
        return f"paid {amount}"

    world.agent(ask("pay", amount=1), "ok", tools=[pay])
    assert (await (await world.thread()).send()).status == "suspended"
