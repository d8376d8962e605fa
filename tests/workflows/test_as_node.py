"""State written in a node's name: reduced as what the node returned, and a retry goes on with what follows the node. In process and over gRPC."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine import END, Migration, Storage, Workflow, append, pause, step
from tests.workflows.shops import Order, failed, refused, shop


async def test_the_values_are_reduced_and_the_retry_goes_on_with_what_follows(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread, {"log": ["began"], "largest": 7})
    before = (await thread.history(1))[0]
    written = await thread.update_state({"total": 50, "log": ["by hand"], "largest": 3}, as_node="read")
    assert (written["status"], written["source"], written["next"]) == ("failed", "update", ["stock", "credit"])
    assert (written["failure_code"], written["retryable"]) == ("updated", True)
    assert "'read'" in written["failure_message"]
    assert (written["run_id"], written["step"]) == (before["run_id"], before["step"] + 1)
    assert await thread.state() == {"total": 50, "log": ["began", "by hand"], "largest": 7}
    result = await thread.retry()
    assert (result.status, result.steps) == ("completed", 4)
    assert result.state["log"] == ["began", "by hand", "stock", "credit", "weigh", "ship"]
    assert result.run_id == before["run_id"]


@pytest.mark.parametrize(("total", "follows"), [(11, ["ship"]), (1, [])])
async def test_a_branch_chooses_by_the_state_as_written(surface: Any, total: int, follows: list[str]) -> None:
    thread = (await surface(shop("weigh")))()
    await failed(thread)
    written = await thread.update_state({"total": total}, as_node="weigh")
    assert written["next"] == follows
    assert (await thread.retry()).state["log"] == ["read", "stock", "credit", *follows]


async def test_where_nothing_follows_the_retry_completes_the_run(surface: Any) -> None:
    thread = (await surface(shop("weigh")))()
    await failed(thread)
    written = await thread.update_state({"log": ["done by hand"]}, as_node="ship")
    assert (written["status"], written["next"], written["failure_code"]) == ("failed", [], "updated")
    result = await thread.retry()
    assert (result.status, result.state["log"][-1]) == ("completed", "done by hand")
    with refused("resume_invalid"):
        await thread.retry()


async def test_a_completed_run_stays_and_another_goes_on_from_the_node(surface: Any) -> None:
    thread = (await surface(shop()))()
    over = await thread.run()
    written = await thread.update_state({"total": 50}, as_node="weigh")
    assert (written["status"], written["next"], written["step"], written["attempt"]) == ("failed", ["ship"], 1, 1)
    assert written["run_id"] != over.run_id
    result = await thread.retry()
    assert (result.run_id, result.status, result.steps) == (written["run_id"], "completed", 2)
    ended = [event.type async for event in thread.watch(run_id=over.run_id)]
    assert ended[-1] == "run_completed"


async def test_a_thread_begins_in_the_middle(surface: Any) -> None:
    thread = (await surface(shop()))()
    written = await thread.update_state({"total": 50}, as_node="weigh")
    assert (written["version"], written["next"]) == (1, ["ship"])
    assert (await thread.info()).app == "shop"
    assert (await thread.retry()).state == {"total": 50, "log": ["ship"]}


async def test_side_by_side_the_node_is_done_and_what_others_did_counts(surface: Any) -> None:
    thread = (await surface(shop("credit")))()
    await failed(thread)
    written = await thread.update_state({"checks": {"credit": False}}, as_node="credit")
    assert written["next"] == ["weigh"]
    assert await thread.state() == {"total": 5, "log": ["read", "stock"], "checks": {"stock": True, "credit": False}}
    assert (await thread.retry()).status == "completed"


async def test_side_by_side_with_a_node_that_is_not_done_the_values_wait_for_it(surface: Any) -> None:
    failing = ["stock", "credit"]
    flow = Workflow("both", state=Order)
    did: list[str] = []

    for name in ("stock", "credit"):

        def check(_: Any, name: str = name) -> dict[str, Any]:
            if name in failing:
                raise ValueError("down")
            did.append(name)
            return {"log": [name], "checks": {name: True}}

        flow.node(check, name=name)
    flow.node(lambda _: {"log": ["end"]}, name="end")
    flow.start("stock", "credit")
    flow.edge(("stock", "credit"), "end")
    thread = (await surface(flow))()
    await failed(thread)
    written = await thread.update_state({"log": ["by hand"], "checks": {"credit": True}}, as_node="credit")
    assert (written["status"], written["failure_code"], written["next"]) == ("failed", "updated", ["stock", "credit"])
    assert await thread.state() == {}
    await thread.update_state({"log": ["by hand again"], "checks": {"credit": False}}, as_node="credit")
    failing.clear()
    result = await thread.retry()
    assert result.state == {"log": ["stock", "by hand again", "end"], "checks": {"stock": True, "credit": False}}
    assert did == ["stock"]


async def test_what_was_done_in_the_step_before_is_not_taken_for_the_next(surface: Any) -> None:
    flow = Workflow("loop", reducers={"log": append})
    broken = [True]

    async def turn(state: Any) -> dict[str, Any]:
        done = await step("work", lambda: len(state.get("log", ())))
        if broken.pop():
            raise ValueError("down")
        return {"log": [done], "n": state.get("n", 0) + 1}

    flow.node(turn, name="turn")
    flow.start("turn")
    flow.branch("turn", lambda state: "turn" if state["n"] < 3 else END, ["turn"])
    thread = (await surface(flow))()
    await failed(thread)
    broken += [False] * 5
    await thread.update_state({"log": ["by hand"], "n": 1}, as_node="turn")
    assert (await thread.retry()).state == {"log": ["by hand", 1, 2], "n": 3}


async def test_a_request_that_comes_again_has_its_first_outcome(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread)
    first = await thread.update_state({"total": 50}, as_node="read", request_id="r")
    await thread.retry()
    assert await thread.update_state({"total": 50}, as_node="read", request_id="r") == first
    with refused("request_id_reused"):
        await thread.update_state({"total": 50}, as_node="stock", request_id="r")
    with refused("request_id_reused"):
        await thread.update_state({"total": 50}, request_id="r")


async def test_a_node_that_is_gone_is_no_dead_end(storage: Storage) -> None:
    old = Workflow("w")
    old.node(lambda _: {"log": pause("well?")}, name="gone")
    old.start("gone")
    await old.compile(storage).thread("t").run()
    new = Workflow("w")
    new.node(lambda _: {"log": "new"}, name="here")
    new.node(lambda state: {"end": state["log"]}, name="end")
    new.start("here")
    new.edge("here", "end")
    thread = new.compile(storage).thread("t")
    await thread.update_state({"log": "by hand"}, as_node="here", force=True)
    assert (await thread.retry()).state == {"log": "by hand", "end": "by hand"}


async def test_nodes_with_new_names_are_known_by_these(storage: Storage) -> None:
    def flow(version: int, first: str, second: str, third: str, **upgrade: Any) -> Any:
        made = Workflow("w", version=version, **upgrade)
        made.node(lambda _: {"a": 1 // 0 if version == 1 else 1}, name=first)
        made.node(lambda _: {"b": 2}, name=second)
        made.node(lambda state: {"c": state["a"] + state["b"]}, name=third)
        made.start(first, second)
        made.edge((first, second), third)
        return made.compile(storage, pause_after=[first]).thread("t")

    await failed(flow(1, "one", "two", "three"))
    names = {"one": "uno", "two": "due", "three": "tre"}
    thread = flow(2, "uno", "due", "tre", migrate={1: Migration(nodes=names)})
    written = await thread.update_state({"a": 40}, as_node="uno")
    assert (written["next"], await thread.state()) == (["tre"], {"a": 40, "b": 2})
    assert [each.prompt for each in (await thread.retry()).approvals] == [{"after": "uno"}]
    later = {"uno": "yi", "tre": "san"}
    upgraded = flow(3, "yi", "due", "san", migrate={1: Migration(nodes=names), 2: Migration(nodes=later)})
    assert (await upgraded.resume(True)).state == {"a": 40, "b": 2, "c": 42}
