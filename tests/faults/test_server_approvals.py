"""Promises 9 and 10 on three servers: of those who decide at once one wins, and what he was told lasts when his server is killed, stopped or taken over."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, named, times
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_calls
from tests.faults.recovery import finish

pytestmark = pytest.mark.campaign

DECIDERS = 8
TOGETHER = 5
LOSERS = frozenset({"approval_already_decided", "resume_invalid"})


async def race(fleet: Fleet, thread_id: str, dice: random.Random, states: dict[str, str]) -> list[str]:
    """One approval, and eight people who answer it at once through all servers; what is wrong with how it ended. `states`: what became of each."""
    run = (await fleet.thread(thread_id).send(f"{thread_id}|refund")).run_id
    (asked,) = await fleet.thread(thread_id).approvals()
    answers = [dice.random() < 0.5 for _ in range(DECIDERS)]
    told = await asyncio.gather(
        *(fleet.thread(thread_id).decide({asked["id"]: answer}) for answer in answers), return_exceptions=True
    )
    won = [answer for answer, turn in zip(answers, told, strict=True) if not isinstance(turn, BaseException)]
    codes = {getattr(each, "code", repr(each)) for each in told if isinstance(each, BaseException)}
    wrong = []
    if len(won) != 1 or not codes <= LOSERS:
        wrong.append(f"{thread_id}: {len(won)} won, the others were told {codes}")
    states[asked["id"]] = "approved" if won[:1] == [True] else "rejected"
    began = [each for each in Ledger(fleet.ledger_path).entries() if each.run == run and each.phase == "started"]
    if len(began) != (won[:1] == [True]):
        wrong.append(f"{thread_id}: {won} won, and the call began {len(began)} times")
    sources = [each["source"] for each in await fleet.thread(thread_id).history()]
    if sources.count("decision") != 1:
        wrong.append(f"{thread_id}: its history has {sources}")
    return wrong


async def test_of_eight_deciders_on_three_servers_one_wins(tmp_path: Path, postgres_dsn: str) -> None:
    races, dice, wrong, states = figures.times(10, 1000), random.Random(9), list[str](), dict[str, str]()
    # Nothing dies here: a lease as it is outside of tests, which a busy machine does not lose.
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=15.0) as fleet:
        for number in range(0, races, TOGETHER):
            met = await asyncio.gather(*(race(fleet, f"r{number + each}", dice, states) for each in range(TOGETHER)))
            wrong += [each for some in met for each in some]
            figures.progress("races of deciders", number + TOGETHER, races)
        if (await fleet.stored()).approvals != states:
            wrong.append("an approval is not stored as it was decided")
    variants = ("decided is decided again",)
    figures.record(
        figures.Figure(9, f"{DECIDERS} deciders at once, three servers", races, other=len(wrong), variants=variants)
    )
    assert not wrong, "\n".join(wrong)


async def decide_and_lose(fleet: Fleet, number: int, how: str, journal: Journal, dice: random.Random) -> Findings:
    """Some decisions through one server, which is killed or stopped as soon as they are acknowledged; what became of them."""
    gate, server = fleet.gate(), dice.choice(fleet.servers)
    ids, readers = [f"d{number}-{each}" for each in range(TOGETHER)], []
    for thread_id in ids:
        text = f"turn-{thread_id}|refund|held"
        journal.sent[text] = thread_id
        (asked,) = (await journal.follow(thread_id, fleet.thread(thread_id).stream(text)).turn()).approvals
        stream = server.thread(thread_id).stream_decide({asked: True})
        readers.append(journal.follow(thread_id, stream, {asked: "approved"}))
    # Somewhere between the decision's own checkpoint and the one of the call that it let through.
    await asyncio.gather(*(reader.until("checkpoint_written", dice.choice((1, 2))) for reader in readers))
    if how == "kill":
        await fleet.kill(server)
    else:
        fleet.pause(server)
    gate.open()
    journal.gather()
    found = judge(journal, await fleet.stored(), Ledger(fleet.ledger_path).entries())
    for met in await asyncio.gather(*(finish(fleet.thread(each), journal, dice=dice, survives=True) for each in ids)):
        found.add(met)
    if how == "kill":
        await fleet.start()
    else:
        fleet.resume(server)
    for reader in readers:
        await reader.gone()
    return found


@pytest.mark.parametrize("lease_s", LEASES)
async def test_an_acknowledged_decision_lasts_when_its_server_is_killed_or_stopped(
    tmp_path: Path, postgres_dsn: str, lease_s: float
) -> None:
    # Once each way with the longer lease.
    rounds, dice, journal, found = times(lease_s, 2, 40, once=2), random.Random(10), Journal(), Findings()
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=lease_s) as fleet:
        for number in range(rounds):
            found.add(await decide_and_lose(fleet, number, ("kill", "pause")[number % 2], journal, dice))
            assert not found.all, "\n".join(found.all)
            figures.progress("decisions", (number + 1) * TOGETHER, rounds * TOGETHER)
        entries, stored = Ledger(fleet.ledger_path).entries(), await fleet.stored()
    found.add(judge(journal, stored, entries))
    found.add(judge_calls(entries))
    assert set(stored.approvals.values()) == {"approved"}
    counts = (len(found.lost), len(found.reruns), len(found.wedged), len(found.other))
    variants = ("decision in memory",)
    what = named("server killed or stopped right after a decision, three servers", lease_s)
    figures.record(figures.Figure(10, what, rounds * TOGETHER, *counts, variants=variants))
    assert not found.all, "\n".join(found.all)
