"""The cache: values for a time, the same on every backend, in process and through a server."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import clew
import clew.cache
import clew_engine
from clew_engine import Storage, Tuning
from clew_engine.cached_values import forget_expired
from clew_storage import CachedValue, CacheKey, StorageUnavailable
from tests.rpc.agents import echo
from tests.scenarios.conftest import BACKENDS, url_of
from tests.scenarios.world import Clock, refused
from tests.support.serving import serving

VERBS = sorted(name for name in dir(clew.cache.Cache) if not name.startswith("_"))


@dataclass
class Kept:
    """A cache with the storage that it is in, and the time there."""

    cache: Any
    storage: Storage
    clock: Clock

    async def rows(self) -> int:
        """How many values are stored, expired ones too."""
        stored = 0
        for namespace in ("n", "m"):
            stored += len(
                await self.storage.backend.cache.list_keys("", namespace, prefix="", after=None, limit=10_000, now_ms=0)
            )
        return stored


@pytest.fixture(params=[f"{backend}-{surface}" for backend in BACKENDS for surface in ("in_process", "grpc")])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    backend, _, surface = str(request.param).partition("-")
    clock = Clock()
    async with AsyncExitStack() as stack:
        storage = await stack.enter_async_context(
            Storage(url_of(backend, request, tmp_path), tuning=Tuning(state_limit=10_000), clock=clock)
        )
        cache: Any = storage.cache
        if surface == "grpc":
            served = await stack.enter_async_context(serving([echo()], storage))
            cache = (await stack.enter_async_context(clew.Client(served.target))).cache
        yield Kept(cache, storage, clock)


def test_both_handles_have_the_same_verbs_which_take_the_same() -> None:
    assert sorted(name for name in dir(clew_engine.Cache) if not name.startswith("_")) == VERBS
    for verb in VERBS:
        here, there = (inspect.signature(getattr(kind, verb)) for kind in (clew_engine.Cache, clew.cache.Cache))
        assert here == there, verb


@pytest.mark.parametrize(
    "value", [None, False, 0, 1.0, 2**53 + 1, "", "a\0b🧶", [], {}, {"response": ["…", {"deep": None}]}], ids=repr
)
async def test_a_value_comes_back_as_it_was_put(kept: Kept, value: Any) -> None:
    await kept.cache.put("n", "k", value)
    found = await kept.cache.get("n", "k", default="none")
    assert (found, type(found)) == (value, type(value))


async def test_what_is_not_there_is_the_default(kept: Kept) -> None:
    assert await kept.cache.get("n", "k") is None
    assert await kept.cache.get("n", "k", 7) == 7
    assert await kept.cache.delete("n", "k") is False
    assert await kept.cache.keys("n") == []


async def test_a_value_is_gone_everywhere_when_its_time_is_over(kept: Kept) -> None:
    await kept.cache.put("n", "k", 1, ttl=600)
    await kept.cache.put("n", "stays", 2)
    kept.clock.advance(599)
    assert await kept.cache.get("n", "k") == 1
    assert await kept.cache.keys("n") == ["k", "stays"]
    kept.clock.advance(1)
    assert await kept.cache.get("n", "k") is None
    assert await kept.cache.keys("n") == ["stays"]
    assert await kept.cache.delete("n", "k") is False


async def test_a_value_put_anew_has_a_new_time(kept: Kept) -> None:
    await kept.cache.put("n", "k", 1, ttl=60)
    await kept.cache.put("n", "k", 2)
    kept.clock.advance(10_000)
    assert await kept.cache.get("n", "k") == 2
    await kept.cache.put("n", "k", 3, ttl=0.0005)
    kept.clock.advance(1)
    assert await kept.cache.get("n", "k") is None


async def test_a_deleted_value_is_gone(kept: Kept) -> None:
    await kept.cache.put("n", "k", 1)
    assert await kept.cache.delete("n", "k") is True
    assert await kept.cache.delete("n", "k") is False
    assert await kept.cache.get("n", "k") is None


async def test_no_separator_makes_two_names_one(kept: Kept) -> None:
    names = [
        ("a:b", "c"),
        ("a", "b:c"),
        ("a/b", "c"),
        ("a", "b/c"),
        ("a\0b", "c"),
        ("a", "b\0c"),
        ("a", "B:c"),
        (".", ".."),
    ]
    for number, (namespace, key) in enumerate(names):
        await kept.cache.put(namespace, key, number)
    assert [await kept.cache.get(*name) for name in names] == list(range(len(names)))
    assert await kept.cache.keys("a") == ["B:c", "b\0c", "b/c", "b:c"]


async def test_a_prefix_is_taken_literally(kept: Kept) -> None:
    for key in ("50%", "50_", "500", "50", "5%", "é", "e\u0301", "É"):
        await kept.cache.put("n", key, 1)
    assert await kept.cache.keys("n", "50") == ["50", "50%", "500", "50_"]
    assert await kept.cache.keys("n", "50%") == ["50%"]
    assert await kept.cache.keys("n", "50_") == ["50_"]
    assert await kept.cache.keys("n", "%") == []
    assert await kept.cache.keys("n", "é") == ["é"]


async def test_a_listing_of_many_pages_has_every_key_once(kept: Kept) -> None:
    keys = [f"{number:04}" for number in range(2050)]
    for key in keys:
        await kept.storage.backend.cache.put_value(CacheKey("", "n", key), CachedValue(b"1"))
    assert await kept.cache.keys("n") == keys
    assert await kept.cache.keys("n", limit=1001) == keys[:1001]
    assert await kept.cache.keys("n", "1", limit=3) == ["1000", "1001", "1002"]


async def test_keys_as_long_as_they_may_be_are_listed_page_by_page(kept: Kept) -> None:
    keys = sorted(mark + "\0" * 1022 + number for mark in "ab" for number in "0123456789")
    for key in keys:
        await kept.cache.put("n", key, 1)
    for number in range(1000):
        await kept.storage.backend.cache.put_value(CacheKey("", "n", f"z{number:04}"), CachedValue(b"1"))
    assert (await kept.cache.keys("n"))[:20] == keys


@pytest.mark.parametrize("ttl", [0, -1, 0.0, -0.001, 1e-12, float("nan"), float("inf"), 3_155_760_001])
async def test_a_time_that_is_none_is_refused(kept: Kept, ttl: float) -> None:
    with refused("argument_invalid", field="ttl"):
        await kept.cache.put("n", "k", 1, ttl=ttl)
    assert await kept.rows() == 0


async def test_the_longest_time_is_taken(kept: Kept) -> None:
    await kept.cache.put("n", "k", 1, ttl=3_155_760_000)
    assert await kept.cache.get("n", "k") == 1


@pytest.mark.parametrize(
    ("namespace", "key", "field"),
    [
        ("", "k", "namespace"),
        ("n", "", "key"),
        ("x" * 257, "k", "namespace"),
        ("é" * 129, "k", "namespace"),
        ("n", "x" * 1025, "key"),
        ("\ud800", "k", "namespace"),
        ("n", "\ud800", "key"),
        (7, "k", "namespace"),
        ("n", None, "key"),
    ],
)
async def test_a_name_that_is_none_is_refused_by_every_verb(kept: Kept, namespace: Any, key: Any, field: str) -> None:
    for call in (kept.cache.put(namespace, key, 1), kept.cache.get(namespace, key), kept.cache.delete(namespace, key)):
        with refused("argument_invalid", field=field):
            await call
    with refused("argument_invalid"):
        await kept.cache.keys(namespace if field == "namespace" else "n", "\ud800" if field == "key" else "")
    assert await kept.rows() == 0


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_nothing_is_refused(kept: Kept, limit: int) -> None:
    with refused("argument_invalid", field="limit"):
        await kept.cache.keys("n", limit=limit)


NO_JSON = {"nan": float("nan"), "a key": {1: 2}, "an object": object(), "half": "\ud800", "huge": 10**400}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
async def test_what_is_no_json_is_refused(kept: Kept, value: Any) -> None:
    with refused("state_invalid", field="value_json"):
        await kept.cache.put("n", "k", value)
    assert await kept.rows() == 0


async def test_a_value_over_the_limit_of_a_state_is_refused_by_its_size(kept: Kept) -> None:
    await kept.cache.put("n", "k", "x" * 9_998)
    with refused("state_too_large", size="10001", limit="10000"):
        await kept.cache.put("n", "k", "x" * 9_999)
    assert await kept.cache.get("n", "k") == "x" * 9_998


async def test_values_of_another_tenant_are_not_there(kept: Kept) -> None:
    theirs = clew_engine.Cache(kept.storage, tenant="umbrella")
    await theirs.put("n", "k", "theirs")
    await theirs.put("n", "other", "theirs")
    assert await kept.cache.get("n", "k") is None
    assert await kept.cache.delete("n", "k") is False
    assert await kept.cache.keys("n") == []
    await kept.cache.put("n", "k", "mine")
    assert await theirs.get("n", "k") == "theirs"


async def test_rows_of_what_has_expired_are_erased_by_a_sweep(kept: Kept) -> None:
    for number in range(250):
        await kept.storage.backend.cache.put_value(CacheKey("", "n", str(number)), CachedValue(b"1", 1 + number))
    await kept.cache.put("m", "stays", 1)
    assert await kept.rows() == 251
    assert await forget_expired(kept.storage) == 250
    assert await kept.rows() == 1
    assert await forget_expired(kept.storage) == 0


async def test_who_goes_on_filling_the_cache_does_not_make_it_grow(kept: Kept) -> None:
    """Also where no server does its upkeep."""
    for number in range(50):
        await kept.cache.put("n", f"{number}", 1, ttl=30)
        kept.clock.advance(31)
    while kept.storage._tasks:
        await asyncio.wait(kept.storage._tasks)
    assert await kept.rows() <= 3


async def test_a_sweep_of_a_storage_that_fails_is_logged_and_tried_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(**_: Any) -> int:
        raise StorageUnavailable("the disk is on fire")

    monkeypatch.setattr(kept.storage.backend.cache, "forget_expired", fails)
    assert await forget_expired(kept.storage) == 0
    assert "the disk is on fire" in caplog.text
    monkeypatch.undo()
    await kept.cache.put("n", "k", 1)


def test_the_blocking_forms_do_the_same(tmp_path: Path) -> None:
    storage = Storage(f"sqlite://{tmp_path / 'clew.db'}")
    storage.cache.put_sync("n", "k", {"a": 1}, ttl=600)
    assert storage.cache.get_sync("n", "k") == {"a": 1}
    assert storage.cache.keys_sync("n", "k") == ["k"]
    assert storage.cache.delete_sync("n", "k") is True
    assert storage.cache.get_sync("n", "k", 7) == 7
