"""Writes in a node's name that are refused before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine import END, Agent, OfflineModel, Storage, Workflow
from clew_engine.models.offline_rules import otherwise
from tests.workflows.shops import everything, failed, refused, shop

UNFIT: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a key that is not declared": ({"colour": "red"}, "state.colour", ("'read'", "declares no such key", "total")),
    "a value of another type": ({"total": "many"}, "state.total", ("'read'", "integer")),
    "an element of another type": ({"log": [1]}, "state.log", ("'read'", "string")),
    "no list to append": ({"log": "text"}, "state.log", ("'read'",)),
    "what the author's reducer makes": ({"largest": "x"}, "state.largest", ("'read'",)),
}


@pytest.mark.parametrize("case", UNFIT)
async def test_values_that_the_node_cannot_return_are_refused_before_anything_is_written(
    surface: Any, case: str
) -> None:
    values, field, words = UNFIT[case]
    thread = (await surface(shop("read")))()
    await failed(thread)
    before = await everything(thread)
    with refused("state_invalid", field, *words, field=field, node="read"):
        await thread.update_state(values, as_node="read")
    assert await everything(thread) == before


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a node that is not there": ({"as_node": "reed"}, ("'reed'", "read, stock, credit, weigh, ship")),
    "the end": ({"as_node": END}, ("no node",)),
    "a replacement": ({"as_node": "read", "replace": True}, ("replaces and removes nothing",)),
    "keys to remove": ({"as_node": "read", "remove_keys": ["total"]}, ("replaces and removes nothing",)),
    "a name that is too long": ({"as_node": "x" * 513}, ()),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_no_node_does_is_refused_before_anything_is_written(surface: Any, case: str) -> None:
    options, words = REFUSED[case]
    thread = (await surface(shop("read")))()
    await failed(thread)
    before = await everything(thread)
    with refused("argument_invalid", *words, field="as_node"):
        await thread.update_state({"log": ["x"]}, **options)
    assert await everything(thread) == before


async def test_a_branch_that_fails_is_told_before_anything_is_written(surface: Any) -> None:
    flow = Workflow("w")
    flow.node(lambda _: {}, name="only")
    flow.start("only")
    flow.branch("only", lambda state: state["nowhere"])
    thread = (await surface(flow))()
    with refused("argument_invalid", "the branch after 'only' failed", "KeyError", field="as_node", node="only"):
        await thread.update_state({"a": 1}, as_node="only")
    with refused("thread_not_found"):
        await thread.info()


async def test_two_that_wrote_one_key_are_told_of(surface: Any) -> None:
    flow = Workflow("w")
    broken = [True]

    def second(_: Any) -> dict[str, Any]:
        if broken:
            raise ValueError("down")
        return {}

    flow.node(lambda _: {"a": 1}, name="first")
    flow.node(second, name="second")
    flow.start("first", "second")
    thread = (await surface(flow))()
    await failed(thread)
    with refused("state_invalid", "'first'", "'second'", "no reducer", field="state.a"):
        await thread.update_state({"a": 2}, as_node="second")


async def test_a_thread_of_an_agent_has_no_nodes(surface: Any, storage: Storage) -> None:
    agent = Agent("helper", model=OfflineModel([otherwise.say("hello")]), storage=storage)
    threads = await surface(shop(), agent)
    thread = threads("a", "helper")
    with refused("argument_invalid", "'helper' is an agent", "'read'", field="as_node", node="read"):
        await thread.update_state({"total": 1}, as_node="read")
    with refused("thread_not_found"):
        await thread.info()


async def test_an_expected_version_is_compared(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread)
    with refused("version_conflict"):
        await thread.update_state({"total": 50}, as_node="read", expected_version=1)
