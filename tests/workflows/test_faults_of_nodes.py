"""Nodes that raise, hang, exit, leave work behind, or return what no state holds: the run fails with the reason, and a retry goes on."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any, TypedDict

import pytest

from clew_engine import END, ClewError, Storage, Workflow, append, merge, pause, step, step_sync
from clew_engine.errors import RunCancelledError, RunFailedError
from tests.workflows.lone import lone
from tests.workflows.noting import noted


def count(old: dict[str, int] | None, new: str) -> dict[str, int]:
    """Counts a word."""
    return {**(old or {}), new: (old or {}).get(new, 0) + 1}


class Words(TypedDict, total=False):
    """How often each word came."""

    words: Annotated[dict[str, int], count]


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
