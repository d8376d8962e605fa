"""Nodes that raise, exit, are rejected, or return what no state holds: the run fails with the reason, and a retry goes on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from clew_engine import ClewError, Storage, Workflow, append, merge, pause, step, step_sync
from clew_engine.errors import RunCancelledError, RunFailedError
from tests.workflows.lone import lone
from tests.workflows.noting import noted


@pytest.mark.parametrize("key", ["messages", "_clew"])
async def test_a_node_that_returns_a_key_of_the_engines_own_fails_by_its_name(storage: Storage, key: str) -> None:
    with pytest.raises(RunFailedError, match=f"'only' failed.*{key}"):
        await lone(lambda _: {key: []}).compile(storage).thread("t").run()


def _exit(_: Any) -> None:
    raise SystemExit(3)


def _stop_iteration(_: Any) -> None:
    next(iter(()))


@pytest.mark.parametrize("wrong", [_exit, _stop_iteration])
async def test_a_node_that_exits_or_stops_an_iteration_fails_the_run_alone(storage: Storage, wrong: Any) -> None:
    thread = lone(wrong).compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="'only' failed"):
        await asyncio.wait_for(thread.run(), 10)


async def test_pauses_of_a_task_group_are_pauses(storage: Storage) -> None:
    async def ask(name: str) -> Any:
        return await asyncio.sleep(0, pause(name))

    async def only(_: Any) -> dict[str, Any]:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(ask("one"))
        return {"got": asked.result()}

    thread = lone(only).compile(storage).thread("t")
    assert [each.prompt for each in (await thread.run()).approvals] == ["one"]
    assert (await thread.resume(3)).state == {"got": 3}


async def test_a_schema_that_is_none_fails_the_node_that_pauses_with_it(storage: Storage) -> None:
    with pytest.raises(RunFailedError, match="'only' failed"):
        await lone(lambda _: {"a": pause("?", {"type": "no such type"})}).compile(storage).thread("t").run()


async def test_a_state_that_grows_over_its_limit_fails_and_what_was_stays(storage: Storage) -> None:
    thread = lone(lambda _: {"log": ["x" * 600_000]}, reducers={"log": append}).compile(storage).thread("t")
    await thread.run()
    with pytest.raises(RunFailedError, match="the state would be"):
        await thread.run()
    assert len((await thread.state())["log"]) == 1


async def test_a_step_whose_result_is_too_large_fails_its_node(storage: Storage) -> None:
    async def only(_: Any) -> None:
        await step("huge", lambda: "x" * (1 << 21))

    with pytest.raises(RunFailedError, match="the result of 'huge'"):
        await lone(only).compile(storage).thread("t").run()


async def test_a_second_run_does_not_meet_what_the_one_before_it_had_recorded(storage: Storage) -> None:
    seen: list[int] = []
    failing = [True]

    async def only(state: Any) -> dict[str, Any]:
        got = await step("look", lambda: state["n"])
        if failing[0]:
            raise ValueError("first run")
        seen.append(got)
        return {"got": got}

    thread = lone(only).compile(storage).thread("t")
    with pytest.raises(RunFailedError):
        await thread.run({"n": 1})
    failing[0] = False
    assert (await thread.run({"n": 2})).state == {"n": 2, "got": 2}
    assert seen == [2]


async def test_two_runs_on_one_thread_merge_their_values_into_its_state(storage: Storage) -> None:
    flow = Workflow("w", reducers={"log": append, "seen": merge})
    flow.node(lambda state: {"log": [state["n"]], "seen": {str(state["n"]): True}}, name="only")
    flow.start("only")
    thread = flow.compile(storage).thread("t")
    await thread.run({"n": 1, "kept": "yes"})
    results = await asyncio.gather(thread.run({"n": 2}), thread.run({"n": 3}))
    assert {each.status.value for each in results} == {"completed"}
    state = await thread.state()
    assert sorted(state["log"]) == [1, 2, 3]
    assert (state["kept"], set(state["seen"])) == ("yes", {"1", "2", "3"})


async def test_a_run_after_a_failed_one_leaves_that_one_as_it_was(storage: Storage) -> None:
    flow = Workflow("w", reducers={"log": append})

    @flow.node
    def only(state: Any) -> dict[str, Any]:
        if state["n"] == 1:
            raise ValueError("one")
        return {"log": [state["n"]]}

    flow.start("only")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError):
        await thread.run({"n": 1})
    failed = (await thread.history(1))[0]
    await thread.run({"n": 2})
    assert await thread.state(failed["id"]) == {"n": 1}
    assert await thread.state() == {"n": 2, "log": [2]}
    await thread.rewind(failed["id"])
    with pytest.raises(RunFailedError):
        await thread.retry()


async def test_a_plain_node_has_steps_and_a_thread_of_its_own(storage: Storage) -> None:
    here = threading.get_ident()
    threads: list[int] = []

    def only(_: Any) -> dict[str, Any]:
        threads.append(threading.get_ident())
        got = step_sync("a", lambda: noted(threads, threading.get_ident(), 1))
        awaited = step_sync("b", asyncio.sleep, 0, 2)
        if pause("sure?"):
            threads.append(threading.get_ident())
        return {"got": [got, awaited]}

    thread = lone(only).compile(storage).thread("t")
    await thread.run()
    assert (await thread.resume(True)).state == {"got": [1, 2]}
    assert here not in threads
    # The step was called where its node stands, and once.
    assert (len(threads), threads[0]) == (4, threads[1])


async def test_a_step_sync_of_an_async_node_is_refused_and_hangs_nothing(storage: Storage) -> None:
    async def only(_: Any) -> None:
        step_sync("a", lambda: 1)

    with pytest.raises(RunFailedError, match="an async node awaits step"):
        await asyncio.wait_for(lone(only).compile(storage).thread("t").run(), 10)


async def test_a_rejected_static_pause_ends_the_run_and_a_retry_asks_again(storage: Storage) -> None:
    ran: list[int] = []
    app = lone(lambda _: noted(ran, 1)).compile(storage, pause_before=["only"])
    thread = app.thread("t")
    (waiting,) = (await thread.run()).approvals
    with pytest.raises(ClewError, match="before only was rejected: no") as refusal:
        await thread.decide({waiting.id: {"reject": "no"}})
    assert isinstance(refusal.value, RunCancelledError)
    assert ran == []
    (again,) = (await thread.retry()).approvals
    assert again.id != waiting.id
    await thread.resume(None)
    assert ran == [1]


async def test_a_node_that_lets_a_rejection_pass_fails_and_a_retry_asks_again(storage: Storage) -> None:
    thread = lone(lambda _: {"got": pause("?")}).compile(storage).thread("t")
    (waiting,) = (await thread.run()).approvals
    with pytest.raises(RunFailedError, match="PauseRejectedError: no"):
        await thread.decide({waiting.id: {"reject": "no"}})
    await thread.retry()
    assert (await thread.resume(1)).state == {"got": 1}
