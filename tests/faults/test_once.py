"""Promise 4: a `once` tool runs at most once by itself; when nobody knows what became of it, a person is asked."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.faults import figures
from tests.faults.gates import FileGate
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import judge_calls
from tests.faults.process import Gone, Process
from tests.faults.recovery import recover


def starts(process: Process) -> int:
    """How often the tool was started."""
    return sum(entry.phase == "started" for entry in Ledger(process.ledger_path).entries())


@pytest.mark.parametrize(
    ("answer", "text", "started"),
    [
        ({"result": "by hand"}, '"by hand"', 1),
        ({"fail": "it did not work"}, "it did not work", 1),
        ({"run_again": True}, "", 2),
    ],
    ids=["result", "fail", "run_again"],
)
async def test_a_once_call_in_flight_at_a_kill_is_asked_about(
    tmp_path: Path, answer: dict[str, Any], text: str, started: int
) -> None:
    gate = FileGate(tmp_path / "gate")
    process = Process(tmp_path, **gate.environment)
    await process.start()
    reader = process.thread("t").stream("turn|held_once")
    await gate.reached()
    await process.kill()
    gate.open()
    await process.start()
    thread = process.thread("t")
    turn = await thread.retry()
    (approval,) = await thread.approvals()
    assert (turn.status, approval["kind"], starts(process)) == ("suspended", "tool_outcome", 1)
    assert (await thread.decide({approval["id"]: answer})).status == "completed"
    (result,) = (
        part for message in await thread.messages() for part in message["content"] if part["type"] == "tool_result"
    )
    assert starts(process) == started
    assert text in result["content"][0]["text"]
    await process.kill()
    with pytest.raises(Gone):
        await reader.turn()


async def test_a_once_call_is_started_once_however_often_the_process_dies_in_it(tmp_path: Path) -> None:
    process, journal, dice = Process(tmp_path), Journal(), random.Random(4)
    cycles = figures.times(4, 60)
    await process.start()
    for number in range(cycles):
        gate = FileGate(tmp_path / f"gate-{number}")
        await process.kill()
        await process.start(**gate.environment)
        text = f"turn-{number}|held_once charge"
        journal.sent[text] = f"t-{number}"
        journal.follow(f"t-{number}", process.thread(f"t-{number}").stream(text))
        await gate.reached()
        await process.kill()
        gate.open()
        assert (await recover(process, journal, dice)).all == []
    await process.kill()
    assert judge_calls(Ledger(process.ledger_path).entries()).all == []
    figures.record(figures.Figure(4, "once call in flight at kill -9", cycles, variants=("intent in memory",)))


async def test_a_paused_owner_keeps_its_file_and_goes_on_where_it_was(tmp_path: Path) -> None:
    pauses = figures.times(2, 50)
    for number in range(pauses):
        folder = tmp_path / f"{number}"
        owner, other = Process(folder), Process(folder)
        gate = FileGate(folder / "gate")
        await owner.start(**gate.environment)
        reader = owner.thread("t").stream("turn|held_once")
        await gate.reached()
        owner.signal(signal.SIGSTOP)
        with pytest.raises(Gone, match=f"{owner.pid}"):
            await other.start(**gate.environment)
        gate.open()
        owner.signal(signal.SIGCONT)
        assert (await reader.turn()).text == "done turn"
        assert starts(owner) == 1
        await owner.kill()
        await other.ended()
    figures.record(
        figures.Figure(4, "owner paused, another server tries the file", pauses, variants=("no fence, one file",))
    )
