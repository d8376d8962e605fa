"""Retention under way while threads are used: no sweep breaks a call, and nothing that was acknowledged goes unseen."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Retention, Retired
from clew_storage import Grant, ThreadKey, ThreadRecord
from clew_storage.lines import Line
from clew_storage.local_leases import LocalLeases
from clew_storage.sqlite import deletions, trims
from tests.faults import figures
from tests.faults.plans import PlanModel
from tests.faults.worlds import sqlite_world
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.scripts import Gate
from tests.scenarios.world import ERRORS, Handle, InProcess, Surface, World

PLAN = "tag|lookup lookup|lookup"
EVERYTHING = Retention(dict.fromkeys(("completed", "failed", "interrupted"), 0.0), keep_last=1)
TRIMS = Retention(keep_last=1)
# Between two calls a thread may be nobody's, and go: what comes then finds none.
GONE = {"thread_not_found", "resume_invalid"}


async def lookup() -> str:
    """A tool that takes a few turns of the event loop."""
    for _ in range(3):
        await asyncio.sleep(0)
    return "found"


async def sent(thread: Handle, dice: random.Random) -> None:
    """A turn: nobody may break it."""
    assert (await thread.send(PLAN)).text == "done tag"


async def waited(thread: Handle, dice: random.Random) -> int:
    """Turns that wait for each other."""
    turns = await asyncio.gather(*(thread.send(PLAN) for _ in range(3)))
    assert [turn.text for turn in turns] == ["done tag"] * 3
    return 3


async def decided(thread: Handle, dice: random.Random) -> None:
    """A turn that waits for a person, who answers: meanwhile it is nobody's to delete."""
    turn = await thread.send(PLAN)
    while turn.status == "suspended":
        turn = await thread.decide(dict.fromkeys(turn.approvals, dice.choice((True, False))))
    assert turn.text == "done tag"


async def retried(thread: Handle, dice: random.Random) -> None:
    """A turn that is cancelled in the middle and goes on, unless it went between the two."""
    reader = thread.stream(PLAN)
    await reader.until("tool_call_started")
    await unless_gone(thread.cancel())
    await reader.gone()
    await unless_gone(thread.retry())


async def watched(thread: Handle, dice: random.Random) -> None:
    """A turn, and someone who looks on from the beginning and may be told that it went."""
    turn = thread.stream(PLAN)
    await turn.until("checkpoint_written")
    await asyncio.gather(turn.turn(), unless_gone(thread.watch(0).turn()))


async def deleted(thread: Handle, dice: random.Random) -> None:
    """A turn, and a delete by its owner."""
    await thread.send(PLAN)
    await thread.delete()


async def rewound(thread: Handle, dice: random.Random) -> int:
    """Two turns, of which the second is taken back, unless it was too late for that."""
    await thread.send(PLAN)
    history = await thread.history()
    await thread.send(PLAN)
    if not history:
        # It went between the two.
        return 2
    try:
        await thread.rewind(history[0]["id"])
    except ERRORS as error:
        if getattr(error, "code", "") not in {*GONE, "checkpoint_not_found"}:
            raise
        return 2
    return 1


async def unless_gone(call: Any) -> None:
    """A call that may find no thread."""
    try:
        await call
    except ERRORS as error:
        if getattr(error, "code", "") not in GONE:
            raise


Scene = Callable[[Handle, random.Random], Any]
SCENES: Sequence[Scene] = (sent, waited, decided, retried, watched, deleted, rewound)


@asynccontextmanager
async def sweeping(world: World, policy: Retention, dice: random.Random) -> AsyncIterator[list[int]]:
    """Sweeps, one after the other, for as long as the block; how many threads each let go."""
    done: list[int] = []

    async def sweep() -> None:
        while True:
            done.append(len([each async for each in world.storage.retire(policy)]))
            for _ in range(dice.randrange(1, 30)):
                await asyncio.sleep(0)

    task = asyncio.ensure_future(sweep())
    try:
        yield done
    finally:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()


def serve(world: World) -> None:
    """An agent whose calls run, and one whose calls wait for a person."""
    world.agent(name="calling", model=PlanModel(), tools=[lookup])
    world.agent(name="asking", model=PlanModel(), tools=[lookup], approve=["lookup"])


async def met(scene: Scene, thread: Handle, dice: random.Random) -> tuple[list[str], int]:
    """Play a scene; what is wrong with how it ended, and how many turns it left (one, where it does not say)."""
    try:
        async with asyncio.timeout(20):
            return [], await scene(thread, dice) or 1
    except Exception as error:  # noqa: BLE001 - how it ends is what is judged
        return [f"{thread.id}: {error!r}"], 1


