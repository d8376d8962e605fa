"""Promises 9 and 10: an approval fires once, for exactly what was shown, and an acknowledged decision is never lost."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from clew_engine.approvals import digest_of
from clew_storage import Grant, Source, ThreadKey, Write, Written
from clew_storage.local_leases import LocalLeases
from clew_storage.sqlite import appends, approvals
from clew_storage.sqlite.rows import find_thread
from clew_storage.sqlite.threads import SqliteThreads
from tests.faults import figures, stored
from tests.faults.broken import moved_onto
from tests.faults.gates import FileGate
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.process import Process
from tests.faults.recovery import recover
from tests.faults.worlds import sqlite_world
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle

DECIDERS = 8
ANSWERS: tuple[Any, ...] = (True, False, {"arguments": {"amount": -1}})


class Till:
    """Keeps what the tool ran with."""

    def __init__(self) -> None:
        self.ran: list[int] = []

    async def refund(self, amount: int) -> str:
        """A tool that people are asked about."""
        self.ran.append(amount)
        return f"refunded {amount}"


async def race(thread: Handle, amount: int, till: Till, dice: random.Random) -> list[str]:
    """One approval and eight people who answer it at once; what is wrong with how it ended."""
    suspended = await thread.send("please")
    (shown,) = await thread.approvals()
    answers = [dice.choice(ANSWERS) for _ in range(DECIDERS)]
    decided = await asyncio.gather(
        *(thread.decide({suspended.approvals[0]: answer}) for answer in answers), return_exceptions=True
    )
    winners = [answer for answer, turn in zip(answers, decided, strict=True) if not isinstance(turn, BaseException)]
    codes = {getattr(each, "code", repr(each)) for each in decided if isinstance(each, BaseException)}
    wrong = []
    if len(winners) != 1 or codes != {"approval_already_decided"}:
        wrong.append(f"{len(winners)} winners, the others were told {codes}")
    for winner in winners:
        expected = [-1] if winner not in (True, False) else [amount] * winner
        if till.ran != expected:
            wrong.append(f"{winner} won, and the tool ran with {till.ran}")
    if shown["arguments_digest"] != digest_of(f'{{"amount": {amount}}}'):
        wrong.append(f"what was shown has another digest: {shown}")
    return wrong


async def raced(database: Path, races: int) -> list[str]:
    """Races one after the other; what was wrong with any."""
    till, dice, wrong = Till(), random.Random(9), list[str]()
    async with sqlite_world(database) as world:
        for amount in range(races):
            world.agent(
                ask("refund", amount=amount), "ok", name=f"app-{amount}", tools=[till.refund], approve=["refund"]
            )
        for amount in range(races):
            till.ran.clear()
            wrong += await race(await world.thread(f"t-{amount}", app=f"app-{amount}"), amount, till, dice)
    return wrong


async def test_of_eight_deciders_one_wins_and_only_what_he_approved_runs(tmp_path: Path) -> None:
    races = figures.times(200, 1000)
    wrong = await raced(tmp_path / "clew.db", races)
    variants = ("decided is decided again, one file",)
    figures.record(figures.Figure(9, f"{DECIDERS} deciders at once", races, other=len(wrong), variants=variants))
    assert not wrong, "\n".join(wrong)


async def test_an_approval_that_is_decided_again_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_turns(monkeypatch)
    monkeypatch.setattr(approvals, "_PENDING", "true")
    wrong = await raced(tmp_path / "clew.db", 1)
    assert f"{DECIDERS} winners, the others were told set()" in wrong
    figures.catch("decided is decided again, one file")


def without_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a thread, all deciders have read it before one of them writes, and a write goes to whatever stands there."""
    append, put, everyone = SqliteThreads.append, appends.append, asyncio.Barrier(DECIDERS)

    async def at_once(self: LocalLeases, key: ThreadKey, *, purpose: str, wait_s: float, first: bool = False) -> Grant:
        return Grant(key, self.next_epoch(), purpose)

    async def together(self: SqliteThreads, write: Write) -> Written:
        if write.checkpoint.source is Source.DECISION:
            await everyone.wait()
        return await append(self, write)

    def unfenced(connection: sqlite3.Connection, write: Write, *, admitted: bool) -> Written:
        thread = find_thread(connection, write.key)
        return put(connection, moved_onto(thread.record, write) if thread else write, admitted=True)

    monkeypatch.setattr(LocalLeases, "acquire", at_once)
    monkeypatch.setattr(LocalLeases, "holds", lambda *_: True)
    monkeypatch.setattr(SqliteThreads, "append", together)
    monkeypatch.setattr(appends, "append", unfenced)


async def decide_and_die(
    process: Process, journal: Journal, text: str, gate: FileGate, *, checkpoints: int
) -> Findings:
    """A decision whose process dies when so many of the checkpoints after it were told of; what is found after it."""
    thread = process.thread(f"t-{text}".partition("|")[0])
    journal.sent[text] = thread.id
    suspended = await journal.follow(thread.id, thread.stream(text)).turn()
    (approval,) = suspended.approvals
    reader = journal.follow(thread.id, thread.stream_decide({approval: True}), {approval: "approved"})
    await reader.until("checkpoint_written", checkpoints)
    await process.kill()
    gate.open()
    return await recover(process, journal, random.Random(checkpoints))


async def test_a_decision_that_was_acknowledged_goes_on_after_a_kill(tmp_path: Path) -> None:
    cycles, dice, journal = figures.times(5, 200), random.Random(10), Journal()
    process = Process(tmp_path)
    for number in range(cycles):
        gate = FileGate(tmp_path / f"gate-{number}")
        await process.start(**gate.environment)
        # Somewhere between the decision's own checkpoint and the one of the call that it let through.
        checkpoints = dice.choice((1, 2))
        findings = await decide_and_die(process, journal, f"turn-{number}|refund|held", gate, checkpoints=checkpoints)
        assert not findings.all, "\n".join(findings.all)
        await process.kill()
    asked = stored.read(process.database).approvals
    assert set(asked.values()) == {"approved"}
    assert len(asked) == cycles
    variants = ("decision in memory, one file",)
    figures.record(figures.Figure(10, "killed right after a decision", cycles, variants=variants))
