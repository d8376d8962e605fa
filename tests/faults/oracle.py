"""The judge: compares what a client was told and what tools entered in their ledger with what is stored. It answers with violations, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.faults.journal import Journal
from tests.faults.ledger import Entry
from tests.faults.plans import ONCE
from tests.faults.stored import Stored
from tests.scenarios.sights import LOGGED, Seen


@dataclass
class Findings:
    """Violations by what they are."""

    lost: list[str] = field(default_factory=list)
    reruns: list[str] = field(default_factory=list)
    wedged: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        """Every one."""
        return [*self.lost, *self.reruns, *self.wedged, *self.other]

    def add(self, more: Findings) -> None:
        """Take over what another look found."""
        self.lost += more.lost
        self.reruns += more.reruns
        self.wedged += more.wedged
        self.other += more.other


def judge(journal: Journal, stored: Stored, ledger: Sequence[Entry]) -> Findings:
    """What must hold of what a process left that died."""
    journal.gather()
    journal.end()
    found = Findings(other=list(stored.problems))
    _acknowledged(journal, stored, found)
    _decisions_and_names(journal, stored, found)
    _texts(journal, stored, found)
    _outcomes(stored, ledger, found)
    return found


def _acknowledged(journal: Journal, stored: Stored, found: Findings) -> None:
    for (uid, version), (status, source) in journal.checkpoints.items():
        thread = stored.threads.get(uid)
        if uid in journal.deleted:
            continue
        if thread is None:
            if uid not in journal.perhaps_deleted:
                found.lost.append(f"{uid} is gone, and version {version} of it was acknowledged")
            continue
        row = thread.rows.get(version)
        if row is None:
            found.lost.append(f"{thread.thread_id}: version {version} was acknowledged and is not stored")
        elif (row.status, row.source) != (status, source):
            found.other.append(
                f"{thread.thread_id}: version {version} is {row}, and {status} {source} was acknowledged"
            )
    for uid in journal.deleted & set(stored.threads):
        found.other.append(f"{uid} was deleted, and is back")


def _decisions_and_names(journal: Journal, stored: Stored, found: Findings) -> None:
    for approval, state in journal.decided.items():
        uid = approval.partition(".")[0]
        if uid in stored.threads and stored.approvals.get(approval) != state:
            found.lost.append(f"approval {approval} was {state}, and is stored as {stored.approvals.get(approval)}")
    for uid, names in journal.names.items():
        thread = stored.threads.get(uid)
        if thread is not None and thread.name not in names:
            found.lost.append(f"{thread.thread_id} is named {thread.name!r}, and {names} was acknowledged")


def _texts(journal: Journal, stored: Stored, found: Findings) -> None:
    for thread in stored.threads.values():
        texts = Counter(message.text for message in thread.messages if message.role == "user")
        for text, times in texts.items():
            if times > 1:
                found.other.append(
                    f"{thread.thread_id}: {text!r} was sent under one request id and is there {times} times"
                )
            if text not in journal.sent:
                found.other.append(f"{thread.thread_id}: {text!r} was never sent")


def _outcomes(stored: Stored, ledger: Sequence[Entry], found: Findings) -> None:
    returned = {entry.token: at for at, entry in enumerate(ledger) if entry.phase == "done"}
    started = {entry.identity: at for at, entry in enumerate(ledger) if entry.phase == "started"}
    for thread in stored.threads.values():
        line = thread.line
        calls = Counter(call for _, call, _ in thread.outcomes(line))
        found.other += [
            f"{thread.thread_id}: {call} has {times} outcomes" for call, times in calls.items() if times > 1
        ]
        for message in thread.messages:
            for result in message.tool_results:
                if result.outcome != "done" or result.text == '"by hand"':
                    continue
                if result.text not in returned:
                    found.other.append(f"{thread.thread_id}: {result.tool_call_id} has a result that no tool gave")
                    continue
                row = thread.rows.get(message.version)
                # Whoever gave the recorded result was the last who was let begin.
                if row and started.get((row.run, result.tool_call_id), -1) > returned[result.text]:
                    found.reruns.append(f"{thread.thread_id}: {result.tool_call_id} was begun again after its result")


def judge_ledger(
    ledger: Sequence[Entry], before: int, stored: Stored, told: Iterable[tuple[str, str]], journal: Journal
) -> Findings:
    """What must hold of the calls that began after a death: `before` entries were there, and `stored` and `told` were finished."""
    found = Findings()
    finished = {
        *told,
        *(each[:2] for thread in stored.threads.values() for each in thread.outcomes() if each[2] in _ENDED),
    }
    on_line = {
        (thread.uid, call)
        for thread in stored.threads.values()
        for _, call, outcome in thread.outcomes(thread.line)
        if outcome in _ENDED
    }
    for entry in ledger[before:]:
        if entry.phase == "started":
            uid = entry.run.partition(".")[0]
            if entry.identity in finished or (uid, entry.call) in on_line:
                found.reruns.append(f"{entry.tool} {entry.identity} was recorded as finished, and was started again")
    found.add(judge_calls(ledger, journal.run_again))
    return found


_ENDED = ("done", "failed")


def judge_calls(ledger: Sequence[Entry], run_again: int = 0) -> Findings:
    """What must hold of all calls: one key each, and a `once` call starts once, but for those that a person let run again."""
    found = Findings()
    keys: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    starts: Counter[tuple[str, str]] = Counter()
    for entry in ledger:
        keys[entry.identity].add(entry.key)
        # A rewound run that meets the call again must not start it either.
        starts[entry.run.partition(".")[0], entry.call] += entry.phase == "started" and entry.tool in ONCE
    found.other += [f"call {each} was tried under the keys {many}" for each, many in keys.items() if len(many) > 1]
    again = {each: times for each, times in starts.items() if times > 1}
    if sum(times - 1 for times in again.values()) > run_again:
        found.reruns += [f"once call {each} was started {times} times" for each, times in again.items()]
    return found


def judge_replay(thread_id: str, uid: str, replay: Sequence[Seen], journal: Journal) -> Findings:
    """A replay of the log says of each version what was said live."""
    found = Findings()
    said: defaultdict[int, list[Seen]] = defaultdict(list)
    for event in replay:
        if event.type in LOGGED:
            said[event.version].append(event)
    for (known, version), events in journal.versions.items():
        if known == uid and said[version] != events:
            found.lost.append(
                f"{thread_id}: version {version} is replayed as {said[version]}, and was told as {events}"
            )
    return found
