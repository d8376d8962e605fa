"""A thread id is one URL path segment that needs no escaping, 1 to 128 characters, and not `.` or `..`."""

from __future__ import annotations

import pytest

from tests.scenarios.scripts import Gate
from tests.scenarios.world import World, refused

GOOD = ["t", "A-1", "user@example.org", "a:b", "~", "x" * 128, "!$&'()*+,;=", "...", "a.b_c-d"]
BAD = [
    "",
    ".",
    "..",
    "a/b",
    "../x",
    "a b",
    "a%20b",
    "a?b",
    "a#b",
    "a\x00b",
    "a\nb",
    "é",
    "🧵",
    "x" * 129,
    "x" * 10_000,
    "a\\b",
    "[a]",
]


@pytest.mark.parametrize("thread_id", GOOD, ids=lambda value: value[:12])
async def test_a_thread_may_be_called(world: World, thread_id: str) -> None:
    world.agent("ok")
    thread = await world.thread(thread_id)
    assert (await thread.send()).status == "completed"
    assert (await thread.info())["thread_id"] == thread_id
    assert await thread.delete() is True


@pytest.mark.parametrize("thread_id", BAD, ids=lambda value: ascii(value[:12]))
async def test_a_thread_may_not_be_called(world: World, thread_id: str) -> None:
    world.agent("ok")
    with refused("id_invalid"):
        await (await world.thread(thread_id)).info()
    good = await world.thread()
    await good.send()
    with refused("id_invalid"):
        await good.copy(thread_id)


@pytest.mark.parametrize("thread_id", [".", ".."])
async def test_the_names_of_folders_are_refused_by_what_they_are(world: World, thread_id: str) -> None:
    world.agent("ok")
    with refused("id_invalid") as refusal:
        await (await world.thread(thread_id)).info()
    assert "an id is neither `.` nor `..`" in str(refusal.value)


async def test_a_handle_without_an_id_is_refused_and_runs_nothing(world: World) -> None:
    model = world.agent("ok")
    with refused("id_invalid", field="thread_id") as refusal:
        await (await world.thread("")).send()
    assert str(refusal.value) == "thread_id: an id is needed: 1 to 128 characters"
    assert model.requests == []


async def test_ids_of_threads_know_case_and_nothing_is_normalised(world: World) -> None:
    world.agent("one", "two")
    await (await world.thread("a")).send()
    await (await world.thread("A")).send()
    assert len(await (await world.thread("a")).messages()) == 2


async def test_two_handles_on_one_id_are_the_same_conversation(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    run = (await world.thread("a")).stream()
    await gate.wait()
    with refused("thread_busy"):
        await (await world.thread("a", on_busy="reject")).send()
    gate.open()
    await run.turn()
    assert len(await (await world.thread("a")).messages()) == 2
