"""Reducers and branches that raise, or take and make what they should not: the run fails with the reason, and no node is run again."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

from clew_engine import END, Storage, Workflow, append
from clew_engine.errors import RunFailedError
from tests.workflows.lone import lone
from tests.workflows.noting import noted


def count(old: dict[str, int] | None, new: str) -> dict[str, int]:
    """Counts a word."""
    return {**(old or {}), new: (old or {}).get(new, 0) + 1}


class Words(TypedDict, total=False):
    """How often each word came."""

    words: Annotated[dict[str, int], count]


async def test_a_reducer_that_raises_is_named_and_no_node_is_run_again(storage: Storage) -> None:
    ran: list[str] = []
    broken = [True]

    def total(old: int | None, new: int) -> int:
        if broken[0]:
            raise ValueError("not today")
        return (old or 0) + new

    flow = Workflow("w", reducers={"sum": total})
    for name in ("a", "b"):
        flow.node(lambda _, name=name: noted(ran, name, {"sum": 1}), name=name)
    flow.start("a", "b")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(
        RunFailedError, match=r"'total' of 'sum' failed on what node 'a' returned: ValueError: not today"
    ):
        await thread.run({"sum": 3})
    broken[0] = False
    assert (await thread.retry()).state == {"sum": 5}
    assert sorted(ran) == ["a", "b"]


@pytest.mark.parametrize(("state", "returned"), [({}, "text"), ({}, 5), ({}, {"a": 1}), ({"log": 5}, ["a"])])
async def test_append_takes_lists_and_goes_on_lists(storage: Storage, state: dict[str, Any], returned: Any) -> None:
    thread = lone(lambda _: {"log": returned}, reducers={"log": append}).compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="no list"):
        await thread.run(state)
    assert await thread.state() == state


async def test_a_reducers_own_argument_may_be_of_another_type_than_its_key(storage: Storage) -> None:
    flow = Workflow("w", state=Words)
    flow.node(lambda _: {"words": "a"}, name="one")
    flow.node(lambda _: {"words": "a"}, name="two")
    flow.start("one", "two")
    assert (await flow.compile(storage).thread("t").run()).state == {"words": {"a": 2}}


async def test_what_a_reducer_makes_is_held_to_its_keys_type(storage: Storage) -> None:
    class State(TypedDict, total=False):
        count: Annotated[int, lambda old, new: "many"]

    with pytest.raises(RunFailedError, match="count"):
        await lone(lambda _: {"count": 1}, state=State).compile(storage).thread("t").run()


async def test_a_branch_that_raises_leaves_its_nodes_done(storage: Storage) -> None:
    ran: list[int] = []
    answers: list[Any] = [ZeroDivisionError("no"), "elsewhere", END]

    def choose(_: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    flow = Workflow("w")
    flow.node(lambda _: noted(ran, 1, {"a": 1}), name="a")
    flow.start("a")
    flow.branch("a", choose, ["a"])
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="after 'a' failed: ZeroDivisionError"):
        await thread.run()
    with pytest.raises(RunFailedError, match="'elsewhere'"):
        await thread.retry()
    assert (await thread.retry()).status.value == "completed"
    assert ran == [1]
