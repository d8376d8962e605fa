"""Threads by their metadata: the same pairs find the same threads, in process and through a client."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.world import World, refused

METADATA: dict[str, dict[str, Any]] = {
    "text": {"plan": "gold", "g": "1"},
    "number": {"plan": "gold", "g": 1},
    "fraction": {"g": 1.5, "n": 2.0},
    "large": {"g": 2**53 + 1, "huge": 10**30},
    "yes": {"g": True},
    "null": {"g": None},
    "deep": {"g": {"a": 1}, "list": [1]},
    "none": {},
}


async def lister(world: World) -> Any:
    """The listing of the world's surface, with a thread for each metadata."""
    for name, metadata in METADATA.items():
        await (await world.thread(name)).update(metadata=metadata)
    handle: Any = await world.thread("text")
    client = getattr(handle.inner, "_client", None)
    return world.storage.threads if client is None else client.threads


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"plan": "gold"}, ["text", "number"]),
        ({"plan": "gold", "g": 1}, ["number"]),
        ({"g": 1}, ["number"]),
        (("g", 1), ["number"]),
        ({"g": 1.0}, ["number"]),
        ({"g": "1"}, ["text"]),
        (("g", "1"), ["text"]),
        ({"g": 1.5}, ["fraction"]),
        ({"n": 2}, ["fraction"]),
        ({"g": 2**53 + 1}, ["large"]),
        ({"g": 2**53}, []),
        ({"huge": 10**30}, ["large"]),
        ({"g": True}, ["yes"]),
        ({"g": None}, ["null"]),
        ({"other": None}, []),
        ({"plan": "gold", "other": 1}, []),
        ({}, list(METADATA)),
        (None, list(METADATA)),
    ],
)
async def test_all_pairs_must_be_there_and_values_are_compared_as_json(
    world: World, metadata: Any, found: list[str]
) -> None:
    threads = await lister(world)
    assert [each.thread_id for each in await threads.list(metadata=metadata)] == found[::-1]


@pytest.mark.parametrize(
    "metadata",
    [
        "plan",
        ("plan",),
        ("plan", "gold", "x"),
        ["plan", "gold"],
        (1, "gold"),
        {1: "gold"},
        {"g": [1]},
        {"g": {"a": 1}},
        {"g": float("nan")},
        {"g": b"1"},
        {"g": "\ud800"},
        {"g": object()},
        {"g": "x" * (64 << 10)},
    ],
    ids=lambda value: f"{type(value).__name__}-{str(value)[:12]}",
)
async def test_what_is_no_such_object_is_refused_by_name(world: World, metadata: Any) -> None:
    threads = await lister(world)
    with refused("argument_invalid", field="metadata"):
        await threads.list(metadata=metadata)
