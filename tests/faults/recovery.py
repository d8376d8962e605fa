"""After a crash: every thread is brought to a completed turn, as the table of heads and commands says it can be."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_ledger, judge_replay
from tests.faults.process import UnderTest
from tests.scenarios.world import Handle

# Attempts, decisions and turns until a thread that is not completed by then counts as wedged; a plan has at most six steps.
_ENOUGH = 24
# What a send that is repeated may be told: its thread was deleted since, or stands where something must be done first.
AFTER_A_CRASH = frozenset({"thread_not_found", "thread_interrupted", "thread_suspended"})
# What a call may be told whose server lost the thread's lease, or came to the thread after such a call.
LOST = frozenset(
    {"lease_lost", "thread_interrupted", "resume_invalid", "approval_already_decided", "approval_not_found"}
)


async def recover(
    process: UnderTest, journal: Journal, dice: random.Random, *, told: frozenset[str] = AFTER_A_CRASH | LOST
) -> Findings:
    """Judge what a dead process left, start it again, complete every thread, and judge that. `told`: the errors that a repeated send may get."""
    found = await process.stored()
    ledger = Ledger(process.ledger_path)
    before = ledger.entries()
    findings = judge(journal, found, before)
    finished = journal.finished()
    await process.hang_up()
    await process.start()
    await ask_again(process.thread, journal, told)
    ids = sorted({thread.thread_id for thread in found.threads.values()})
    for met in await asyncio.gather(
        *(finish(process.thread(each), journal, dice=dice, survives=process.survives) for each in ids)
    ):
        findings.add(met)
    findings.add(judge_ledger(ledger.entries(), len(before), found, finished, journal))
    return findings


def answers_to(approvals: list[dict[str, Any]]) -> dict[str, Any]:
    """Yes to calls; calls of which nobody knows are given their result."""
    return {each["id"]: {"result": "by hand"} if each["kind"] == "tool_outcome" else True for each in approvals}


def states_of(answers: dict[str, Any]) -> dict[str, str]:
    """The states of approvals after these answers."""
    return {each: "approved" if answer is True else "answered" for each, answer in answers.items()}


async def finish(thread: Handle, journal: Journal, *, dice: random.Random, survives: bool = False) -> Findings:
    """Complete a thread, and compare its replay with what was told of it before. Where others survived, calls wait for the leases of the dead."""
    found = Findings()
    for _ in range(_ENOUGH):
        try:
            info = await thread.info()
        except Exception as error:
            if getattr(error, "code", "") == "thread_not_found":
                return found
            raise
        if info["status"] == "completed":
            break
        if not survives and info["status"] == "in_progress" and (info["run"] or {}).get("state") != "interrupted":
            found.wedged.append(f"{thread.id} says that {info['run']} is alive, and its process died")
            return found
        try:
            await _advance(thread, info["status"], journal, dice)
        except Exception as error:
            # On a machine that is busy enough also a server that lives may lose a thread: what it was asked is asked again.
            if not survives or getattr(error, "code", "") not in LOST:
                raise
    else:
        found.wedged.append(f"{thread.id} cannot be completed: {await thread.info()}")
        return found
    found.add(await _replayed(thread, journal))
    return found


async def _replayed(thread: Handle, journal: Journal) -> Findings:
    info = await thread.info()
    replay = thread.watch(0)
    turn = await replay.turn()
    journal.gather()
    return judge_replay(thread.id, info["thread_uid"], turn.events, journal)


async def _advance(thread: Handle, status: str | None, journal: Journal, dice: random.Random) -> None:
    if status == "suspended":
        answers = answers_to(await thread.approvals())
        await journal.follow(thread.id, thread.stream_decide(answers), states_of(answers)).turn()
    elif status is None:
        text = f"first-{dice.getrandbits(64):x}"
        journal.sent[text] = thread.id
        await journal.follow(thread.id, thread.stream(text)).turn()
    elif status == "in_progress" and dice.random() < 0.2:
        journal.checkpoint(thread.id, await thread.cancel())
    else:
        await journal.follow(thread.id, thread.stream_retry()).turn()


async def ask_again(
    thread_of: Callable[[str], Handle], journal: Journal, told: frozenset[str] = AFTER_A_CRASH | LOST
) -> None:
    """Send again, under the same request id, what was not answered: it may have been recorded or not, and is there once in the end."""
    for request, (thread_id, text) in journal.unanswered.items():
        try:
            await journal.follow(thread_id, thread_of(thread_id).stream(text, request_id=request)).turn()
        except Exception as error:
            if getattr(error, "code", "") not in told:
                raise
    journal.unanswered.clear()
