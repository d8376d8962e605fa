"""Promises 1 and 3 at named points: the process dies at the n-th await between a request and its reply, and around every write."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults import figures, kill_points
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.process import Gone, Process
from tests.faults.recovery import answers_to, recover, states_of
from tests.faults.stored import COPY


async def story(process: Process, journal: Journal) -> None:
    """Every mutation once, one after the other, on one thread."""
    thread = process.thread("story")
    for request, text in (("one", "first|fetch fetch|charge"), ("two", "second|refund pay")):
        journal.sent[text] = thread.id
        journal.unanswered[request] = (thread.id, text)
        turn = await journal.follow(thread.id, thread.stream(text, request_id=request)).turn()
        if turn.status == "suspended":
            answers = answers_to(await thread.approvals())
            decided = thread.stream_decide(answers, request_id="decide")
            await journal.follow(thread.id, decided, states_of(answers)).turn()
        del journal.unanswered[request]
    renamed = await thread.update(name="named", request_id="update")
    journal.rename(thread.id, renamed["thread_uid"], "named")
    middle = next(each for each in await thread.history() if each["source"] == "intent")
    journal.checkpoint(thread.id, await thread.rewind(middle["id"], request_id="rewind"))
    await journal.follow(thread.id, thread.stream_retry(request_id="retry")).turn()
    copied = await thread.copy(f"{COPY}1", request_id="copy")
    copied_uid = (await copied.info())["thread_uid"]
    journal.perhaps_deleted.add(copied_uid)
    assert await copied.delete(request_id="delete")
    journal.deleted.add(copied_uid)
    journal.checkpoint(thread.id, await thread.cancel())


async def passes(folder: Path, place: str) -> int:
    """How often the story passes a place."""
    process = Process(folder)
    await process.start(**{kill_points.DIE: f"{place}:1000000000"})
    await story(process, Journal())
    count = int(await process.call("steps", "story", (), {}))
    await process.kill()
    return count


async def die_at(folder: Path, point: str) -> Findings:
    """The story with a death in it, and what is found after it."""
    process, journal = Process(folder), Journal()
    await process.start(**{kill_points.DIE: point})
    with suppress(Gone):
        await story(process, journal)
    await process.kill()
    findings = await recover(process, journal, random.Random(point))
    await process.kill()
    return findings


@pytest.mark.parametrize(
    ("place", "short", "full"), [("step", 6, 400), *((place, 1, 40) for place in kill_points.PLACES)]
)
async def test_a_death_at_this_place_loses_nothing(tmp_path: Path, place: str, short: int, full: int) -> None:
    count = await passes(tmp_path / "counted", place)
    tried = min(count, figures.times(short, full))
    # Spread over the whole story, and others in every place.
    points = sorted({1 + (number * count + hash_of(place) % count) // tried % count for number in range(tried)})
    findings = Findings()
    for number in points:
        findings.add(await die_at(tmp_path / f"{number}", f"{place}:{number}"))
        assert findings.all == [], f"{place}:{number} of {count}"
    lost, reruns, wedged = map(len, (findings.lost, findings.reruns, findings.wedged))
    what = f"killed at {place} ({count} in the story)"
    figures.record(figures.Figure(1, what, len(points), lost, reruns, wedged, variants=("result in memory",)))


def hash_of(place: str) -> int:
    """A number that is the same in every run."""
    return sum(place.encode())
