"""The inbox: approvals across threads, all that wait, then a mark, then every change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from clew_engine import reads
from clew_engine.approval_feed import ApprovalFilter, ApprovalNews
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask
from tests.scenarios.world import World, refused


class Inbox:
    """Reads the feed, one piece of news at a time."""

    def __init__(self, feed: AsyncIterator[list[ApprovalNews]]) -> None:
        self._feed = feed
        self._read: list[ApprovalNews] = []

    async def next(self) -> tuple[str, str]:
        """Thread and state of the next approval, or the mark."""
        async with asyncio.timeout(10):
            while not self._read:
                self._read += await anext(self._feed)
        news = self._read.pop(0)
        return (news.approval.thread_id, news.approval.state.value) if news.approval else ("", "mark")

    def silent(self) -> bool:
        """Whether nothing is left that was read."""
        return not self._read


@asynccontextmanager
async def inbox(world: World, **where: str) -> AsyncIterator[Inbox]:
    """The feed of what is asked for."""
    await world.storage.open()
    async with aclosing(world.storage.approval_feed.watch(world.storage, ApprovalFilter(**where))) as feed:
        yield Inbox(feed)


def serve(world: World) -> None:
    """An agent whose every turn asks for a refund."""
    world.agent(*[ask("refund", amount=1)] * 5, "ok", tools=[refund], approve=True, approval_ttl=60)


async def test_all_that_waits_comes_first_then_the_mark_then_what_is_new(here: World) -> None:
    serve(here)
    for name in ("a", "b"):
        await (await here.thread(name)).send()
    async with inbox(here) as news:
        assert [await news.next() for _ in range(3)] == [("a", "pending"), ("b", "pending"), ("", "mark")]
        await (await here.thread("c")).send()
        assert await news.next() == ("c", "pending")


async def test_every_end_of_an_approval_is_told(here: World) -> None:
    serve(here)
    threads = {name: await here.thread(name) for name in ("approved", "rejected", "cancelled", "deleted", "expired")}
    asked = {name: (await thread.send()).approvals[0] for name, thread in threads.items()}
    async with inbox(here) as news:
        assert [(await news.next())[1] for _ in range(6)] == ["pending"] * 5 + ["mark"]
        await threads["approved"].decide({asked["approved"]: True})
        assert await news.next() == ("approved", "approved")
        await threads["rejected"].decide({asked["rejected"]: False})
        assert await news.next() == ("rejected", "rejected")
        await threads["cancelled"].cancel()
        assert await news.next() == ("cancelled", "void")
        await threads["deleted"].delete()
        assert await news.next() == ("deleted", "void")
        here.clock.advance(61)
        await here.sweep()
        assert await news.next() == ("expired", "expired")
        assert news.silent()


async def test_an_approval_issued_anew_is_told_after_the_end_of_the_old_one(here: World) -> None:
    serve(here)
    thread = await here.thread("a")
    await thread.send()
    suspended = (await thread.history())[0]["id"]
    async with inbox(here) as news:
        await news.next()
        await news.next()
        await thread.rewind(suspended)
        assert sorted([await news.next(), await news.next()]) == [("a", "pending"), ("a", "void")]


async def test_a_filter_takes_what_it_names_and_nothing_else(here: World) -> None:
    serve(here)
    await (await here.thread("a")).send(user_id="ada")
    await (await here.thread("b")).send(user_id="bob")
    for where, expected in (
        ({"thread_id": "b"}, ["b"]),
        ({"user_id": "ada"}, ["a"]),
        ({"app": "app"}, ["a", "b"]),
        ({"app": "other"}, []),
        ({"tenant": "acme"}, []),
    ):
        async with inbox(here, **where) as news:
            found = [(await news.next())[0] for _ in range(len(expected) + 1)]
            assert found == [*expected, ""]


async def test_the_list_is_oldest_first_page_by_page(here: World) -> None:
    serve(here)
    for name in ("a", "b", "c"):
        await (await here.thread(name)).send()
    found: list[str] = []
    token = ""
    while True:
        page = await reads.list_approvals(
            here.storage, "", thread_id="", user_id="", app="", states=(), size=2, token=token
        )
        found += [approval.thread_id for approval in page.items]
        token = page.next_token
        if not token:
            break
    assert found == ["a", "b", "c"]


async def test_the_end_of_the_feed_is_told_with_what_to_do(here: World) -> None:
    serve(here)
    async with inbox(here) as news:
        assert await news.next() == ("", "mark")
        here.storage.approval_feed.end("the server is shutting down")
        with refused("stream_cut"):
            await news.next()


async def test_a_reader_that_does_not_keep_up_is_cut_off(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew_engine.approval_feed._BEHIND", 2)
    serve(here)
    async with inbox(here) as news:
        await news.next()
        for name in ("a", "b", "c", "d"):
            assert (await (await here.thread(name)).send()).status == "suspended", "nobody is held back"
        with refused("stream_cut"):
            while True:
                await news.next()
