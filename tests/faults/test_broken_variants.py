"""The judge sees: with a guard taken out of the product, the same checks that pass elsewhere must find the harm."""

from __future__ import annotations

import random
from pathlib import Path

from tests.faults import figures, kill_points, stored
from tests.faults.broken import BROKEN
from tests.faults.gates import FileGate
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_calls
from tests.faults.process import Process
from tests.faults.recovery import recover
from tests.faults.test_approval_races import decide_and_die


def sent(process: Process, journal: Journal, text: str, request: str = "") -> None:
    """Send a text, and journal what comes back."""
    journal.sent[text] = "t"
    if request:
        journal.unanswered[request] = ("t", text)
    journal.follow("t", process.thread("t").stream(text, request_id=request))


async def test_without_a_fence_a_stale_writer_is_seen(tmp_path: Path) -> None:
    stale, other, journal = Process(tmp_path), Process(tmp_path), Journal()
    gate, open_gate = FileGate(tmp_path / "gate"), FileGate(tmp_path / "open")
    open_gate.open()
    await stale.start(**gate.environment, **{BROKEN: "no fence"})
    reader = journal.follow("t", stale.thread("t").stream("turn|held"))
    journal.sent["turn|held"] = "t"
    await gate.reached()
    await other.start(**open_gate.environment, **{BROKEN: "no fence"})
    assert (await journal.follow("t", other.thread("t").stream_retry()).turn()).status == "completed"
    gate.open()
    await reader.until("tool_call_finished")
    await stale.kill()
    await other.kill()
    findings = judge(journal, stored.read(other.database), Ledger(other.ledger_path).entries())
    assert any("has 2 outcomes" in each for each in findings.other), findings
    figures.catch("no fence, one file")


async def test_without_request_records_a_repeated_send_is_seen(tmp_path: Path) -> None:
    findings = await die_and_repeat(tmp_path, **{BROKEN: "no request record"})
    assert any("is there 2 times" in each for each in findings.other), findings
    figures.catch("no request record")


async def test_with_request_records_the_same_send_is_there_once(tmp_path: Path) -> None:
    assert (await die_and_repeat(tmp_path)).all == []


async def die_and_repeat(folder: Path, **environment: str) -> Findings:
    """A send whose turn is committed and whose reply is not told, sent again after a restart."""
    process, journal = Process(folder, **environment), Journal()
    await process.start(**{kill_points.DIE: "append-after:2"})
    sent(process, journal, "turn", request="same")
    await process.ended()
    findings = await recover(process, journal, random.Random(0))
    await process.kill()
    findings.add(judge(journal, stored.read(process.database), Ledger(process.ledger_path).entries()))
    return findings


async def test_a_result_that_is_only_in_memory_is_seen_as_lost_and_as_run_again(tmp_path: Path) -> None:
    findings = await die_with_a_result(tmp_path, **{BROKEN: "result in memory"})
    assert findings.lost
    assert findings.reruns
    figures.catch("result in memory")


async def test_a_result_that_is_on_the_disk_is_neither(tmp_path: Path) -> None:
    assert (await die_with_a_result(tmp_path)).all == []


async def die_with_a_result(folder: Path, **environment: str) -> Findings:
    """Of two calls one has finished, and was told of, when the process dies in the other."""
    gate = FileGate(folder / "gate")
    process, journal = Process(folder, **gate.environment), Journal()
    await process.start(**environment)
    journal.sent["turn|fetch held"] = "t"
    reader = journal.follow("t", process.thread("t").stream("turn|fetch held"))
    await gate.reached()
    await reader.until("checkpoint_written", 3)
    await process.kill()
    gate.open()
    findings = await recover(process, journal, random.Random(0))
    await process.kill()
    return findings


async def test_a_once_call_whose_beginning_is_only_in_memory_is_seen_to_begin_twice(tmp_path: Path) -> None:
    gate = FileGate(tmp_path / "gate")
    process, journal = Process(tmp_path, **gate.environment), Journal()
    await process.start(**{BROKEN: "intent in memory"})
    sent(process, journal, "turn|held_once")
    await gate.reached()
    await process.kill()
    gate.open()
    await recover(process, journal, random.Random(0))
    await process.kill()
    assert judge_calls(Ledger(process.ledger_path).entries()).reruns
    figures.catch("intent in memory")


async def test_a_decision_that_is_only_in_memory_is_seen_as_lost(tmp_path: Path) -> None:
    gate = FileGate(tmp_path / "gate")
    process, journal = Process(tmp_path, **gate.environment), Journal()
    await process.start(**{BROKEN: "decision in memory"})
    findings = await decide_and_die(process, journal, "turn|refund|held", gate, checkpoints=1)
    await process.kill()
    assert findings.lost
    figures.catch("decision in memory, one file")
