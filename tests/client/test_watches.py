"""Watches over a real connection: they begin, break, and end with what they follow."""

from __future__ import annotations

from clew import Client
from tests.client.scripted import ScriptedServer, broken, cut, for_ever, streams
from tests.client.telling import BEGINNING, turn, types


async def test_a_watch_that_is_left_cancels_nothing(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(BEGINNING, for_ever))
    async with client.thread("t-1").watch() as stream:
        async for _ in stream:
            break
    await server.left.wait()
    assert server.names() == ["Watch"]


async def test_a_watch_ends_when_the_thread_is_at_rest(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), turn(3)))
    seen = await types(client.thread("t-1").watch())
    assert seen.count("run_completed") == 2
    assert len(server.requests("Watch")) == 1


async def test_a_watch_of_a_run_ends_with_it(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), for_ever))
    assert (await types(client.thread("t-1").watch(run_id="u.r1")))[-1] == "run_completed"


async def test_a_watch_that_breaks_goes_on_after_its_cursor(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), broken), streams(cut), streams(turn(3), for_ever))
    seen = []
    async for each in client.thread("t-1").watch(follow=True):
        seen.append(each.version)
        if each.payload.terminal and each.version == 4:
            break
    assert sorted(set(seen)) == [1, 2, 3, 4]
    assert [request.after_version for request in server.requests("Watch")] == [0, 2, 2]
    assert [request.thread_uid for request in server.requests("Watch")] == ["", "u", "u"]


async def test_a_watch_that_follows_does_not_end_with_a_run(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn()), streams(turn(3), for_ever))
    async for each in client.thread("t-1").watch(follow=True):
        if each.version == 4:
            break
    assert len(server.requests("Watch")) == 2
