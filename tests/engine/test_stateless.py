"""Runs without a thread: streamed like others, and nothing of them is kept."""

from __future__ import annotations

import asyncio

from clew_engine import Agent, OfflineModel, RunOptions, Storage, tool
from clew_engine.events import RunCompleted, RunSuspended
from clew_engine.messages import TextPart
from clew_engine.models.offline_rules import otherwise
from clew_engine.stateless import send_stateless
from clew_engine.streams import EventStream

SAYS_HELLO = OfflineModel([otherwise.say("hello")])


def a_stream(storage: Storage, agent: Agent) -> EventStream:
    return send_stateless(storage, agent.program, (TextPart("hi"),), {}, options=RunOptions())


async def test_a_stateless_run_streams_its_events_and_names_no_thread() -> None:
    async with Storage("memory://") as storage:
        stream = a_stream(storage, Agent("greeter", model=SAYS_HELLO))
        events = [event async for event in stream]
        assert isinstance(events[-1].payload, RunCompleted)
        assert events[-1].payload.reply.text == "hello"
        assert {event.thread_id for event in events} == {""}
        assert events[-1].payload.reply.thread_id == ""
        assert not storage.scratches


async def test_leaving_a_stateless_run_cancels_it() -> None:
    cancelled = asyncio.Event()
    started = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    async with Storage("memory://") as storage:
        stream = a_stream(storage, Agent("waiter", model=OfflineModel([otherwise.call("wait")]), tools=[wait]))
        async for _ in stream.batches():
            if started.is_set():
                break
        await stream.aclose()
        assert cancelled.is_set()
        assert not storage.scratches


async def test_a_stateless_run_that_needs_a_person_ends_suspended() -> None:
    @tool
    def pay() -> str:
        """Pay."""
        return "paid"

    async with Storage("memory://") as storage:
        agent = Agent("payer", model=OfflineModel([otherwise.call("pay")]), tools=[pay], approve=["pay"])
        events = [event async for event in a_stream(storage, agent)]
        last = events[-1].payload
        assert isinstance(last, RunSuspended)
        assert [approval.tool for approval in last.approvals] == ["pay"]
        assert last.approvals[0].thread_id == ""
