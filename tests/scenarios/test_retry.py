"""Retry: a failed run goes on from the step that failed; of two at once one wins."""

from __future__ import annotations

import asyncio

from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.world import World, head_of, refused, snapshot


async def test_retry_continues_from_the_failed_step_in_the_same_run(world: World) -> None:
    def note() -> str:
        return "noted"

    model = world.agent(ask("note"), rejected(), "ok", tools=[note])
    thread = await world.thread()
    failed = await thread.send()
    turn = await thread.retry()
    assert (turn.run_id, turn.text) == (failed.run_id, "ok")
    assert [event.data["attempt"] for event in turn.of("run_started")] == [2]
    assert model.heard(1) == model.heard(2), "the failed step is asked again, and no other"


async def test_every_retry_counts_an_attempt(world: World) -> None:
    world.agent(rejected(), rejected(), "ok")
    thread = await world.thread()
    await thread.send()
    await thread.retry()
    await thread.retry()
    assert (await head_of(thread))["attempt"] == 3


async def test_of_two_retries_one_wins_and_the_other_finds_the_head_completed(world: World) -> None:
    gate = Gate()
    model = world.agent(rejected(), [gate, "ok"])
    thread = await world.thread()
    await thread.send()
    winner = thread.stream_retry()
    await gate.wait()
    loser = thread.stream_retry()
    await loser.until("run_queued")
    gate.open()
    assert (await winner.turn()).text == "ok"
    before = await snapshot(thread)
    with refused("resume_invalid"):
        await loser.turn()
    assert await snapshot(thread) == before
    assert len(model.requests) == 2


async def test_of_two_retries_where_the_first_fails_again_the_second_continues(world: World) -> None:
    gate = Gate()
    world.agent(rejected(), [gate, rejected()], "ok")
    thread = await world.thread()
    await thread.send()
    first = thread.stream_retry()
    await gate.wait()
    second = thread.stream_retry()
    await second.until("run_queued")
    gate.open()
    assert (await first.turn()).failure == "model_rejected"
    assert (await second.turn()).text == "ok"


async def test_a_retry_of_an_interrupted_run_is_a_write_of_its_own(world: World) -> None:
    at = await standing(world, "interrupted")
    turn = await at.thread.retry()
    assert turn.text == "ok"
    assert [each["source"] for each in await at.thread.history()] == ["step", "retry", "input"]


async def test_retry_after_a_new_turn_does_not_go_back_to_the_old_one(world: World) -> None:
    world.agent(rejected(), "ok")
    thread = await world.thread()
    await thread.send()
    await thread.send("again")
    with refused("resume_invalid"):
        await thread.retry()


async def test_retries_at_once_on_many_threads_do_not_meet(world: World) -> None:
    world.agent(*[rejected()] * 5, "ok")
    threads = [await world.thread(f"t{number}") for number in range(5)]
    for thread in threads:
        await thread.send()
    turns = await asyncio.gather(*(thread.retry() for thread in threads))
    assert {turn.text for turn in turns} == {"ok"}
