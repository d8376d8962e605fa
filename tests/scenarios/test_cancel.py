"""Cancelling and leaving: the run stops, it is saved with what was streamed, and `retry` continues it."""

from __future__ import annotations

import asyncio

import pytest

from clew_engine import OnDisconnect, RunOptions, commands
from clew_engine.agents import Agent
from clew_engine.checkpoints import Checkpoint
from clew_engine.ids import request_hash
from clew_engine.messages import TextPart
from clew_engine.options import Mutation, NewThread
from clew_engine.requests import RequestLog
from clew_engine.stops import attempt_at, leave_word
from clew_storage import Status, ThreadKey, Write, Written
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate, ScriptedModel, ask
from tests.scenarios.world import World, head_of, refused


async def test_cancel_answers_after_the_cancelled_checkpoint(world: World) -> None:
    at = await standing(world, "running")
    head = await at.thread.cancel()
    assert (head["status"], head["source"], head["failure_code"]) == ("failed", "failure", "cancelled")
    assert head == await head_of(at.thread)
    assert at.run is not None
    turn = await at.run.turn()
    assert (turn.failure, turn.end.data["retryable"], turn.version) == ("cancelled", True, head["version"])


async def test_streamed_text_is_kept_with_finish_reason_cancelled(world: World) -> None:
    world.agent(["Once upon ", Gate(), "a time"])
    thread = await world.thread()
    run = thread.stream()
    await run.until("text_delta")
    await thread.cancel()
    kept = (await thread.messages())[-1]
    assert (kept["role"], kept["content"][0]["text"], kept["finish_reason"]) == ("assistant", "Once upon ", "cancelled")


async def test_a_retry_replaces_the_cancelled_text_under_a_new_id(world: World) -> None:
    model = world.agent(["Once upon ", Gate()], "The end")
    thread = await world.thread()
    run = thread.stream()
    await run.until("text_delta")
    await thread.cancel()
    cancelled = (await thread.messages())[-1]
    turn = await thread.retry()
    assert turn.text == "The end"
    messages = await thread.messages()
    assert [each["content"][0]["text"] for each in messages] == ["hello", "The end"]
    assert messages[-1]["id"] != cancelled["id"]
    assert messages[-1]["position"] == cancelled["position"]
    assert model.heard() == [("user", "hello")], "the model does not read what it was cut off in"


async def test_text_of_a_second_cancel_replaces_that_of_the_first(world: World) -> None:
    world.agent(["one", Gate()], ["two", Gate()], "three")
    thread = await world.thread()
    await thread.stream().until("text_delta")
    await thread.cancel()
    await thread.stream_retry().until("text_delta")
    await thread.cancel()
    assert [each["content"][0]["text"] for each in await thread.messages()] == ["hello", "two"]
    await thread.retry()
    assert [each["content"][0]["text"] for each in await thread.messages()] == ["hello", "three"]


async def test_a_cancel_of_a_retry_that_said_nothing_keeps_the_text_of_before(world: World) -> None:
    gate = Gate()
    world.agent(["one", Gate()], gate, "three")
    thread = await world.thread()
    await thread.stream().until("text_delta")
    await thread.cancel()
    run = thread.stream_retry()
    await gate.wait()
    await thread.cancel()
    await run.turn()
    assert [each["content"][0]["text"] for each in await thread.messages()] == ["hello", "one"]
    assert (await thread.retry()).text == "three"
    assert [each["content"][0]["text"] for each in await thread.messages()] == ["hello", "three"]


async def test_a_new_turn_keeps_the_cancelled_text(world: World) -> None:
    model = world.agent(["Once upon ", Gate()], "ok")
    thread = await world.thread()
    await thread.stream().until("text_delta")
    await thread.cancel()
    await thread.send("never mind")
    assert model.heard() == [("user", "hello"), ("assistant", "Once upon "), ("user", "never mind")]


async def test_text_too_large_to_keep_does_not_keep_a_run_from_being_cancelled(world: World) -> None:
    world.tune(message_limit=1000)
    world.agent(["x" * 2000, Gate()], "ok")
    thread = await world.thread()
    run = thread.stream()
    await run.until("text_delta")
    assert (await thread.cancel())["failure_code"] == "cancelled"
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.retry()).text == "ok"


