"""Promise 12: delete is final, whatever goes on in the thread at that moment."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew_storage import Write, Written
from clew_storage.sqlite import appends
from tests.faults import figures
from tests.faults.deletes import CANARY, CONTENT, all_ended, ended_badly
from tests.faults.plans import PlanModel
from tests.faults.worlds import sqlite_world
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.scripts import Gate
from tests.scenarios.world import Handle, InProcess, Surface, World, refused

PLAN = f"{CANARY}|lookup lookup"


async def lookup() -> str:
    """A tool that takes a few turns of the event loop."""
    for _ in range(3):
        await asyncio.sleep(0)
    return CANARY


async def run(thread: Handle, dice: random.Random) -> None:
    """A turn with a call in it."""
    await thread.send(PLAN, state={"secret": CANARY})


async def decided(thread: Handle, dice: random.Random) -> None:
    """A turn that waits for a person, who answers."""
    turn = await thread.send(PLAN, state={"secret": CANARY})
    if turn.status == "suspended":
        await thread.decide(dict.fromkeys(turn.approvals, dice.choice((True, False, {"reject": CANARY}))))


async def retried(thread: Handle, dice: random.Random) -> None:
    """A turn that is cancelled in the middle and goes on."""
    reader = thread.stream(PLAN)
    await reader.until("tool_call_started")
    await thread.cancel()
    await thread.retry()


async def watched(thread: Handle, dice: random.Random) -> None:
    """A turn with someone who looks on."""
    turn = thread.stream(PLAN)
    await turn.until("checkpoint_written")
    await all_ended(thread.watch(0).turn(), turn.turn())


async def waited(thread: Handle, dice: random.Random) -> None:
    """Turns that wait for each other."""
    await all_ended(*(thread.send(PLAN) for _ in range(3)))


SCENES: tuple[Callable[[Handle, random.Random], Awaitable[None]], ...] = (run, decided, retried, watched, waited)


async def race(world: World, number: int, dice: random.Random, pause_s: float) -> list[str]:
    """A scene, and in the middle of it a delete; what is wrong with what is left."""
    app = "asking" if (scene := dice.choice(SCENES)) is decided else "calling"
    thread = await world.thread(f"{scene.__name__}-{number}", app=app)
    playing = asyncio.ensure_future(scene(thread, dice))
    # A moment that depends on nothing: so many turns of the event loop, or so long on the way to a server.
    for _ in range(dice.randrange(60)):
        await asyncio.sleep(pause_s)
    existed = await thread.delete()
    wrong = await ended_badly(thread.id, playing, within_s=10)
    if existed and scene is not waited and (back := await thread.history()):
        wrong.append(f"{thread.id}: was deleted, and is back: {back[0]}")
    # Of several turns that wait for each other one may have come after the delete, and made another thread.
    existed = await thread.delete() or existed
    if not existed and await thread.history():
        wrong.append(f"{thread.id}: was never there, and has a history")
    return wrong


@pytest.mark.parametrize(("surface", "pause_s"), [(InProcess, 0.0), (OverGrpc, 0.0005)])
async def test_nothing_is_left_of_a_thread_that_is_deleted_in_the_middle(
    tmp_path: Path, surface: Surface, pause_s: float
) -> None:
    database = tmp_path / "clew.db"
    dice = random.Random(12)
    races, wrong = figures.times(100, 300), list[str]()
    async with sqlite_world(database, surface) as world:
        serve(world)
        for number in range(races):
            wrong += await race(world, number, dice, pause_s)
    wrong += left_over(database)
    figures.record(
        figures.Figure(
            12,
            f"delete in the middle, {getattr(surface, '__name__', '')}",
            races,
            other=len(wrong),
            variants=("no fence, delete",),
        )
    )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("fenced", [True, False])
async def test_a_write_that_comes_after_the_delete_is_kept_out_by_the_fence_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fenced: bool
) -> None:
    if not fenced:
        monkeypatch.setattr(appends, "_refuse", lambda *_, **__: None)
    database = tmp_path / "clew.db"
    at_disk = Gate()
    async with sqlite_world(database) as world:
        serve(world)
        thread = await world.thread("late", app="calling")
        append = world.storage.backend.threads.append

        async def slow(write: Write) -> Written:
            if write.checkpoint.version >= 3:
                await at_disk.pass_through()
            return await append(write)

        monkeypatch.setattr(world.storage.backend.threads, "append", slow)
        turn = thread.stream(PLAN)
        await at_disk.wait()
        assert await thread.delete()
        at_disk.open()
        with refused("thread_not_found"):
            await turn.turn()
    assert (left_over(database) == []) is fenced
    if not fenced:
        figures.catch("no fence, delete")


def serve(world: World) -> None:
    """An agent whose calls run, and one whose calls wait for a person."""
    world.agent(name="calling", model=PlanModel(), tools=[lookup])
    world.agent(name="asking", model=PlanModel(), tools=[lookup], approve=["lookup"])


def left_over(database: Path) -> list[str]:
    """Rows and bytes of content that a file still has, in which every thread was deleted."""
    wrong = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert set(CONTENT) < set(tables)
        for table in tables:
            rows = connection.execute(f"SELECT * FROM {table}").fetchall()
            if table in CONTENT and rows:
                wrong.append(f"{table} has {len(rows)} rows: {rows[:2]}")
            wrong += [f"{table} holds the canary: {row}" for row in rows if CANARY.encode() in repr(row).encode()]
    for file in database.parent.glob(f"{database.name}*"):
        if times := file.read_bytes().count(CANARY.encode()):
            wrong.append(f"{file.name} holds the canary {times} times in bytes that no row owns")
    return wrong
