"""The agent under test. A message is its own script: `tag|fetch fetch|charge|refund` calls two tools, then one, then one, then says `done tag`."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from clew_engine import Agent, Storage, ToolContext, Tuning, tool
from clew_engine.messages import Part, TextPart, ToolCallPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk
from tests.faults.ledger import Entry, Ledger

LEDGER = "CLEW_FAULTS_LEDGER"
WORK_S = "CLEW_FAULTS_WORK_S"
GATE = "CLEW_FAULTS_GATE"
APP = "plans"
TUNING = Tuning(model_backoff_s=0.0, cancel_grace_s=0.5, busy_timeout_s=10.0)


class PlanModel:
    """Says and calls what the newest message of the user says; the same transcript always has the same answer."""

    name = "plan"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One step of the plan."""
        told, step = "", 0
        for message in request.messages:
            if message.role == "user":
                told, step = message.text, 0
            elif message.role == "assistant":
                step += 1
        tag, *steps = told.split("|")
        calls = steps[step].split() if step < len(steps) else []
        text = f"step {step} of {tag}" if calls else reply_to(told)
        half = len(text) // 2
        yield TextChunk(0, text[:half])
        await asyncio.sleep(0)
        yield TextChunk(0, text[half:])
        content: list[Part] = [TextPart(text)]
        content += [ToolCallPart(f"c{number}", name, "{}") for number, name in enumerate(calls)]
        yield ModelResponse(tuple(content), Usage(1, 1), "tool_call" if calls else "stop", self.name)


def reply_to(told: str) -> str:
    """What the last step of a plan says."""
    return f"done {told.partition('|')[0]}"


async def _work(name: str, context: ToolContext) -> str:
    """Enter the call, take a moment (a random one, so that a kill may hit any part of it), enter what came of it."""
    start = Entry("started", name, context.run_id, context.call_id, context.idempotency_key, os.getpid())
    Ledger(Path(os.environ[LEDGER])).append(start)
    await asyncio.sleep(random.uniform(0, float(os.environ.get(WORK_S, "0.01"))))
    return _ended(start)


def _ended(start: Entry) -> str:
    token = secrets.token_hex(8)
    Ledger(Path(os.environ[LEDGER])).append(replace(start, phase="done", token=token))
    return token


@tool
async def fetch(context: ToolContext) -> str:
    """Look something up; may be repeated."""
    return await _work("fetch", context)


@tool(once=True)
async def charge(context: ToolContext) -> str:
    """Has an effect that nobody can take back."""
    return await _work("charge", context)


@tool(approve=True)
async def refund(context: ToolContext) -> str:
    """Waits for a person."""
    return await _work("refund", context)


@tool(once=True, approve=True)
async def pay(context: ToolContext) -> str:
    """Waits for a person, and has an effect that nobody can take back."""
    return await _work("pay", context)


async def _held_work(name: str, context: ToolContext) -> str:
    start = Entry("started", name, context.run_id, context.call_id, context.idempotency_key, os.getpid())
    Ledger(Path(os.environ[LEDGER])).append(start)
    await asyncio.to_thread(Path(os.environ[GATE]).read_bytes)
    return _ended(start)


@tool
async def held(context: ToolContext) -> str:
    """Does its work when the test opens the gate."""
    return await _held_work("held", context)


@tool(once=True)
async def held_once(context: ToolContext) -> str:
    """As held, and has an effect that nobody can take back."""
    return await _held_work("held_once", context)


TOOLS = (fetch, charge, refund, pay, held, held_once)
ONCE = frozenset(each.name for each in TOOLS if each.once)
GATED = frozenset(each.name for each in TOOLS if each.approve)


def make_agent(storage: Storage | None = None) -> Agent:
    """The agent, on a storage or for a server to put one under."""
    return Agent(APP, model=PlanModel(), tools=TOOLS, storage=storage)