async def what_is_wrong(thread: Handle, turns: int) -> list[str]:
    """What a thread that is left shows: all its turns, each call with one result, a state, and a history that ends where it is cut."""
    messages = await thread.messages()
    asked = [part["id"] for each in messages for part in each["content"] if part["type"] == "tool_call"]
    answered = [part["tool_call_id"] for each in messages for part in each["content"] if part["type"] == "tool_result"]
    said = [each["content"][0]["text"] for each in messages if each["role"] == "user"]
    wrong = [] if sorted(asked) == sorted(answered) else [f"{thread.id}: calls {asked}, results {answered}"]
    if said != [PLAN] * turns:
        wrong.append(f"{thread.id}: of {turns} turns are left {said}")
    for each in await thread.history():
        try:
            await thread.state(each["id"])
        except ERRORS as error:
            wrong.append(f"{thread.id}: no state at version {each['version']}: {error}")
    return wrong


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
@pytest.mark.parametrize(
    ("policy", "variant"),
    [(EVERYTHING, "a sweep does not look again"), (TRIMS, "a trim takes messages along")],
    ids=["deletes", "trims"],
)
async def test_no_sweep_breaks_what_goes_on_in_a_thread(
    tmp_path: Path, surface: Surface, policy: Retention, variant: str
) -> None:
    dice, name = random.Random(5), getattr(surface, "__name__", "")
    races, wrong, left = figures.times(24, 200), list[str](), list[tuple[Handle, int]]()
    async with sqlite_world(tmp_path / "clew.db", surface) as world:
        serve(world)
        await world.thread("first", app="calling")
        async with sweeping(world, policy, dice) as swept:
            for number in range(races):
                scene = SCENES[number % len(SCENES)]
                thread = await world.thread(
                    f"{scene.__name__}-{number}", app="asking" if scene is decided else "calling"
                )
                problems, turns = await met(scene, thread, dice)
                wrong += problems
                if policy is TRIMS and scene is not deleted:
                    left.append((thread, turns))
        for thread, turns in left:
            wrong += await what_is_wrong(thread, turns)
        assert sum(swept) > races / 4, "the sweeps had something to do"
    what = f"retention meanwhile, {'trims' if policy is TRIMS else 'deletes'}, {name}"
    figures.record(figures.Figure(12, what, races, other=len(wrong), variants=(f"{variant}, {name}",)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_a_sweep_that_does_not_look_again_is_seen(
    tmp_path: Path, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whoever_holds_them(leases: LocalLeases, keys: Iterable[ThreadKey], *, purpose: str) -> list[Grant]:
        return [Grant(key, leases.next_epoch(), purpose) for key in keys]

    monkeypatch.setattr(LocalLeases, "take_free", whoever_holds_them)
    monkeypatch.setattr(deletions, "_is_as", lambda *_: True)
    async with sqlite_world(tmp_path / "clew.db", surface) as world:

        async def end_the_sweep() -> None:
            at_disk.open()
            await sweep

        world.agent("done tag", [end_the_sweep, "done tag"], name="late")
        thread = await world.thread("late", app="late")
        assert await met(sent, thread, random.Random(0)) == ([], 1)
        async with held_sweep(world, monkeypatch) as (sweep, at_disk):
            ((wrong,), _) = await met(sent, thread, random.Random(0))
    assert "was deleted" in wrong
    figures.catch(f"a sweep does not look again, {getattr(surface, '__name__', '')}")


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_a_trim_that_takes_messages_along_is_seen(
    tmp_path: Path, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    def what_lies_below(rows: Iterator[tuple[int, int, int]], _: Line, oldest: int) -> Iterator[int]:
        return (key for _, version, key in rows if version < oldest)

    monkeypatch.setattr(trims, "_unseen", what_lies_below)
    async with sqlite_world(tmp_path / "clew.db", surface) as world:
        serve(world)
        thread = await world.thread("cut", app="calling")
        assert await met(sent, thread, random.Random(0)) == ([], 1)
        assert [each.thread_id async for each in world.storage.retire(TRIMS)] == ["cut"]
        assert any("turns are left" in each for each in await what_is_wrong(thread, 1))
    figures.catch(f"a trim takes messages along, {getattr(surface, '__name__', '')}")


@asynccontextmanager
async def held_sweep(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[asyncio.Future[Retired | None], Gate]]:
    """A sweep that has looked at what there is, and stands before its deletes."""
    at_disk, retention = Gate(), world.storage.backend.retention
    delete = retention.delete_idle

    async def slow(threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        await at_disk.pass_through()
        return await delete(threads, now_ms=now_ms)

    monkeypatch.setattr(retention, "delete_idle", slow)
    sweep = asyncio.ensure_future(anext(world.storage.retire(EVERYTHING), None))
    await at_disk.wait()
    yield sweep, at_disk
    at_disk.open()
    await sweep


@pytest.mark.parametrize("checked", [True, False])
async def test_a_turn_between_the_look_and_the_delete_is_kept_by_the_second_look_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    if not checked:
        monkeypatch.setattr(deletions, "_is_as", lambda *_: True)
    async with sqlite_world(tmp_path / "clew.db") as world:
        serve(world)
        thread = await world.thread("late", app="calling")
        await thread.send(PLAN)
        async with held_sweep(world, monkeypatch):
            assert (await thread.send(PLAN)).text == "done tag"
        assert (len(await thread.messages()) == 14) is checked
