"""Tools that workers run: a call is handed on, its outcome taken once, and what becomes of it when a worker or nobody is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clew_engine import Agent, Decision, OfflineModel, Storage, Tuning, Workflow, step
from clew_engine.call_outcomes import finish
from clew_engine.errors import (
    CallNotPendingError,
    LeaseLostError,
    RunFailedError,
    StreamCutError,
    ThreadInterruptedError,
)
from clew_engine.events import ToolCallProgress, ToolCallStarted
from clew_engine.messages import TextPart, ToolResultPart
from clew_engine.models import ModelEvent, ModelRequest, after, otherwise
from clew_engine.remote_tools import RemoteTool, remote
from clew_engine.worker_sessions import Told, Why
from clew_engine.worker_tools import WorkerTool, record_of
from clew_storage import CallName, GivenCall, OfferedCall, ThreadKey

CHARGE = WorkerTool("charge")
TUNING = Tuning(look_s=0.02, call_lease_s=0.3, cancel_grace_s=1.0)
RULES = [after("charge").say("It is {result}."), otherwise.call("charge", order="A-1")]
SCHEMA = '{"type": "object", "properties": {"order": {"type": "integer"}}}'


class SeeingModel(OfflineModel):
    """Keeps what it is asked."""

    def __init__(self, rules: Any) -> None:
        super().__init__(rules)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        async for event in super().stream(request):
            yield event


@pytest.fixture(params=["memory://", "sqlite://{folder}/clew.db"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    async with Storage(request.param.format(folder=tmp_path), tuning=TUNING) as opened:
        yield opened


def an_agent(storage: Storage, tool: RemoteTool) -> Agent:
    return Agent("shop", model=OfflineModel(RULES), tools=[tool], storage=storage)


class AWorker:
    """A worker that a test makes do things."""

    def __init__(
        self,
        storage: Storage,
        worker_id: str = "w1",
        *,
        tool: WorkerTool = CHARGE,
        most: int = 10,
        held: tuple[CallName, ...] = (),
    ) -> None:
        self.storage = storage
        self.record = record_of("", worker_id, [tool], max_calls=most, thread_id="", now_ms=storage.now_ms())
        self.calls: asyncio.Queue[GivenCall] = asyncio.Queue()
        self.revoked: asyncio.Queue[tuple[CallName, Why]] = asyncio.Queue()
        self._work = storage.workers.work(self.record, held)
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        told: Told
        try:
            async for told in self._work:
                for call in told.calls:
                    self.calls.put_nowait(call)
                for revoked in told.revoked.items():
                    self.revoked.put_nowait(revoked)
        finally:
            await self._work.aclose()

    async def die(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def answer(
        self, call: CallName, text: str = "charged", *, failed: bool = False, again_ms: int | None = None
    ) -> bool:
        result = ToolResultPart(call.name, "charge", (TextPart(text),), None, failed, "failed" if failed else "done")
        return await finish(self.storage, self.record.worker_id, call, result, again_ms=again_ms)


async def test_a_worker_is_given_the_call_and_its_outcome_is_the_result(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    assert (given.offer.tool, given.delivery) == ("charge", 1)
    await worker.answer(given.offer.call)
    assert (await turn).text == "It is charged."
    await worker.answer(given.offer.call)
    await worker.die()


async def test_an_outcome_is_acknowledged_only_when_it_is_in_the_log(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    await worker.answer(given.offer.call)
    messages = await agent.thread("t").messages()
    assert "tool" in [message["role"] for message in messages]
    await turn
    await worker.die()


async def test_a_worker_says_that_a_call_failed_and_the_model_reads_why(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    await worker.answer(given.offer.call, "no money", failed=True)
    assert (await turn).text == "It is no money."
    await worker.die()


async def test_a_call_of_a_worker_that_died_is_given_to_another(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    first = AWorker(storage, "w1")
    turn = asyncio.create_task(agent.thread("t").send("go"))
    lost = await first.calls.get()
    await first.die()
    second = AWorker(storage, "w2")
    given = await second.calls.get()
    assert given == replace(lost, delivery=2)
    await second.answer(given.offer.call)
    assert (await turn).text == "It is charged."
    with pytest.raises(CallNotPendingError):
        await first.answer(lost.offer.call, "charged twice")
    await second.die()


async def test_a_once_call_of_a_worker_that_died_is_asked_about_and_its_late_outcome_answers(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge", once=True))
    first, second = AWorker(storage, "w1"), None
    turn = asyncio.create_task(agent.thread("t").send("go"))
    lost = await first.calls.get()
    await first.die()
    second = AWorker(storage, "w2")
    reply = await turn
    assert [(asked.kind, asked.tool) for asked in reply.approvals] == [("tool_outcome", "charge")]
    assert second.calls.empty()
    watch = asyncio.create_task(_end(agent))
    await first.answer(lost.offer.call, "charged late")
    await watch
    assert (await agent.thread("t").messages())[-1]["content"][0]["text"] == "It is charged late."
    await first.answer(lost.offer.call, "charged late")
    await second.die()


async def _end(agent: Agent) -> None:
    async for event in agent.thread("t").watch(follow=True):
        if event.type == "run_completed":
            return


async def test_a_call_that_no_worker_takes_fails_the_run_which_can_be_retried(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge", wait=0.05))
    with pytest.raises(RunFailedError, match="no worker took the call of charge") as raised:
        await agent.thread("t").send("go")
    assert (raised.value.failure_code, raised.value.retryable) == ("worker_unavailable", True)
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").retry())
    await worker.answer((await worker.calls.get()).offer.call)
    assert (await turn).text == "It is charged."
    await worker.die()


async def test_a_cancelled_run_takes_its_call_from_the_worker(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    await agent.thread("t").cancel()
    assert await worker.revoked.get() == (given.offer.call, Why.CANCELLED)
    with pytest.raises(CallNotPendingError):
        await worker.answer(given.offer.call)
    await asyncio.gather(turn, return_exceptions=True)
    await worker.die()


async def test_a_worker_takes_no_more_calls_than_it_said(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage, most=2)
    turns = [asyncio.create_task(agent.thread(f"t{number}").send("go")) for number in range(5)]
    given = [await worker.calls.get(), await worker.calls.get()]
    await asyncio.sleep(5 * TUNING.look_s)
    assert worker.calls.empty()
    for left in range(len(turns), 0, -1):
        await worker.answer(given.pop(0).offer.call)
        if left > 2:
            given.append(await worker.calls.get())
    assert {(await turn).text for turn in turns} == {"It is charged."}
    await worker.die()


async def test_a_second_stream_takes_the_place_of_the_first(storage: Storage) -> None:
    first = AWorker(storage)
    await asyncio.sleep(0)
    second = AWorker(storage)
    with pytest.raises(LeaseLostError):
        await first.task
    await second.die()


async def test_a_draining_worker_finishes_what_it_has_and_ends(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    assert await storage.workers.drain("", "w1")
    assert not worker.task.done()
    await worker.answer(given.offer.call)
    await turn
    await worker.task


async def test_a_worker_keeps_its_result_over_a_restart_of_the_server(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/clew.db"
    async with Storage(url, tuning=TUNING) as storage:
        agent = an_agent(storage, remote("charge"))
        worker = AWorker(storage)
        turn = asyncio.create_task(agent.thread("t").send("go"))
        lost = await worker.calls.get()
        await worker.die()
    await asyncio.gather(turn, return_exceptions=True)
    async with Storage(url, tuning=TUNING) as storage:
        agent = an_agent(storage, remote("charge"))
        worker = AWorker(storage, held=(lost.offer.call,))
        with pytest.raises(ThreadInterruptedError):
            await worker.answer(lost.offer.call, "charged before")
        retry = asyncio.create_task(agent.thread("t").retry())
        while not await storage.backend.exchange.sight([lost.offer.call], now_ms=0):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(TUNING.look_s)
        await worker.answer(lost.offer.call, "charged before")
        assert (await retry).text == "It is charged before."
        await worker.die()


async def test_what_a_worker_says_of_a_tool_holds_where_the_app_says_nothing(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage, tool=WorkerTool("charge", "Charges a card.", SCHEMA))
    reply = await agent.thread("t").send("go")
    assert reply.text == 'It is invalid arguments for charge: order: "A-1" is not of type "integer".'
    assert worker.calls.empty()
    declared = an_agent(storage, remote("charge", parameters={"type": "object"}))
    turn = asyncio.create_task(declared.thread("u").send("go"))
    await worker.answer((await worker.calls.get()).offer.call)
    assert (await turn).text == "It is charged."
    await worker.die()


async def test_a_model_is_told_what_workers_say_of_their_tools(storage: Storage) -> None:
    model = SeeingModel(RULES)
    agent = Agent("shop", model=model, tools=[remote("charge", description="The app's words.")], storage=storage)
    worker = AWorker(storage, tool=WorkerTool("charge", "The worker's words.", SCHEMA))
    await agent.thread("t").send("go")
    (spec,) = model.requests[0].tools
    assert (spec.description, spec.parameters["properties"]) == ("The app's words.", {"order": {"type": "integer"}})
    await worker.die()


async def test_a_call_waits_for_the_first_worker_to_learn_that_it_is_once(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    turn = asyncio.create_task(agent.thread("t").send("go"))
    await asyncio.sleep(3 * TUNING.look_s)
    worker = AWorker(storage, tool=WorkerTool("charge", once=True))
    lost = await worker.calls.get()
    assert lost.offer.once
    await worker.die()
    assert [asked.kind for asked in (await turn).approvals] == ["tool_outcome"]


async def test_a_call_that_may_be_run_twice_is_not_given_to_a_worker_that_runs_it_once(storage: Storage) -> None:
    tool = remote("charge", wait=0.2)
    agent = an_agent(storage, tool)
    first = AWorker(storage, "w1", most=1)
    busy = asyncio.create_task(agent.thread("busy").send("go"))
    held = await first.calls.get()
    waits = asyncio.create_task(agent.thread("t").send("go"))
    await asyncio.sleep(3 * TUNING.look_s)
    careful = AWorker(storage, "w2", tool=WorkerTool("charge", once=True))
    with pytest.raises(RunFailedError, match="no worker took the call"):
        await waits
    retry = asyncio.create_task(agent.thread("t").retry())
    given = await careful.calls.get()
    assert given.offer.once
    await careful.answer(given.offer.call)
    assert (await retry).text == "It is charged."
    await first.answer(held.offer.call)
    await busy
    await asyncio.gather(first.die(), careful.die())


async def test_a_call_whose_worker_died_and_no_other_comes_fails_the_run(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge", wait=0.1))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.thread("t").send("go"))
    await worker.calls.get()
    await worker.die()
    with pytest.raises(RunFailedError, match="no worker took the call") as raised:
        await turn
    assert raised.value.failure_code == "worker_unavailable"


@pytest.mark.parametrize("once", [False, True])
async def test_a_call_that_takes_too_long_has_failed_or_is_not_known(storage: Storage, *, once: bool) -> None:
    agent = an_agent(storage, remote("charge", timeout=30, once=once))
    worker = AWorker(storage, tool=WorkerTool("charge", timeout_s=0.05))
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    assert given.deadline_ms is not None
    reply = await turn
    if not once:
        assert reply.text == "It is charge timed out after 0.05 s."
        assert await worker.revoked.get() == (given.offer.call, Why.CANCELLED)
        with pytest.raises(CallNotPendingError):
            await worker.answer(given.offer.call)
    else:
        assert [asked.kind for asked in reply.approvals] == ["tool_outcome"]
        end = asyncio.create_task(_end(agent))
        await worker.answer(given.offer.call, "charged late")
        await end
    await worker.die()


async def test_a_call_is_tried_again_until_it_had_its_tries(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage, tool=WorkerTool("charge", max_tries=3))
    turn = asyncio.create_task(agent.thread("t").send("go"))
    for delivery in (1, 2):
        given = await worker.calls.get()
        assert given.delivery == delivery
        assert await worker.answer(given.offer.call, "busy", failed=True, again_ms=1)
    given = await worker.calls.get()
    assert not await worker.answer(given.offer.call, "busy still", failed=True, again_ms=1)
    assert (await turn).text == "It is busy still."
    await worker.die()


async def test_what_is_done_once_is_not_tried_again(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge", once=True))
    worker = AWorker(storage, tool=WorkerTool("charge", max_tries=3))
    turn = asyncio.create_task(agent.thread("t").send("go"))
    given = await worker.calls.get()
    assert not await worker.answer(given.offer.call, "busy", failed=True, again_ms=1)
    assert (await turn).text == "It is busy."
    await worker.die()


async def test_what_people_want_run_again_is_run_again(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge", once=True))
    first = AWorker(storage, "w1")
    turn = asyncio.create_task(agent.thread("t").send("go"))
    await first.calls.get()
    await first.die()
    (asked,) = (await turn).approvals
    second = AWorker(storage, "w2")
    again = asyncio.create_task(agent.thread("t").decide([Decision.run_again(asked.id)]))
    await second.answer((await second.calls.get()).offer.call, "charged again")
    assert (await again).text == "It is charged again."
    await second.die()


async def test_who_watches_hears_how_far_a_call_is(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    stream = agent.thread("t").stream("go")
    told, calls, answers = [], [], []
    async for event in stream:
        if isinstance(event.payload, ToolCallStarted):
            calls.append((await worker.calls.get()).offer.call)
            assert await storage.workers.report("w1", calls[0], b'{"done": 1}')
        if isinstance(event.payload, ToolCallProgress):
            told.append((event.payload.name, event.payload.progress))
            answers.append(asyncio.create_task(worker.answer(calls[0])))
    await asyncio.gather(*answers)
    assert told == [("charge", b'{"done": 1}')]
    await worker.die()


async def test_a_step_that_failed_is_made_anew_by_a_retry(storage: Storage) -> None:
    charge, flow = remote("charge"), Workflow("payments")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        return {"paid": await step("charge", charge, order="A-1")}

    flow.start("pay")
    app = flow.compile(storage)
    worker = AWorker(storage)
    run = asyncio.create_task(app.thread("t").run({}))
    await worker.answer((await worker.calls.get()).offer.call, "no money", failed=True)
    with pytest.raises(RunFailedError, match="no money"):
        await run
    retry = asyncio.create_task(app.thread("t").retry())
    await worker.answer((await worker.calls.get()).offer.call)
    assert (await retry).state["paid"] == "charged"
    await worker.die()


async def test_an_outcome_that_is_there_outlives_a_retry_that_finds_no_worker(storage: Storage) -> None:
    call = CallName(ThreadKey("", "t"), "key")
    worker = AWorker(storage)
    await storage.backend.exchange.offer(OfferedCall(call, "charge", b"{}", False, 0))
    await storage.backend.exchange.hold("", "w1", [call], lease_s=1, now_ms=storage.now_ms())
    await storage.backend.exchange.finish("w1", call, b"1")
    await storage.desk.disown([call, CallName(ThreadKey("", "t"), "other")])
    sights = await storage.backend.exchange.sight([call], now_ms=storage.now_ms())
    assert sights[call].outcome == b"1"
    await worker.die()


async def test_a_run_without_a_thread_has_its_calls_made_by_workers(storage: Storage) -> None:
    agent = an_agent(storage, remote("charge"))
    worker = AWorker(storage)
    turn = asyncio.create_task(agent.run("go"))
    given = await worker.calls.get()
    await worker.answer(given.offer.call)
    assert (await turn).text == "It is charged."
    await worker.die()


async def test_a_stream_ends_when_the_server_stops(storage: Storage) -> None:
    worker = AWorker(storage)
    await asyncio.sleep(0)
    await storage.drain(0)
    with pytest.raises(StreamCutError, match="another server"):
        await worker.task