async def test_a_cancelled_call_that_is_not_once_runs_again_on_retry(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    async def slow() -> str:
        ran.append("slow")
        await gate.pass_through()
        return "done"

    model = world.agent(ask("slow"), "ok", tools=[slow])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    assert (await run.turn()).failure == "cancelled"
    gate.open()
    assert (await thread.retry()).text == "ok"
    assert ran == ["slow", "slow"]
    assert model.heard()[-1] == ("done", "done")


async def test_a_result_that_arrives_before_the_terminal_commit_is_kept(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    async def careful() -> str:
        ran.append("careful")
        try:
            await gate.pass_through()
        except asyncio.CancelledError:
            return "finished in time"
        return "unreachable"

    model = world.agent(ask("careful"), "ok", tools=[careful])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    turn = await run.turn()
    assert [event.data["outcome"] for event in turn.of("tool_call_finished")] == ["done"]
    await thread.retry()
    assert (ran, model.heard()[-1]) == (["careful"], ("done", "finished in time"))


async def test_leaving_a_stream_in_process_cancels_the_run(here: World) -> None:
    at = await standing(here, "running")
    assert at.run is not None
    await at.run.leave()
    assert (await head_of(at.thread))["failure_code"] == "cancelled"
    assert at.gate is not None
    at.gate.open()
    assert (await at.thread.retry()).status == "completed"


async def test_leaving_while_the_first_write_is_under_way_saves_the_run_too(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.update(name="made")
    for _ in range(10):
        run = thread.stream()
        await asyncio.sleep(0)
        await run.leave()
        assert (await thread.info())["run"] is None, "no run is left that nobody looks after"
    assert (await thread.send()).status == "completed"


async def test_leaving_a_watch_does_not_touch_the_run(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    watch = thread.watch()
    await watch.until("run_started")
    await watch.leave()
    gate.open()
    assert (await run.turn()).status == "completed"


async def test_leaving_a_replay_does_not_touch_the_run(here: World) -> None:
    gate = Gate()
    here.agent([gate, "ok"])
    thread = await here.thread()
    run = thread.stream("hello", request_id="r1")
    await gate.wait()
    replay = thread.stream("hello", request_id="r1")
    await replay.until("run_started")
    await replay.leave()
    gate.open()
    assert (await run.turn()).status == "completed"


async def test_under_continue_a_left_stream_leaves_the_run_alone(here: World) -> None:
    gate = Gate()
    program = Agent("app", model=ScriptedModel([gate, "ok"])).program
    here.agent("unused")
    thread = await here.thread()
    stream = commands.send(
        here.storage,
        ThreadKey("", "t"),
        program,
        (TextPart("hello"),),
        {},
        new=NewThread(),
        mutation=Mutation(),
        options=RunOptions(on_disconnect=OnDisconnect.CONTINUE),
    )
    await anext(aiter(stream.batches()))
    await gate.wait()
    await stream.aclose()
    watch = thread.watch()
    await watch.until("run_started")
    gate.open()
    assert (await watch.turn()).text == "ok"


async def test_a_cancel_names_the_run_that_it_means(world: World) -> None:
    at = await standing(world, "running")
    run_id = (await head_of(at.thread))["run_id"]
    with refused("run_not_found"):
        await at.thread.cancel(run_id.replace(".r1", ".r2"))
    assert at.run is not None
    assert not at.run.over
    assert (await at.thread.cancel(run_id))["failure_code"] == "cancelled"


async def test_a_cancel_of_another_version_than_expected_stops_nothing(world: World) -> None:
    at = await standing(world, "running")
    with refused("version_conflict"):
        await at.thread.cancel(expected_version=7)
    assert at.run is not None
    assert not at.run.over
    assert (await at.thread.cancel(expected_version=1))["failure_code"] == "cancelled"


async def test_a_cancel_does_not_touch_the_turn_of_whoever_waited(world: World) -> None:
    gate, second = Gate(), Gate()
    world.agent([gate, "one"], [second, "two"])
    thread = await world.thread()
    run = thread.stream("one")
    await gate.wait()
    waiting = thread.stream("two")
    await waiting.until("run_queued")
    head = await thread.cancel()
    assert (head["failure_code"], head["version"]) == ("cancelled", 2)
    assert (await run.turn()).failure == "cancelled"
    second.open()
    assert (await waiting.turn()).text == "two"


async def test_a_repeated_cancel_has_the_first_ones_outcome_and_does_not_touch_a_later_run(world: World) -> None:
    gate, later = Gate(), Gate()
    world.agent([gate], [later, "done"])
    thread = await world.thread()
    thread.stream()
    await gate.wait()
    first = await thread.cancel(request_id="q")
    run = thread.stream("again")
    await later.wait()
    assert await thread.cancel(request_id="q") == first
    later.open()
    assert (await run.turn()).text == "done"
    assert await thread.cancel(request_id="q") == first


async def test_a_repeated_cancel_that_came_too_late_does_not_touch_a_later_run(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_end, later = Gate(), Gate()
    here.agent("one", [later, "two"])
    thread = await here.thread()
    threads = here.storage.backend.threads
    append = threads.append

    async def held(write: Write) -> Written:
        if write.checkpoint.status is Status.COMPLETED:
            monkeypatch.undo()
            await at_the_end.pass_through()
        return await append(write)

    monkeypatch.setattr(threads, "append", held)
    one = thread.stream()
    await at_the_end.wait()
    cancelling = asyncio.ensure_future(thread.cancel(request_id="q"))
    while await threads.find_request(ThreadKey("", thread.id), request_hash("q")) is None:  # noqa: ASYNC110 - no backend tells of it
        await asyncio.sleep(0)
    at_the_end.open()
    first = await cancelling
    assert (first["status"], (await one.turn()).text) == ("completed", "one")
    two = thread.stream("again")
    await later.wait()
    assert await thread.cancel(request_id="q") == first
    later.open()
    assert (await two.turn()).text == "two"


async def test_a_cancel_whose_run_died_before_it_could_stop_gives_it_up_when_it_comes_again(here: World) -> None:
    thread = (await standing(here, "interrupted")).thread
    key = ThreadKey("", thread.id)
    head = await here.storage.backend.threads.get_head(key)
    assert head is not None
    assert head.checkpoint is not None
    attempt = attempt_at(head.thread.uid, head.checkpoint)
    mutation = Mutation(request_id="q")

    async def cancel() -> Checkpoint:
        return await commands.cancel(here.storage, key, mutation=mutation, options=RunOptions())

    # What was left of a first call, whose server is gone with the run.
    assert await leave_word(here.storage, key, attempt, RequestLog(here.storage, key, "cancel", mutation).record())
    ended = await cancel()
    assert (ended.status, ended.version) == (Status.FAILED, attempt.seen + 1)
    await thread.retry()
    assert await cancel() == ended


async def test_two_cancels_at_once_answer_alike(world: World) -> None:
    at = await standing(world, "running")
    one, other = await asyncio.gather(at.thread.cancel(), at.thread.cancel())
    assert one == other


async def test_a_cancel_voids_the_answers_of_a_half_answered_question_too(world: World) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    world.agent([ask("pay", amount=1), ask("pay", amount=2)], "ok", tools=[pay], approve=True)
    thread = await world.thread()
    first, _ = (await thread.send()).approvals
    await thread.decide({first: True})
    await thread.cancel()
    turn = await thread.retry()
    assert (turn.status, len(turn.approvals), paid) == ("suspended", 2, [])


async def test_a_cancelled_suspended_run_asks_its_questions_anew_when_it_is_retried(world: World) -> None:
    at = await standing(world, "suspended")
    await at.thread.cancel()
    with refused("resume_invalid"):
        await at.thread.decide({at.approval: True})
    turn = await at.thread.retry()
    assert turn.status == "suspended"
    assert turn.approvals != [at.approval]
    assert (await at.thread.decide({turn.approvals[0]: True})).status == "completed"
