"""Recovery: a run that died is taken up by itself, a few times, and by nobody beside another."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine import ClewError, Storage, Workflow
from clew_engine.options import Recover
from clew_storage import ThreadKey
from tests.scenarios.payments import Payment
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.sights import Reader
from tests.scenarios.world import Handle, World, head_of, refused

KEY = ThreadKey("", "t")


@pytest.fixture
def auto(here: World) -> World:
    """A world that takes up what died, when the test says so."""
    here.tune(recover=Recover.AUTO, recover_s=3600.0, recover_pause_s=10.0)
    return here


async def died(world: World, *answers: Any, **settings: Any) -> Handle:
    """A thread whose run died in its first model step; `answers` are the model's from then on."""
    gate = Gate()
    world.agent(gate, *(answers or ("ok",)), **settings)
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await world.interrupt()
    await run.gone()
    return thread


async def taken_up(world: World) -> int:
    """One look for what died."""
    return await world.storage.recovery.sweep()


async def ended(thread: Handle) -> Any:
    """Wait until the thread's run is over, and give its turn."""
    return await thread.watch().turn()


async def sources(thread: Handle) -> list[str]:
    """What wrote the line, oldest first."""
    return [each["source"] for each in reversed(await thread.history())]


async def test_a_run_that_died_is_taken_up_and_finished(auto: World) -> None:
    thread = await died(auto)
    assert await taken_up(auto) == 1
    assert (await ended(thread)).text == "ok"
    assert await sources(thread) == ["input", "retry", "step"]
    assert (await head_of(thread))["attempt"] == 2
    assert await taken_up(auto) == 0


async def test_without_being_told_to_nobody_takes_it_up(here: World) -> None:
    thread = await died(here)
    await here.storage.open()
    assert here.storage.recovery._task is None
    with refused("thread_interrupted"):
        await thread.watch().turn()


async def test_finished_calls_are_not_run_again(auto: World) -> None:
    gate, ran = Gate(), []

    def quick() -> str:
        ran.append("quick")
        return "quick"

    async def slow() -> str:
        ran.append("slow")
        if ran.count("slow") == 1:
            await gate.pass_through()
        return "slow"

    auto.agent(ask("quick"), ask("slow"), "ok", tools=[quick, slow])
    thread = await auto.thread()
    run = thread.stream()
    await gate.wait()
    await auto.interrupt()
    await run.gone()
    assert await taken_up(auto) == 1
    assert (await ended(thread)).text == "ok"
    assert ran == ["quick", "slow", "slow"]


async def test_a_once_call_in_flight_is_asked_about_and_not_run_again(auto: World) -> None:
    payment = Payment(auto)
    thread = await auto.thread()
    run = thread.stream()
    await payment.gate.wait()
    await auto.interrupt()
    await run.gone()
    assert await taken_up(auto) == 1
    assert (await ended(thread)).status == "suspended"
    assert [each["kind"] for each in await thread.approvals()] == ["tool_outcome"]
    assert len(payment.keys) == 1
    assert await taken_up(auto) == 0


async def dies_again(world: World, gate: Gate) -> None:
    """The attempt that was just begun stands at the gate, and dies there."""
    await gate.wait()
    gate.reached.clear()
    await world.interrupt()


async def test_attempts_that_come_to_nothing_are_made_so_often_and_no_more(auto: World) -> None:
    auto.tune(recover_tries=3)
    gate = Gate()
    thread = await died(auto, gate, gate, gate, "by hand")
    for _ in range(3):
        assert await taken_up(auto) == 1
        await dies_again(auto, gate)
        auto.clock.advance(3600)
    assert await taken_up(auto) == 0
    assert await sources(thread) == ["input", "retry", "retry", "retry"]
    assert (await thread.info())["run"]["state"] == "interrupted"
    assert (await thread.retry()).text == "by hand"


async def test_a_process_that_comes_new_counts_what_the_others_tried(auto: World) -> None:
    auto.tune(recover_tries=1)
    gate = Gate()
    thread = await died(auto, gate, "by hand")
    assert await taken_up(auto) == 1
    await dies_again(auto, gate)
    auto.clock.advance(3600)
    other = Storage(auto.storage.backend, tuning=auto.tuning, clock=auto.clock)
    other.programs.update(auto.storage.programs)
    assert await other.recovery.sweep() == 0
    assert (await thread.retry()).text == "by hand"


async def test_an_attempt_that_wrote_something_counts_anew(auto: World) -> None:
    auto.tune(recover_tries=1)
    gate = Gate()

    def note() -> str:
        return "noted"

    thread = await died(auto, ask("note"), gate, "ok", tools=[note])
    assert await taken_up(auto) == 1
    await dies_again(auto, gate)
    auto.clock.advance(3600)
    assert await taken_up(auto) == 1
    assert (await ended(thread)).text == "ok"
    assert await sources(thread) == ["input", "retry", "step", "step", "retry", "step"]


