"""A thread that a version of its workflow refuses has a way on, and is never begun anew without a word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypedDict

import pytest

from clew import Client
from clew_engine import ClewError, Migration, Storage, Workflow, pause
from clew_engine.workflows.app import WorkflowThread
from tests.support.serving import serving


class Now(TypedDict, total=False):
    """What the newer version declares."""

    n: int
    got: int


def asking(version: int = 1, migrate: Any = None, state: Any = None, node: str = "ask") -> Workflow:
    """Asks for a value."""
    flow = Workflow("asking", version=version, migrate=migrate, state=state)
    flow.node(lambda state: {"got": pause("?") + state.get("n", 0)}, name=node)
    flow.start(node)
    return flow


def _raises(_: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("garbage")


# The version that left the thread, and the one that refuses it.
REFUSED: dict[str, tuple[Callable[[], Workflow], Callable[[], Workflow]]] = {
    "a key is gone": (asking, lambda: asking(state=Now)),
    "a node is gone": (asking, lambda: asking(node="other")),
    "there is no way": (asking, lambda: asking(2)),
    "it is newer": (lambda: asking(3, {1: None, 2: None}), asking),
    "a migrator raises": (asking, lambda: asking(2, {1: _raises})),
    "a key and a node are gone": (asking, lambda: asking(state=Now, node="other")),
}
WAITS = frozenset({"a node is gone", "a key and a node are gone"})


async def _replaced(thread: WorkflowThread) -> None:
    await thread.update_state({"n": 2}, replace=True, force=True)


async def _cleared(thread: WorkflowThread) -> None:
    await thread.clear_state(force=True)


WAYS: dict[str, Callable[[WorkflowThread], Awaitable[None]]] = {"replace": _replaced, "clear": _cleared}
EACH = pytest.mark.parametrize("refused", sorted(REFUSED))
BY = pytest.mark.parametrize("way", sorted(WAYS))


async def parked(storage: Storage, refused: str) -> WorkflowThread:
    """A thread that waits, in the hands of the version that refuses it."""
    old, new = REFUSED[refused]
    await old().compile(storage).thread("t").run({"old": 1, "older": 2})
    thread = new().compile(storage).thread("t")
    with pytest.raises(ClewError) as refusal:
        await thread.resume(5)
    assert refusal.value.code in ("resume_invalid", "state_invalid")
    return thread


@EACH
@BY
async def test_a_state_of_this_version_lets_the_run_go_on_or_the_next_one_begin(
    storage: Storage, refused: str, way: str
) -> None:
    thread = await parked(storage, refused)
    await WAYS[way](thread)
    if refused in WAITS:
        # The node is still not there: the run is not begun anew in silence.
        with pytest.raises(ClewError, match="'ask'"):
            await thread.resume(5)
        await thread.cancel()
        assert (await thread.run()).status.value == "suspended"
    assert (await thread.resume(5)).state == ({"n": 2, "got": 7} if way == "replace" else {"got": 5})


@EACH
@BY
async def test_after_a_cancel_it_does_so_too(storage: Storage, refused: str, way: str) -> None:
    thread = await parked(storage, refused)
    await thread.cancel()
    if refused != "a node is gone":
        with pytest.raises(ClewError, match=r"update_state\(.*(replace=True|remove_keys)") as refusal:
            await thread.run({"n": 1})
        assert refusal.value.code in ("resume_invalid", "state_invalid")
    await WAYS[way](thread)
    await thread.run({"n": 1})
    assert (await thread.resume(5)).state == {"n": 1, "got": 6}


@EACH
async def test_after_a_rewind_it_does_so_too(storage: Storage, refused: str) -> None:
    thread = await parked(storage, refused)
    await thread.rewind((await thread.history(9))[-1]["id"])
    await thread.clear_state()
    await thread.run({"n": 1})
    assert (await thread.resume(5)).state == {"n": 1, "got": 6}


@EACH
async def test_keys_that_no_version_needs_are_taken_away_without_a_migration(storage: Storage, refused: str) -> None:
    thread = await parked(storage, refused)
    await thread.update_state({}, remove_keys=["older"], force=True)
    assert await thread.state() == {"old": 1}
    await thread.update_state({}, remove_keys=["old"], force=True)
    assert await thread.state() == {}
    if refused == "a key is gone":
        assert (await thread.resume(5)).state == {"got": 5}


async def test_a_renamed_node_is_still_found_when_the_state_was_given_anew(storage: Storage) -> None:
    await asking().compile(storage).thread("t").run({"old": 1})
    newer = asking(2, {1: Migration(state=_raises, nodes={"ask": "other"})}, node="other")
    thread = newer.compile(storage).thread("t")
    await thread.update_state({"n": 1}, replace=True, force=True)
    assert (await thread.resume(5)).state == {"n": 1, "got": 6}


@pytest.mark.parametrize("way", ["replace", "clear"])
async def test_over_grpc_the_ways_are_the_same(storage: Storage, way: str) -> None:
    await asking().compile(storage).thread("t").run({"old": 1})
    app = asking(2, {1: _raises}).compile()
    async with serving([app], storage) as served, Client(served.target) as client:
        thread = client.workflow("asking").thread("t")
        if way == "replace":
            await thread.update_state({"n": 1}, replace=True, force=True)
        else:
            await thread.clear_state(force=True)
        assert (await thread.resume(5)).state["got"] == (6 if way == "replace" else 5)
