"""A file that another process serves, opened with `?mode=ro`: what cannot be seen from here is not claimed, and nothing is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.conftest import SURFACES
from tests.scenarios.heads import standing
from tests.scenarios.world import Handle, InProcess, World, refused


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[World]:
    """Whoever owns the file."""
    made = World(f"sqlite://{tmp_path / 'clew.db'}", InProcess)
    yield made
    await made.close()


@pytest.fixture(params=SURFACES)
async def reading(request: pytest.FixtureRequest, served: World) -> AsyncIterator[World]:
    """Somebody else, who opens it for reading."""
    made = World(f"{served.url}?mode=ro", SURFACES[request.param])
    made.agent()
    yield made
    await made.close()


async def state_of_run(thread: Handle) -> str:
    """What the thread says of its run."""
    return str((await thread.info())["run"]["state"])


@pytest.mark.parametrize("head", ["running", "interrupted"])
async def test_whether_a_run_is_alive_is_not_told(served: World, reading: World, head: str) -> None:
    at = await standing(served, head)
    thread = await reading.thread()
    assert (await thread.info())["status"] == "in_progress"
    assert await state_of_run(thread) == ""
    assert await state_of_run(at.thread) == head
    await at.finish()


async def test_what_is_at_rest_is_read_as_it_is(served: World, reading: World) -> None:
    at = await standing(served, "suspended")
    thread = await reading.thread()
    assert await thread.info() == await at.thread.info()
    assert await thread.messages() == await at.thread.messages()
    assert await thread.history() == await at.thread.history()
    assert (await thread.watch().turn()).status == "suspended"


async def test_a_run_that_is_not_seen_is_not_said_to_be_interrupted(served: World, reading: World) -> None:
    at = await standing(served, "running")
    thread = await reading.thread()
    for call in (
        thread.send(),
        thread.retry(),
        thread.decide({"0000000000000000.a1.0": True}),
        thread.rewind(at.checkpoint),
        thread.cancel(),
        thread.delete(),
        thread.update_state({"a": 1}),
        thread.append_messages([{"role": "user", "content": "more"}]),
        thread.delete_message("m1.0"),
        thread.copy("copy"),
    ):
        with refused("storage_unavailable") as raised:
            await call
        assert "mode=ro" in str(raised.value)
    await at.finish()
    assert (await at.thread.info())["version"] == 2


@pytest.mark.timeout(20)
async def test_what_is_not_seen_is_not_waited_for(served: World, reading: World) -> None:
    at = await standing(served, "running")
    thread = await reading.thread()
    for follow in (False, True):
        watch = thread.watch(follow=follow)
        with refused("storage_unavailable"):
            await watch.turn()
        assert [event.type for event in watch.seen] == ["run_started", "checkpoint_written"]
    await at.finish()
