"""Tokens of pages: they fit the listing they came from and no other, on every server of the database, and nobody makes one up."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from clew_engine import Storage
from clew_engine.errors import ArgumentInvalidError
from clew_engine.page_tokens import PageTokens, check_token

LISTING = ("messages", "t")


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    """A database in memory."""
    async with Storage("memory://") as opened:
        yield opened


def packed(value: Any) -> str:
    """A token as it looks, of whatever value."""
    return base64.urlsafe_b64encode(orjson.dumps(value)).decode().rstrip("=")


def unpacked(token: str) -> list[Any]:
    """What a token holds."""
    found: list[Any] = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return found


async def test_a_token_gives_its_place_again(storage: Storage) -> None:
    token = await storage.page_tokens.make(LISTING, (7, "id/with ü"))
    assert await storage.page_tokens.place(token, LISTING) == (7, "id/with ü")
    assert token.replace("-", "").replace("_", "").isalnum(), "it stands in a URL as it is"


async def test_no_token_is_the_beginning(storage: Storage) -> None:
    assert await storage.page_tokens.place("", LISTING) is None


@pytest.mark.parametrize("other", [("messages", "u"), ("threads", "t"), ("messages", "t", True)])
async def test_a_token_of_another_listing_is_refused(storage: Storage, other: tuple[object, ...]) -> None:
    token = await storage.page_tokens.make(LISTING, (7,))
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        await storage.page_tokens.place(token, other)


@pytest.mark.parametrize("place", [(8,), (-1,), (99999,), (7, 7), ("7",), (7.0,), (True,), (None,)])
async def test_a_token_with_another_place_is_refused(storage: Storage, place: tuple[Any, ...]) -> None:
    seal, _ = unpacked(await storage.page_tokens.make(LISTING, (7,)))
    for forged in (seal, seal[:-1], "", None, 7, ["é"], "é"):
        with pytest.raises(ArgumentInvalidError, match="page_token"):
            await storage.page_tokens.place(packed([forged, *place]), LISTING)


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "é",
        "====",
        "\x00",
        "A" * 10_000,
        "[1,2]",
        *(base64.urlsafe_b64encode(raw).decode() for raw in (b"{}", b"1", b"null", b"[]", b'["a"]', b"[NaN]", b"\xff")),
    ],
    ids=lambda token: ascii(token)[:12],
)
async def test_what_is_no_token_is_refused(storage: Storage, token: str) -> None:
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        check_token(token)
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        await storage.page_tokens.place(token, LISTING)


async def test_a_token_is_good_after_a_restart_and_on_no_other_database(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with Storage(url) as before:
        token = await before.page_tokens.make(LISTING, (7,))
    async with Storage(url) as after:
        assert await after.page_tokens.place(token, LISTING) == (7,)
    async with Storage(f"sqlite://{tmp_path / 'other.db'}") as other:
        with pytest.raises(ArgumentInvalidError, match="page_token"):
            await other.page_tokens.place(token, LISTING)


async def test_servers_of_one_database_read_the_tokens_of_each_other(storage: Storage) -> None:
    servers = [PageTokens(storage) for _ in range(3)]
    tokens = await asyncio.gather(*(server.make(LISTING, (number,)) for number, server in enumerate(servers)))
    for server in (*servers, PageTokens(storage)):
        assert [await server.place(token, LISTING) for token in tokens] == [(0,), (1,), (2,)]


async def test_pages_of_a_file_that_is_only_read_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    async with Storage(f"sqlite://{path}"):
        async with Storage(f"sqlite://{path}?mode=ro") as reading:
            await reading.open()
            token = await reading.page_tokens.make(LISTING, (7,))
            assert await reading.page_tokens.place(token, LISTING) == (7,)
        async with Storage(f"sqlite://{path}?mode=ro") as another:
            with pytest.raises(ArgumentInvalidError, match="page_token"):
                await another.page_tokens.place(token, LISTING)


async def test_the_secret_is_out_of_reach_of_callers(storage: Storage) -> None:
    await storage.page_tokens.make(LISTING, (7,))
    with pytest.raises(ArgumentInvalidError, match="namespace"):
        await storage.cache.keys("")
