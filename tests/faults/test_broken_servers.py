"""The judges of several servers see: with a guard taken out of the servers or of their database, the same checks must find the harm."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from clew import VersionConflictError
from tests.faults import figures
from tests.faults.broken import BROKEN, break_schema
from tests.faults.fleets import Fleet
from tests.faults.history_clients import HistoryClient, Known
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_ledger
from tests.faults.recovery import finish
from tests.faults.test_histories import judge_all, reach
from tests.faults.test_paused_owners import pause_the_owner
from tests.faults.test_server_approvals import decide_and_lose, race
from tests.faults.test_server_deletes import crowds, races
from tests.faults.test_server_waiters import queue, refusals
from tests.faults.test_takeovers import Storm, storm

# Those whose figures `make test` does not have either.
campaign = pytest.mark.campaign


async def seen(check: Awaitable[Findings | Storm]) -> list[str]:
    """What a check finds. That a caller meets a conflict who expected no version is a finding, too."""
    try:
        met = await check
    except VersionConflictError as error:
        return [str(error)]
    return (met.found if isinstance(met, Storm) else met).all


async def test_without_a_fence_what_a_stopped_owner_writes_is_seen(tmp_path: Path, postgres_dsn: str) -> None:
    journal, dice = Journal(), random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, environment={BROKEN: "no fence"}) as fleet:
        await break_schema(fleet.schema, "no fence")
        assert await seen(pause_the_owner(fleet, 0, journal, dice))
    figures.catch("no fence")


@campaign
async def test_takeovers_before_a_lease_has_run_out_are_seen(tmp_path: Path, postgres_dsn: str) -> None:
    journal, dice = Journal(), random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, environment={BROKEN: "no fence"}) as fleet:
        await break_schema(fleet.schema, "no fence", "takeover without expiry")
        problems = await seen(storm(fleet, 0, journal, dice, threads=3))
        problems += judge(journal, await fleet.stored(), Ledger(fleet.ledger_path).entries()).all
        assert problems
    figures.catch("takeover without expiry")


async def test_a_history_of_threads_that_several_servers_write_at_once_is_seen(
    tmp_path: Path, postgres_dsn: str
) -> None:
    dice, known = random.Random(0), Known()
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, environment={BROKEN: "no fence"}) as fleet:
        await break_schema(fleet.schema, "no fence", "takeover without expiry")
        owner, other = (
            HistoryClient(partial(reach, server, "h"), known, itertools.count(), dice, plans=("|held",))
            for server in fleet.servers
        )
        gate = fleet.gate()
        async with asyncio.TaskGroup() as asked:
            asked.create_task(owner.ask("send"))
            await gate.reached()
            # Who comes to the place of the gate from now on goes through it.
            fleet.gate().open()
            await other.ask("retry")
            gate.open()
        problems = judge_all({"h": known}, await fleet.stored())
        assert any("is a step of a thread that was completed" in each for each in problems), problems
    figures.catch("no fence, histories")


async def test_a_result_that_a_server_has_only_in_memory_is_seen_as_lost_and_as_run_again(
    tmp_path: Path, postgres_dsn: str
) -> None:
    journal, dice = Journal(), random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, environment={BROKEN: "result in memory"}) as fleet:
        gate, owner = fleet.gate(), fleet.servers[0]
        journal.sent["turn|fetch held"] = "t"
        reader = journal.follow("t", owner.thread("t").stream("turn|fetch held"))
        await gate.reached()
        await reader.until("checkpoint_written", 3)
        await fleet.kill(owner)
        gate.open()
        ledger = Ledger(fleet.ledger_path)
        before, stored, told = ledger.entries(), await fleet.stored(), journal.finished()
        found = judge(journal, stored, before)
        # What the other has in its memory alone may come into its own way.
        with suppress(VersionConflictError):
            await finish(fleet.thread("t"), journal, dice=dice, survives=True)
        found.add(judge_ledger(ledger.entries(), len(before), stored, told, journal))
    assert found.lost
    assert found.reruns
    figures.catch("result in memory, three servers")


@campaign
async def test_a_decision_that_a_server_has_only_in_memory_is_seen_as_lost(tmp_path: Path, postgres_dsn: str) -> None:
    journal, dice = Journal(), random.Random(0)
    async with Fleet(
        tmp_path / "fleet", postgres_dsn, dice, size=2, environment={BROKEN: "decision in memory"}
    ) as fleet:
        found = await decide_and_lose(fleet, 0, "kill", journal, dice)
        assert found.lost
    figures.catch("decision in memory")


@campaign
async def test_an_approval_that_is_decided_again_is_seen(tmp_path: Path, postgres_dsn: str) -> None:
    dice = random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, environment={BROKEN: "no fence"}) as fleet:
        await break_schema(fleet.schema, "no fence", "takeover without expiry", "decided is decided again")
        met = await asyncio.gather(
            *(race(fleet, f"r{number}", dice, {}) for number in range(3)), return_exceptions=True
        )
        assert any(met)
    figures.catch("decided is decided again")


@campaign
async def test_waiters_who_are_served_last_come_first_are_seen(tmp_path: Path, postgres_dsn: str) -> None:
    dice = random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, lease_s=15.0) as fleet:
        await break_schema(fleet.schema, "no order of tickets")
        assert any("were served as" in each for each in await queue(fleet, 4, dice))
    figures.catch("no order of tickets")


@campaign
async def test_tickets_that_refused_waiters_keep_are_seen(tmp_path: Path, postgres_dsn: str) -> None:
    dice = random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, lease_s=15.0) as fleet:
        await break_schema(fleet.schema, "refused waiters keep tickets")
        with pytest.raises(TimeoutError):
            await refusals(fleet, 1)
    figures.catch("refused waiters keep tickets")


@campaign
async def test_a_delete_that_leaves_messages_is_seen(tmp_path: Path, postgres_dsn: str) -> None:
    dice = random.Random(0)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, lease_s=15.0) as fleet:
        await break_schema(fleet.schema, "delete leaves messages")
        assert any("messages" in each for each in await races(fleet, 5, dice))
    figures.catch("delete leaves messages")


@campaign
async def test_callers_who_are_told_that_a_live_run_died_are_seen(tmp_path: Path, postgres_dsn: str) -> None:
    dice = random.Random(0)
    environment = {BROKEN: "void grants are judged"}
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, size=2, lease_s=15.0, environment=environment) as fleet:
        assert any("was interrupted" in each for each in await crowds(fleet, 5, dice))
    figures.catch("void grants are judged")