async def test_the_pause_doubles_with_each_attempt_that_came_to_nothing(auto: World) -> None:
    gate = Gate()
    thread = await died(auto, gate, gate, "ok")
    assert await taken_up(auto) == 1, "the first is not waited for"
    for pause in (10, 20):
        await dies_again(auto, gate)
        auto.clock.advance(pause - 1)
        assert await taken_up(auto) == 0
        auto.clock.advance(1)
        assert await taken_up(auto) == 1
    assert (await ended(thread)).text == "ok"


async def test_a_run_of_this_process_is_never_taken_up(auto: World) -> None:
    gate = Gate()
    auto.agent([gate, "done"])
    thread = await auto.thread()
    run = thread.stream()
    await gate.wait()
    assert await taken_up(auto) == 0
    gate.open()
    assert (await run.turn()).text == "done"
    assert await sources(thread) == ["input", "step"]


async def test_a_failed_run_is_left_to_people(auto: World) -> None:
    gate = Gate()
    auto.agent([gate, "never"])
    thread = await auto.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    await run.turn()
    assert await taken_up(auto) == 0
    assert (await head_of(thread))["status"] == "failed"


async def test_a_run_that_was_to_be_cancelled_when_it_died_is_cancelled(auto: World) -> None:
    gate = Gate()
    model = auto.agent(gate, "never")
    thread = await auto.thread()
    run = thread.stream()
    await gate.wait()
    live = auto.storage.live[KEY].thread
    assert live.head is not None
    await auto.storage.backend.threads.request_cancel(KEY, live.uid, live.head.run_version, live.head.attempt)
    await auto.interrupt()
    await run.gone()
    assert await taken_up(auto) == 1
    head = await head_of(thread)
    assert (head["status"], head["failure_code"]) == ("failed", "cancelled")
    assert len(model.requests) == 1


async def test_who_watches_sees_the_run_go_on(auto: World) -> None:
    thread = await died(auto)
    watch = thread.watch()
    await watch.until("checkpoint_written")
    assert not watch.over
    assert await taken_up(auto) == 1
    turn = await watch.turn()
    assert (turn.text, [each.data["attempt"] for each in turn.of("run_started")]) == ("ok", [1, 2])


async def test_who_watches_is_told_when_nothing_comes_by_itself_any_more(auto: World) -> None:
    auto.tune(recover_tries=1)
    gate = Gate()
    thread = await died(auto, gate)
    assert await taken_up(auto) == 1
    await dies_again(auto, gate)
    with refused("thread_interrupted"):
        await thread.watch().turn()


async def test_a_send_is_refused_until_the_run_is_taken_up_and_then_waits(auto: World) -> None:
    gate = Gate()
    thread = await died(auto, [gate, "first"], "second")
    with refused("thread_interrupted"):
        await thread.send("early")
    assert await taken_up(auto) == 1
    await gate.wait()
    later = thread.stream("later")
    await later.until("run_queued")
    gate.open()
    assert (await later.turn()).text == "second"
    assert await sources(thread) == ["input", "retry", "step", "input", "step"]


async def test_a_person_who_retries_meanwhile_is_the_one_who_does(auto: World) -> None:
    gate = Gate()
    thread = await died(auto, [gate, "by hand"])
    by_hand = thread.stream_retry()
    await gate.wait()
    assert await taken_up(auto) == 0
    gate.open()
    assert (await by_hand.turn()).text == "by hand"
    assert (await head_of(thread))["attempt"] == 2


async def test_a_thread_of_an_app_that_is_not_here_is_left_alone(auto: World) -> None:
    thread = await died(auto)
    other = Storage(auto.storage.backend, tuning=auto.tuning, clock=auto.clock)
    assert await other.recovery.sweep() == 0
    assert await sources(thread) == ["input"]


async def test_what_this_version_cannot_go_on_with_is_left_to_people(auto: World) -> None:
    gate = Gate()

    def flow(name: str) -> Workflow:
        made = Workflow("app")

        async def work(state: Any) -> dict[str, Any]:
            await gate.pass_through()
            return {"done": True}

        made.node(work, name=name)
        made.start(name)
        return made

    auto.workflow(flow("old"))
    thread = await auto.thread()
    run: Reader = thread.stream({"a": 1})
    await gate.wait()
    await auto.interrupt()
    await run.gone()
    auto.storage.know(flow("new").compile(auto.storage).program)
    assert await taken_up(auto) == 0
    assert await sources(thread) == ["input"]
    with refused("thread_interrupted"):
        await thread.watch().turn()


async def test_a_server_that_shuts_down_takes_nothing_up(auto: World) -> None:
    thread = await died(auto)
    await auto.storage.drain(0)
    assert await taken_up(auto) == 0
    assert await sources(thread) == ["input"]


async def test_it_is_looked_for_again_and_again_by_itself(here: World) -> None:
    here.tune(recover=Recover.AUTO, recover_s=0.02)
    thread = await died(here)
    assert (await ended(thread)).text == "ok"


def test_another_word_is_refused() -> None:
    with pytest.raises(ClewError, match="'always' is none of manual, auto"):
        Storage("memory://", recover="always")
