"""Nodes and branches whose run is cancelled, and what a node leaves behind: nothing is written after the end, and a retry goes on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from clew_engine import END, Storage, Workflow, append, pause, step, step_sync
from clew_engine.errors import RunCancelledError
from tests.workflows.lone import lone
from tests.workflows.noting import noted


async def test_a_branch_that_hangs_is_cancelled_with_its_run(storage: Storage) -> None:
    reached = asyncio.Event()

    async def choose(_: Any) -> str:
        reached.set()
        await asyncio.sleep(3600)
        return END

    flow = Workflow("w")
    flow.node(lambda _: {"a": 1}, name="a")
    flow.start("a")
    flow.branch("a", choose, ["a"])
    thread = flow.compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    assert (await thread.cancel())["status"] == "failed"
    with pytest.raises(RunCancelledError):
        await run


async def test_a_node_that_is_cancelled_is_run_again_by_a_retry_and_what_it_had_done_is_not(storage: Storage) -> None:
    did: list[str] = []
    reached = asyncio.Event()
    hang = [True]

    async def only(_: Any) -> dict[str, Any]:
        got = await step("fetch", lambda: noted(did, "fetch", 7))
        did.append("on")
        if hang[0]:
            reached.set()
            await asyncio.sleep(3600)
        return {"got": got}

    thread = lone(only).compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    hang[0] = False
    await thread.cancel()
    with pytest.raises(RunCancelledError):
        await run
    assert (await thread.retry()).state == {"got": 7}
    assert did == ["fetch", "on", "on"]


async def test_a_node_that_will_not_stop_is_left_behind_and_writes_nothing_more(storage: Storage) -> None:
    reached, go_on, left = threading.Event(), threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def stubborn(_: Any) -> dict[str, Any]:
        reached.set()
        go_on.wait(30)
        try:
            step_sync("late", lambda: 1)
        except BaseException as error:
            errors.append(error)
            left.set()
            raise
        return {"a": 1}

    thread = lone(stubborn).compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await asyncio.to_thread(reached.wait, 30)
    ended = await thread.cancel()
    with pytest.raises(RunCancelledError):
        await run
    go_on.set()
    await asyncio.to_thread(left.wait, 30)
    # No `except Exception` of a node's keeps what stops it.
    assert not isinstance(errors[0], Exception)
    assert (await thread.history(1))[0]["version"] == ended["version"]


async def test_what_a_node_does_not_await_cannot_write_after_it(storage: Storage) -> None:
    go_on = asyncio.Event()
    late: list[asyncio.Task[Any]] = []

    async def slow() -> int:
        await go_on.wait()
        return 1

    async def only(_: Any) -> dict[str, Any]:
        late.append(asyncio.create_task(step("late", slow)))
        await asyncio.sleep(0)
        return {"a": 1}

    thread = lone(only).compile(storage).thread("t")
    result = await thread.run()
    go_on.set()
    with pytest.raises(RuntimeError, match="'only' is over"):
        await late[0]
    assert (await thread.history(1))[0]["version"] == result.version
    assert (await thread.result()).status.value == "completed"


async def test_a_step_that_ends_while_its_run_is_cancelled_is_kept(storage: Storage) -> None:
    reached = asyncio.Event()
    did: list[int] = []

    async def careful() -> int:
        reached.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            did.append(1)
        return 1

    async def only(_: Any) -> dict[str, Any]:
        return {"got": await step("careful", careful)}

    thread = lone(only).compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    await thread.cancel()
    with pytest.raises(RunCancelledError):
        await run
    assert (await thread.retry()).state == {"got": 1}
    assert did == [1]


async def test_a_cancel_voids_the_answers_that_waited_for_others(storage: Storage) -> None:
    flow = Workflow("w", reducers={"got": append})
    for name in ("a", "b"):
        flow.node(lambda _, name=name: {"got": [[name, pause(name)]]}, name=name)
    flow.start("a", "b")
    thread = flow.compile(storage).thread("t")
    first = (await thread.run()).approvals
    await thread.decide({first[0].id: {"value": "old"}})
    await thread.cancel()
    again = (await thread.retry()).approvals
    assert [each.prompt for each in again] == ["a", "b"]
    await thread.decide({each.id: {"value": "new"} for each in again})
    assert await thread.state() == {"got": [["a", "new"], ["b", "new"]]}
