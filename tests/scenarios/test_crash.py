"""Crash: what was acknowledged is there, the new owner knows at once that the old runs are dead, and they can be continued."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, Storage, Thread, tool
from clew_engine.errors import RunFailedError
from tests.scenarios.scripts import ScriptedModel, rejected
from tests.scenarios.world import refused

ROOT = Path(__file__).parents[2]


async def killed(folder: Path, plan: str, *, wait_for: str = "") -> None:
    """Let a process work on the file until it stands where the plan says, and kill it there."""
    ledger = folder / "ledger"
    ledger.touch()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scenarios.crashing",
        str(folder / "clew.db"),
        plan,
        str(ledger),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    try:
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"ready\n"
        async with asyncio.timeout(60):
            while wait_for not in ledger.read_text():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


@asynccontextmanager
async def reopened(folder: Path, *answers: Any, **settings: Any) -> AsyncIterator[tuple[Thread, ScriptedModel]]:
    """The thread in this process, on the same file."""
    model = ScriptedModel(*answers)
    async with Storage(f"sqlite://{folder / 'clew.db'}") as storage:
        yield Agent("app", model=model, storage=storage, **settings).thread("t"), model


def ran(folder: Path) -> list[str]:
    """What tools did, in either process."""
    return (folder / "ledger").read_text().split()


def noting(folder: Path, name: str, **settings: Any) -> Any:
    """A tool of this process that notes what it does."""

    def work() -> str:
        with (folder / "ledger").open("a") as ledger:
            ledger.write(f"{name}\n")
        return name

    return tool(name=name, **settings)(work)


async def test_every_acknowledged_write_is_there(tmp_path: Path) -> None:
    await killed(tmp_path, "acknowledged")
    async with reopened(tmp_path, "on") as (thread, _):
        assert [message["content"][0]["text"] for message in await thread.messages()] == ["hello", "ok"]
        assert await thread.state() == {"mood": "good"}
        assert (await thread.send("on")).text == "on"


async def test_a_request_from_before_the_crash_has_its_first_outcome(tmp_path: Path) -> None:
    await killed(tmp_path, "acknowledged")
    async with reopened(tmp_path, "other") as (thread, model):
        assert (await thread.send("hello", request_id="r1", mood="good")).text == "ok"
        assert model.requests == []


async def test_the_new_owner_knows_at_once_that_the_old_run_is_dead(tmp_path: Path) -> None:
    await killed(tmp_path, "model")
    async with reopened(tmp_path, "whole") as (thread, _):
        run = (await thread.info()).run
        assert run is not None
        assert run.state == "interrupted"
        with refused("thread_interrupted"):
            await thread.send("hello?")
        with refused("thread_interrupted"):
            async for _ in thread.watch():
                pass
        assert (await thread.retry()).text == "whole"


async def test_text_that_was_only_streamed_is_gone_and_the_model_is_asked_again(tmp_path: Path) -> None:
    await killed(tmp_path, "model")
    async with reopened(tmp_path, "whole") as (thread, model):
        assert len(await thread.messages()) == 1
        await thread.retry()
        assert model.heard() == [("user", "hello")]


async def test_retry_runs_only_what_was_not_recorded(tmp_path: Path) -> None:
    await killed(tmp_path, "tool", wait_for="recorded")
    tools = [noting(tmp_path, "quick"), noting(tmp_path, "slow")]
    async with reopened(tmp_path, "ok", tools=tools) as (thread, model):
        assert (await thread.retry()).text == "ok"
        assert [told for told in model.heard() if told[0] == "done"] == [("done", "quick"), ("done", "slow")]
    assert sorted(ran(tmp_path)) == ["quick", "recorded", "slow", "slow"]


async def test_a_once_tool_is_not_started_again(tmp_path: Path) -> None:
    await killed(tmp_path, "once")
    async with reopened(tmp_path, "ok", tools=[noting(tmp_path, "pay", once=True)]) as (thread, model):
        reply = await thread.retry()
        assert [approval.kind.value for approval in reply.approvals] == ["tool_outcome"]
        reply = await thread.decide({reply.approvals[0].id: {"result": "paid"}})
        assert reply.text == "ok"
        assert model.heard()[-1] == ("done", '"paid"')
    assert ran(tmp_path) == ["pay"]


async def test_a_pending_approval_survives_and_another_process_answers_it(tmp_path: Path) -> None:
    await killed(tmp_path, "approval")
    tools = [noting(tmp_path, "quick")]
    async with reopened(tmp_path, "ok", tools=tools, approve=True) as (thread, _):
        (approval,) = await thread.approvals()
        assert approval.tool == "quick"
        assert (await thread.approve()).text == "ok"
    assert ran(tmp_path) == ["quick"]


async def test_a_cancel_gives_a_dead_run_up(tmp_path: Path) -> None:
    await killed(tmp_path, "model")
    async with reopened(tmp_path, "on") as (thread, _):
        head = await thread.cancel()
        assert (head["status"], head["failure_code"]) == ("failed", "cancelled")
        assert (await thread.send("next")).text == "on"


async def test_a_closed_storage_leaves_its_run_to_be_retried(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def hold() -> None:
        gate.set()
        await asyncio.Event().wait()

    async with reopened(tmp_path, [hold]) as (thread, _):
        sending = asyncio.create_task(thread.send("hello"))
        await gate.wait()
    with refused("stream_cut"):
        await sending
    async with reopened(tmp_path, "ok") as (thread, _):
        run = (await thread.info()).run
        assert run is not None
        assert run.state == "interrupted"
        assert (await thread.retry()).text == "ok"


async def test_a_second_owner_of_the_file_is_refused(tmp_path: Path) -> None:
    async with reopened(tmp_path, "ok") as (thread, _):
        await thread.send("hello")
        with refused("storage_unavailable"):
            async with reopened(tmp_path, "ok") as (other, _):
                await other.send("hello")


async def test_the_failure_of_a_run_survives_too(tmp_path: Path) -> None:
    async with reopened(tmp_path, rejected("why")) as (thread, _):
        with pytest.raises(RunFailedError, match="why"):
            await thread.send("hello")
    async with reopened(tmp_path, "ok") as (thread, _):
        head = (await thread.history())[0]
        assert (head["failure_code"], head["failure_message"], head["retryable"]) == ("model_rejected", "why", False)
        assert (await thread.retry()).text == "ok"
