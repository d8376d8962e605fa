"""The judge of what is stored is neither blind nor does it see ghosts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from clew_engine.messages import Message, TextPart, ToolResultPart
from tests.faults.journal import Journal
from tests.faults.ledger import Entry
from tests.faults.oracle import judge
from tests.faults.stored import Row, Stored, StoredThread
from tests.scenarios.sights import Reader, Seen

RUN = "u.r1"
BEGAN = Entry("started", "fetch", RUN, "c0", "key", 1)
ENDED = replace(BEGAN, phase="done", token="found")


def a_thread_with_a_result() -> Stored:
    """One checkpoint, which holds what a call gave."""
    result = ToolResultPart("c0", "fetch", (TextPart("found"),), outcome="done")
    thread = StoredThread("t", "u", 1, "")
    thread.rows[1] = Row(1, 0, "in_progress", "step", RUN)
    thread.messages.append(Message("m1.0", "tool", (result,), 0, version=1))
    return Stored({"u": thread})


def test_a_call_that_begins_after_the_end_of_the_one_that_was_recorded_is_seen() -> None:
    found = judge(Journal(), a_thread_with_a_result(), [BEGAN, ENDED, BEGAN])
    assert any("begun again" in each for each in found.reruns)


def test_a_call_whose_first_try_was_not_recorded_is_no_rerun() -> None:
    found = judge(Journal(), a_thread_with_a_result(), [BEGAN, replace(ENDED, token="lost"), BEGAN, ENDED])
    assert not found.reruns


async def journal_of_a_stream(*, deleted: bool) -> Journal:
    """A stream tells of a first version, and a delete comes back before that is read."""
    journal = Journal()

    async def events() -> AsyncIterator[Seen]:
        yield Seen("checkpoint_written", 1, True, RUN, {"status": "in_progress", "source": "input"})

    reader = journal.follow("t", Reader(events))
    if deleted:
        journal.deletes["t"] += 1
    await reader.gone()
    return journal


async def test_an_acknowledged_thread_that_is_gone_is_lost() -> None:
    assert judge(await journal_of_a_stream(deleted=False), Stored(), []).lost


async def test_a_thread_that_was_told_of_after_the_delete_that_met_it_is_not_lost() -> None:
    assert not judge(await journal_of_a_stream(deleted=True), Stored(), []).lost
