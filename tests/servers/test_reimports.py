"""A thread that is deleted and taken back from an older archive, while another server remembers it as it was."""

from __future__ import annotations

import io
from collections.abc import Callable

from tests.scenarios.world import World, refused

Make = Callable[[], World]


async def exported(world: World) -> io.BytesIO:
    """An archive of what the world's database has now."""
    archive = io.BytesIO()
    await world.storage.export(archive)
    archive.seek(0)
    return archive


async def taken_back(world: World, archive: io.BytesIO) -> None:
    """The thread of the archive in the place of the one that is there."""
    await (await world.thread()).delete()
    await world.storage.import_(archive)


async def test_a_server_that_remembers_it_goes_on_with_what_it_is_now(server: Make) -> None:
    here, there = server(), server()
    here.agent("first", "second")
    model = there.agent("forgotten", "third")
    await (await here.thread()).send("one")
    archive = await exported(here)
    forgotten = await (await there.thread()).send("to be forgotten")
    await taken_back(here, archive)
    second = await (await here.thread()).send("two")
    assert second.version == forgotten.version
    await (await there.thread()).send("three")
    said = ["one", "first", "two", "second", "three"]
    assert [text for _, text in model.heard()] == said
    assert [message["content"][0]["text"] for message in await (await there.thread()).messages()] == [*said, "third"]


async def test_a_watch_on_another_server_ends_though_it_saw_nothing_of_the_delete(server: Make) -> None:
    here, there = server(), server()
    here.agent("answer")
    # Time enough for a delete and an import after the look that finds the second run.
    there.tune(look_s=2)
    there.agent()
    thread = await here.thread()
    first = await thread.send("one")
    archive = await exported(here)
    watch = (await there.thread()).watch(after_version=first.version - 1, follow=True)
    await watch.until("run_completed")
    await thread.send("two")
    await watch.until("run_completed", 2)
    await taken_back(here, archive)
    with refused("thread_not_found"):
        await watch.until("run_completed", 3)
