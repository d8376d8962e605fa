"""State written in a node's name where people are asked: what was asked is void, and static pauses are asked by the retry."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine import Workflow, append, pause
from tests.workflows.shops import ERRORS, Order, everything, failed, refused, shop


async def test_a_forced_write_voids_what_was_asked_and_the_run_moves_on(surface: Any) -> None:
    flow = Workflow("w", state=Order)
    flow.node(lambda _: {"paid": pause("how much?", {"type": "integer"})}, name="pay")
    flow.node(lambda state: {"log": [f"paid {state['paid']}"]}, name="tell")
    flow.start("pay")
    flow.edge("pay", "tell")
    thread = (await surface(flow))()
    (asked,) = (await thread.run()).approvals
    before = await everything(thread)
    with refused("thread_suspended"):
        await thread.update_state({"paid": 3}, as_node="pay")
    assert await everything(thread) == before
    written = await thread.update_state({"paid": 3}, as_node="pay", force=True)
    assert (written["status"], written["next"], await thread.approvals()) == ("failed", ["tell"], [])
    with refused("resume_invalid"):
        await thread.decide({asked.id: {"value": 5}})
    assert (await thread.retry()).state == {"paid": 3, "log": ["paid 3"]}


async def test_of_two_that_ask_the_other_asks_again(surface: Any) -> None:
    flow = Workflow("w", reducers={"log": append})
    for name in ("ada", "bob", "eve"):
        flow.node(lambda _, name=name: {"log": [[name, pause(name)]]}, name=name)
    flow.start("ada", "bob", "eve")
    thread = (await surface(flow))()
    asked = {each.prompt: each.id for each in (await thread.run()).approvals}
    await thread.decide({asked["eve"]: {"value": "counts only with the last"}})
    await thread.update_state({"log": [["ada", "by hand"]]}, as_node="ada", force=True)
    asked = {each.prompt: each.id for each in (await thread.retry()).approvals}
    assert sorted(asked) == ["bob", "eve"]
    result = await thread.decide({asked["bob"]: {"value": 1}, asked["eve"]: {"value": 2}})
    assert result.state == {"log": [["ada", "by hand"], ["bob", 1], ["eve", 2]]}


async def test_static_pauses_before_and_after_are_asked_by_the_retry(surface: Any) -> None:
    thread = (await surface(shop("weigh"), pause_before=["ship"], pause_after=["weigh"]))()
    await failed(thread)
    await thread.update_state({"total": 50}, as_node="weigh")
    result = await thread.retry()
    assert [each.prompt for each in result.approvals] == [{"after": "weigh"}, {"before": "ship"}]
    first, second = result.approvals
    with pytest.raises(ERRORS, match="after weigh was rejected: no"):
        await thread.decide({first.id: {"reject": "no"}, second.id: {"value": True}})
    (again,) = (await thread.retry()).approvals
    assert again.prompt == {"after": "weigh"}
    assert (await thread.resume(True)).state["log"] == ["read", "stock", "credit", "ship"]


async def test_a_static_pause_after_the_last_node_is_asked_too(surface: Any) -> None:
    thread = (await surface(shop("weigh"), pause_after=["ship"]))()
    await failed(thread)
    await thread.update_state({}, as_node="ship")
    (asked,) = (await thread.retry()).approvals
    assert asked.prompt == {"after": "ship"}
    assert (await thread.resume(True)).status == "completed"
