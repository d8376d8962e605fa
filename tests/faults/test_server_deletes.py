"""Promise 12 on three servers: delete is final, through whichever server it comes, whatever another does with the thread at that moment."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.deletes import CANARY, CONTENT, all_ended, ended_badly
from tests.faults.fleets import Fleet
from tests.faults.postgres_schema import PostgresSchema
from tests.scenarios.world import Handle

pytestmark = pytest.mark.campaign

PLAN = f"{CANARY}|fetch fetch"
ASKING = f"{CANARY}|refund"
TOGETHER = 5
CALLERS, DELETES = 3, 10
Scene = Callable[[Callable[[], Handle], random.Random], Awaitable[None]]
Round = Callable[[Fleet, int, random.Random], Awaitable[list[str]]]


async def run(reach: Callable[[], Handle], _dice: random.Random) -> None:
    """A turn with calls in it."""
    await reach().send(PLAN, state={"secret": CANARY})


async def decided(reach: Callable[[], Handle], dice: random.Random) -> None:
    """A turn that waits for a person, who answers through another server."""
    turn = await reach().send(ASKING, state={"secret": CANARY})
    if turn.status == "suspended":
        await reach().decide(dict.fromkeys(turn.approvals, dice.choice((True, False, {"reject": CANARY}))))


async def retried(reach: Callable[[], Handle], _dice: random.Random) -> None:
    """A turn that is cancelled in the middle and goes on elsewhere."""
    reader = reach().stream(PLAN)
    await reader.until("tool_call_started")
    await reach().cancel()
    await reach().retry()


async def watched(reach: Callable[[], Handle], _dice: random.Random) -> None:
    """A turn with someone who looks on from another server."""
    turn = reach().stream(PLAN)
    await turn.until("checkpoint_written")
    await all_ended(reach().watch(0).turn(), turn.turn())


async def waited(reach: Callable[[], Handle], _dice: random.Random) -> None:
    """Turns on all servers that wait for each other."""
    await all_ended(*(reach().send(PLAN) for _ in range(3)))


SCENES: tuple[Scene, ...] = (run, decided, retried, watched, waited)


async def race(fleet: Fleet, number: int, dice: random.Random) -> list[str]:
    """A scene, and in the middle of it a delete; what is wrong with what is left."""
    scene = dice.choice(SCENES)
    thread_id = f"{scene.__name__}-{number}"

    def reach() -> Handle:
        return fleet.thread(thread_id)

    playing = asyncio.ensure_future(scene(reach, dice))
    # A moment that depends on nothing.
    await asyncio.wait({playing}, timeout=dice.uniform(0, 0.3))
    existed = await reach().delete()
    wrong = await ended_badly(thread_id, playing, within_s=20)
    # What a scene asks for after the delete may make another thread.
    if existed and scene in (run, watched) and (back := await reach().history()):
        wrong.append(f"{thread_id}: was deleted, and is back: {back[0]}")
    await reach().delete()
    return wrong


async def crowded(fleet: Fleet, number: int, dice: random.Random) -> list[str]:
    """Callers who send turn after turn to a thread that is deleted again and again: no run of it dies, so none may be told to be dead."""
    thread_id, over = f"crowd-{number}", asyncio.Event()

    async def sends() -> list[str]:
        wrong: list[str] = []
        while not over.is_set():
            wrong += await ended_badly(thread_id, _sent(fleet.thread(thread_id)), within_s=30)
        return wrong

    callers = asyncio.gather(*(sends() for _ in range(CALLERS)))
    for _ in range(DELETES):
        # A moment that depends on nothing.
        await asyncio.wait({callers}, timeout=dice.uniform(0, 0.4))
        await fleet.thread(thread_id).delete()
    over.set()
    found = await callers
    await fleet.thread(thread_id).delete()
    return [each for some in found for each in some]


async def _sent(thread: Handle) -> None:
    await thread.send(PLAN)


async def left_over(schema: PostgresSchema) -> list[str]:
    """Rows of content that are still there, although every thread was deleted, and whatever else holds something of it."""
    wrong = []
    async with schema.connected() as connection:
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema.name)
        assert {*CONTENT} < {table for (table,) in tables}
        for (table,) in tables:
            rows = await connection.fetch(f'SELECT * FROM "{table}"')
            if table in CONTENT and rows:
                wrong.append(f"{table} has {len(rows)} rows")
            wrong += [f"{table} holds the canary: {row}" for row in rows if CANARY in repr(row)]
    return wrong


async def races(fleet: Fleet, count: int, dice: random.Random) -> list[str]:
    """Races, and what is wrong with what is left of all."""
    return await _some_at_a_time(race, "races with a delete", fleet, count, dice) + await left_over(fleet.schema)


async def crowds(fleet: Fleet, count: int, dice: random.Random) -> list[str]:
    """Crowds, and what is wrong with what they were told."""
    return await _some_at_a_time(crowded, "crowds", fleet, count, dice)


async def _some_at_a_time(round_: Round, what: str, fleet: Fleet, count: int, dice: random.Random) -> list[str]:
    wrong: list[str] = []
    for number in range(0, count, TOGETHER):
        met = await asyncio.gather(*(round_(fleet, number + each, dice) for each in range(TOGETHER)))
        wrong += [each for some in met for each in some]
        figures.progress(what, number + TOGETHER, count)
    return wrong


async def test_nothing_is_left_of_a_thread_that_is_deleted_through_another_server(
    tmp_path: Path, postgres_dsn: str
) -> None:
    count, dice = figures.times(20, 300), random.Random(12)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=15.0) as fleet:
        wrong = await races(fleet, count, dice)
    what = "delete in the middle, through any of three servers"
    figures.record(figures.Figure(12, what, count, other=len(wrong), variants=("delete leaves messages",)))
    assert not wrong, "\n".join(wrong)


async def test_nobody_is_told_that_a_run_died_which_was_deleted(tmp_path: Path, postgres_dsn: str) -> None:
    count, dice = figures.times(5, 50), random.Random(13)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=15.0) as fleet:
        wrong = await crowds(fleet, count, dice)
    what = "delete again and again under callers who wait for each other"
    figures.record(figures.Figure(12, what, count * DELETES, other=len(wrong), variants=("void grants are judged",)))
    assert not wrong, "\n".join(wrong)
