"""State that is written from outside, on the threads of workflows: what declares it, and the step under way."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from clew_engine import ClewError, Storage, Workflow, pause, step


class Order(TypedDict, total=False):
    """What the workflow works on."""

    amount: int
    paid: int


async def test_a_write_while_a_step_is_paused_does_not_do_again_what_was_done(storage: Storage) -> None:
    done: list[str] = []
    flow = Workflow("w", state=Order)

    async def pay(state: Any) -> dict[str, Any]:
        await step("charge", lambda: done.append("charged"))
        return {"paid": state["amount"] + pause("how much more?", {"type": "integer"})}

    flow.node(pay, name="pay")
    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    await thread.run({"amount": 1})
    with pytest.raises(ClewError) as refusal:
        await thread.update_state({"amount": 10})
    assert refusal.value.code == "thread_suspended"
    with pytest.raises(ClewError) as refusal:
        await thread.update_state({"amount": "ten"}, force=True)
    assert refusal.value.code == "state_invalid"
    written = await thread.update_state({"amount": 10}, force=True)
    assert (written["status"], written["next"], written["source"]) == ("suspended", ["pay"], "update")
    result = await thread.resume(5)
    assert (result.status.value, result.state, done) == ("completed", {"amount": 10, "paid": 15}, ["charged"])


async def test_a_failed_run_goes_on_with_the_state_that_was_mended(storage: Storage) -> None:
    flow = Workflow("w", state=Order)

    def pay(state: Any) -> dict[str, Any]:
        if state["amount"] < 0:
            raise ValueError("nothing to pay")
        return {"paid": state["amount"]}

    flow.node(pay, name="pay")
    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(ClewError):
        await thread.run({"amount": -1})
    written = await thread.update_state({"amount": 3})
    assert (written["status"], written["next"]) == ("failed", ["pay"])
    assert (await thread.retry()).state == {"amount": 3, "paid": 3}
