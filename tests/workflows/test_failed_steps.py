"""A raise of a step is its outcome: recorded, told alike each time, and tried again by a retry only where the node let it pass."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clew import Client
from clew_engine import StepFailedError, Storage, Workflow, pause, step, step_sync, tool
from clew_engine.errors import RunFailedError
from clew_engine.tools import Tool
from clew_engine.workflows.app import WorkflowThread
from tests.support.serving import serving


class Bank:
    """Refuses the first charges, and counts them."""

    def __init__(self, refuses: int = 1) -> None:
        self.refuses = refuses
        self.charges = 0

    def charge(self) -> str:
        """Has an effect, which may fail."""
        self.charges += 1
        if self.charges <= self.refuses:
            raise ConnectionError("the bank is down")
        return "paid"

    def as_tool(self, *, once: bool) -> Tool:
        """The same as a tool."""
        return tool(name="charge", once=once)(self.charge)


def careful(bank: Bank, *, once: bool, plain: bool, as_tool: bool = False) -> Workflow:
    """Charges; where that fails it says so, and asks a person how to go on."""
    what = bank.as_tool(once=once) if as_tool else bank.charge
    flow = Workflow("careful")

    async def awaited(_: Any) -> dict[str, Any]:
        try:
            return {"got": await step("charge", what, once=once)}
        except StepFailedError as error:
            return {"got": pause(f"{error.kind}: {error.message}"), "told": str(error)}

    def called(_: Any) -> dict[str, Any]:
        try:
            return {"got": step_sync("charge", what, once=once)}
        except StepFailedError as error:
            return {"got": pause(f"{error.kind}: {error.message}"), "told": str(error)}

    flow.node(called if plain else awaited, name="pay")
    flow.start("pay")
    return flow


EACH = [
    pytest.mark.parametrize("once", [False, True], ids=["any", "once"]),
    pytest.mark.parametrize("plain", [False, True], ids=["async", "sync"]),
    pytest.mark.parametrize("as_tool", [False, True], ids=["function", "tool"]),
]


def each(test: Any) -> Any:
    """Of every kind of step."""
    for mark in EACH:
        test = mark(test)
    return test


@each
async def test_a_step_that_raised_is_not_done_again_after_a_pause_and_raises_the_same(
    storage: Storage, once: bool, plain: bool, as_tool: bool
) -> None:
    bank = Bank()
    thread = careful(bank, once=once, plain=plain, as_tool=as_tool).compile(storage).thread("t")
    (waiting,) = (await thread.run()).approvals
    assert waiting.prompt == "ConnectionError: the bank is down"
    assert (await thread.resume("by hand")).state == {
        "got": "by hand",
        "told": "step 'charge' failed: ConnectionError: the bank is down",
    }
    assert bank.charges == 1


@each
async def test_a_retry_tries_a_step_again_whose_failure_the_node_let_pass(
    storage: Storage, once: bool, plain: bool, as_tool: bool
) -> None:
    bank = Bank(refuses=2)
    what = bank.as_tool(once=once) if as_tool else bank.charge
    flow = Workflow("plain")

    async def awaited(_: Any) -> dict[str, Any]:
        return {"got": await step("charge", what, once=once)}

    flow.node((lambda _: {"got": step_sync("charge", what, once=once)}) if plain else awaited, name="pay")
    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    failed = "node 'pay' failed: step 'charge' failed: ConnectionError: the bank is down"
    for go_on in (thread.run, thread.retry):
        with pytest.raises(RunFailedError, match=failed):
            await go_on()
    assert (await thread.retry()).state == {"got": "paid"}
    assert bank.charges == 3


async def test_a_failure_that_the_node_had_caught_is_kept_by_the_retry_of_another(storage: Storage) -> None:
    bank, refunds = Bank(), Bank()
    flow = Workflow("saga")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        try:
            return {"got": await step("charge", bank.charge)}
        except StepFailedError:
            return {"refund": await step("refund", refunds.charge)}

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="step 'refund' failed"):
        await thread.run()
    assert (await thread.retry()).state == {"refund": "paid"}
    assert (bank.charges, refunds.charges) == (1, 2)


@pytest.mark.parametrize("explicit", [True, False])
async def test_a_failure_that_leaves_the_node_as_the_cause_of_another_is_tried_again(
    storage: Storage, explicit: bool
) -> None:
    bank = Bank()
    flow = Workflow("translating")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        try:
            return {"got": await step("charge", bank.charge, once=True)}
        except StepFailedError as error:
            if explicit:
                raise LookupError("no money") from error
            raise LookupError("no money")  # noqa: B904 - so do many

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="LookupError: no money"):
        await thread.run()
    assert (await thread.retry()).state == {"got": "paid"}


async def test_failures_of_a_task_group_are_all_tried_again(storage: Storage) -> None:
    banks = Bank(), Bank()
    flow = Workflow("both")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        both = asyncio.Barrier(2)

        async def charge(bank: Bank) -> str:
            await both.wait()
            return bank.charge()

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(step(f"charge {number}", charge, bank)) for number, bank in enumerate(banks)]
        return {"got": [task.result() for task in tasks]}

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError):
        await thread.run()
    assert (await thread.retry()).state == {"got": ["paid", "paid"]}


@pytest.mark.parametrize("caught", [True, False])
async def test_steps_of_a_workflow_inside_fail_alike(storage: Storage, caught: bool) -> None:
    bank = Bank()
    inner = careful(bank, once=True, plain=False)
    if not caught:
        inner = Workflow("inner")

        @inner.node
        async def pay(_: Any) -> dict[str, Any]:
            return {"got": await step("charge", bank.charge, once=True)}

        inner.start("pay")
    flow = Workflow("outer")
    flow.workflow(inner.compile(), name="inside")
    flow.start("inside")
    thread = flow.compile(storage).thread("t")
    if caught:
        await thread.run()
        assert (await thread.resume("by hand")).state["got"] == "by hand"
        assert bank.charges == 1
        return
    with pytest.raises(RunFailedError, match="step 'charge' failed"):
        await thread.run()
    assert (await thread.retry()).state == {"got": "paid"}


async def test_a_step_within_a_step_is_tried_again_with_it(storage: Storage) -> None:
    bank = Bank()
    flow = Workflow("nested")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        async def all_of_it() -> str:
            return str(await step("charge", bank.charge))

        return {"got": await step("all", all_of_it)}

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="step 'all' failed: StepFailedError: step 'charge' failed"):
        await thread.run()
    assert (await thread.retry()).state == {"got": "paid"}


async def test_a_once_step_that_a_person_said_had_failed_is_tried_again_by_the_retry(storage: Storage) -> None:
    reached = asyncio.Event()
    charges: list[int] = []

    async def charge() -> int:
        charges.append(1)
        if len(charges) == 1:
            reached.set()
            await asyncio.sleep(3600)
        return len(charges)

    flow = Workflow("w")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        return {"got": await step("charge", charge, once=True)}

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    run = asyncio.ensure_future(thread.run())
    await reached.wait()
    await thread.cancel()
    (waiting,) = (await run).approvals
    with pytest.raises(RunFailedError, match="step 'charge' failed: the bank says so"):
        await thread.decide({waiting.id: {"fail": "the bank says so"}})
    assert (await thread.retry()).state == {"got": 2}


@pytest.mark.parametrize("lost", [{1, 2}, "x" * (1 << 21)], ids=["no JSON", "too large"])
async def test_a_once_step_whose_result_cannot_be_kept_is_not_done_again_by_itself(storage: Storage, lost: Any) -> None:
    charges: list[int] = []

    def charge() -> Any:
        charges.append(1)
        return lost

    flow = Workflow("w")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        return {"got": await step("charge", charge, once=True)}

    flow.start("pay")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="step 'charge' failed"):
        await thread.run()
    # It is done, and nobody knows what came of it but a person.
    (waiting,) = (await thread.retry()).approvals
    assert waiting.kind.value == "tool_outcome"
    assert (await thread.decide({waiting.id: {"result": 1}})).state == {"got": 1}
    assert charges == [1]


async def test_the_failure_is_durable_before_the_node_hears_of_it(storage: Storage) -> None:
    bank = Bank()
    threads: list[WorkflowThread] = []
    seen: list[Any] = []
    flow = Workflow("w")

    @flow.node
    async def pay(_: Any) -> None:
        try:
            await step("charge", bank.charge)
        except StepFailedError as error:
            seen.extend([(await threads[0].history(1))[0]["version"], error.__cause__.__class__])

    flow.start("pay")
    threads.append(flow.compile(storage).thread("t"))
    await threads[0].run()
    assert seen == [2, ConnectionError]


@pytest.mark.parametrize("caught", [True, False])
async def test_a_snapshot_keeps_what_failed_and_what_is_tried_again(caught: bool) -> None:
    bank = Bank()
    if caught:
        app = careful(bank, once=True, plain=False).compile()
        result = await app.run()
        assert result.snapshot is not None
        assert (await app.resume(result.snapshot, "by hand")).state["got"] == "by hand"
        assert bank.charges == 1
        return
    flow = Workflow("w")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        return {"got": await step("charge", bank.charge, once=True)}

    flow.start("pay")
    app = flow.compile()
    with pytest.raises(RunFailedError) as failure:
        await app.run()
    assert failure.value.snapshot is not None
    assert (await app.resume(failure.value.snapshot)).state == {"got": "paid"}


async def test_over_grpc_a_failed_step_asks_nobody_and_is_not_done_again(storage: Storage) -> None:
    bank = Bank()
    app = careful(bank, once=True, plain=True).compile()
    async with serving([app], storage) as served, Client(served.target) as client:
        thread = client.workflow("careful").thread("t")
        (waiting,) = (await thread.run()).approvals
        assert waiting.kind == "pause"
        assert (await thread.resume("by hand")).state["got"] == "by hand"
    assert bank.charges == 1
