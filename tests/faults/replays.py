"""The log of a thread replayed on a small model of one: who wrote each version, whether it may follow the one before, and what reads could see of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.faults.histories import NEVER, OF_RUNS, OWNERS, READS, History, Log, Operation, Version, in_real_time

NOBODY = "none"
REST = frozenset({NOBODY, "completed", "failed"})
# How a thread may stand before a checkpoint of each source, and after it (of an update and of a fork see below).
AFTER: Mapping[str, frozenset[str]] = {
    "input": REST,
    "step": frozenset({"in_progress"}),
    "intent": frozenset({"in_progress"}),
    "suspend": frozenset({"in_progress"}),
    "decision": frozenset({"suspended"}),
    "retry": frozenset({"failed", "in_progress"}),
    "failure": frozenset({"in_progress", "suspended"}),
    "fork": frozenset({"completed", "failed", "suspended", "in_progress"}),
    "update": REST,
}
BECOMES: Mapping[str, frozenset[str]] = {
    "input": frozenset({"in_progress"}),
    "step": frozenset({"in_progress", "completed"}),
    "intent": frozenset({"in_progress"}),
    "suspend": frozenset({"suspended"}),
    "decision": frozenset({"in_progress", "suspended"}),
    "retry": frozenset({"in_progress"}),
    "failure": frozenset({"failed"}),
}
# Who is refused with a code met the thread standing like this.
REFUSED: Mapping[str, frozenset[str]] = {
    "thread_suspended": frozenset({"suspended"}),
    "thread_interrupted": frozenset({"in_progress"}),
}


@dataclass(frozen=True)
class Point:
    """How the thread stands after a version: `said` are the texts of users by what names them, `state` its values."""

    status: str = NOBODY
    run: str = ""
    said: tuple[tuple[str, str], ...] = ()
    state: tuple[tuple[str, str], ...] = ()


class Replay:
    """One log, replayed version by version; `problems` is what no thread can have done."""

    def __init__(self, log: Log, operations: Sequence[Operation]) -> None:
        self.log = log
        self.problems: list[str] = []
        self.points: dict[int, Point] = {0: Point()}
        self._claims: defaultdict[int, list[Operation]] = defaultdict(list)
        self._told = [each for each in operations if each.uid == log.uid and each.first]
        self._unanswered = [each for each in operations if each.returned == NEVER and each.verb not in READS]
        self._marked = {each.mark: each for each in operations if each.mark and not each.code}
        self._gone: set[str] = set()
        self.owners: dict[int, Operation] = {}
        self._erased = {name for version in log.versions.values() for name in version.deleted}
        for each in operations:
            if each.uid == log.uid and each.wrote and each.first:
                self._claims[each.first].append(each)

    def run(self) -> None:
        """Replay from the first version to the last."""
        numbers = sorted(self.log.versions)
        if numbers != list(range(1, len(numbers) + 1)):
            self.problems.append(f"{self.log.uid} has the versions {numbers}")
            return
        for number in numbers:
            version = self.log.versions[number]
            owner = self._owner(version)
            if owner is not None:
                self.owners[number] = owner
                self._judge_content(version, owner)
            self._judge(version, owner)
            self.points[number] = self._following(version, owner)
        for number, claims in self._claims.items():
            if number not in self.log.versions:
                self.problems.append(f"{claims[0]} was acknowledged, and is not there")

    def _owner(self, version: Version) -> Operation | None:
        """Who wrote it: whoever was told so, or who was told nothing and asked for just that."""
        claims = self._claims[version.number]
        if len(claims) > 1:
            self.problems.append(f"{self.log.uid}.{version.number} was written by all of {list(map(str, claims))}")
        if version.source in OF_RUNS:
            if claims:
                self.problems.append(f"{claims[0]} stands at a {version.source}")
            return None
        named = [self._marked[mark] for mark in version.marks if mark in self._marked]
        owner = claims[0] if claims else named[0] if named else self._some_unanswered(version)
        wanted = OWNERS[version.source]
        if owner is None or owner.verb not in wanted or (named and owner is not named[0]):
            self.problems.append(
                f"{self.log.uid}.{version.number} ({version.source} {version.marks}) is not what {owner} asked for"
            )
            return None
        if owner.answered and not claims:
            self.problems.append(f"{owner} has its effect also at {self.log.uid}.{version.number}")
        if owner in self._unanswered:
            self._unanswered.remove(owner)
            self._marked.pop(owner.mark, None)
        return owner

    def _some_unanswered(self, version: Version) -> Operation | None:
        """Who could have asked for what carries no mark: a retry, a decision, a rewind to there, an edit or more that was erased since."""
        for each in self._unanswered:
            if each.verb not in OWNERS[version.source]:
                continue
            if version.source == "fork" and each.about != f"{self.log.uid}.{version.parent}":
                continue
            if each.verb == "erase" and each.about not in version.deleted:
                continue
            if each.verb in ("send", "update_state") or (
                each.verb in ("append", "edit") and each.about not in self._erased
            ):
                continue
            return each
        return None

    def _judge_content(self, version: Version, owner: Operation) -> None:
        """Whether it holds what its owner brought, unless that was erased since, and nothing else; and was asked for before anybody met it."""
        brought = (owner.mark,) if owner.mark else ()
        if version.marks != brought and (version.marks or owner.about not in self._erased):
            self.problems.append(f"{self.log.uid}.{version.number} holds {version.marks}, and {owner} wrote it")
        met = next((each for each in self._told if each.last >= version.number and each.returned < owner.invoked), None)
        if met is not None:
            self.problems.append(f"{met} came before {owner}, and stands after it")

    def _judge(self, version: Version, owner: Operation | None) -> None:
        """Whether it may follow the version before it."""
        name, before = f"{self.log.uid}.{version.number}", self.points[version.number - 1]
        if version.source != "fork" and version.parent != version.number - 1:
            self.problems.append(f"{name} continues {version.parent}: the thread has forked")
        if before.status not in AFTER[version.source]:
            self.problems.append(f"{name} is a {version.source} of a thread that was {before.status}")
        if version.source in BECOMES and version.status not in BECOMES[version.source]:
            self.problems.append(f"{name} is a {version.source} that left the thread {version.status}")
        if owner is not None and owner.expected is not None and owner.expected != version.number - 1:
            self.problems.append(f"{owner} expected version {owner.expected}, and wrote {name}")
        if owner is not None and owner.verb == "rewind" and owner.about != f"{self.log.uid}.{version.parent}":
            self.problems.append(f"{name} continues {version.parent}, and {owner} asked for another")
        if version.source in OF_RUNS and version.run != before.run:
            self.problems.append(f"{name} is of {version.run}, and the thread was at {before.run}")
        tags = {text.partition("|")[0] for _, text in before.said[-1:]}
        if version.source == "step" and any(said.split()[-1] not in tags for said in version.said):
            self.problems.append(f"{name} says {version.said} to {before.said[-1:]}")

    def _following(self, version: Version, owner: Operation | None) -> Point:
        before = self.points[version.number - 1]
        point = replace(before, status=version.status, run=version.run)
        self._gone |= set(version.deleted)
        if version.source == "fork":
            target = self.points.get(version.parent, Point())
            wanted = "failed" if target.status == "in_progress" else target.status
            if version.status != wanted:
                self.problems.append(
                    f"{self.log.uid}.{version.number} is {version.status}, and its target was {target.status}"
                )
            said = tuple(each for each in target.said if each[0] not in self._gone)
            return replace(point, said=said, state=target.state)
        if version.source == "update" and version.status != (before.status if before.status != NOBODY else "completed"):
            self.problems.append(f"{self.log.uid}.{version.number} made {version.status} of {before.status}")
        match owner.verb if owner else "":
            case "send" | "append":
                assert owner is not None
                return replace(point, said=(*before.said, (owner.about or owner.mark, owner.mark)))
            case "edit":
                assert owner is not None
                said = tuple((name, owner.mark if name == owner.about else text) for name, text in before.said)
                return replace(point, said=said)
            case "erase":
                return replace(point, said=tuple(each for each in before.said if each[0] not in self._gone))
            case "update_state":
                assert owner is not None
                return replace(point, state=tuple(sorted({**dict(before.state), owner.about: owner.mark}.items())))
        return point


def judge_history(history: History) -> list[str]:
    """Everything that no sequential thread can have done."""
    problems = list(in_real_time(history))
    for log in history.logs.values():
        replay = Replay(log, history.operations)
        replay.run()
        problems += replay.problems
        if not replay.problems:
            problems += _misread(history, replay)
    return problems


def _misread(history: History, replay: Replay) -> Iterable[str]:
    """Reads and refusals for which there was no moment at which the thread was like that."""
    told = history.of(replay.log.uid)
    others = len({each.uid for each in history.operations if each.uid}) > 1
    for each in history.operations:
        if each.verb in ("get", "state") and each.answered and each.uid == replay.log.uid and each.first:
            point = replay.points.get(each.first)
            if point is None or each.seen != (point.status if each.verb == "get" else dict(point.state)):
                yield f"{each} saw {each.seen}, and the thread was {point}"
        # What says no version may be about another incarnation.
        if others or each.first or each.returned == NEVER or not told:
            continue
        low = max((other.last for other in told if other.returned < each.invoked), default=0)
        high = min(
            *(other.first for other in told if other.verb in READS and other.invoked > each.returned),
            *(number - 1 for number, owner in replay.owners.items() if owner.invoked > each.returned),
            max(replay.points),
            max(replay.points),
        )
        window = [replay.points[n] for n in range(low, high + 1)]
        if not _could_be(each, window, range(low, low + len(window))):
            yield f"{each} was told {each.code or each.seen}, and between versions {low} and {high} the thread was never like that"


def _could_be(operation: Operation, window: Sequence[Point], versions: range) -> bool:
    if operation.code in REFUSED:
        return any(point.status in REFUSED[operation.code] for point in window)
    if operation.code == "version_conflict":
        return any(number != operation.expected for number in versions)
    if operation.code == "resume_invalid" and operation.verb == "retry":
        return any(point.status not in AFTER["retry"] for point in window)
    if operation.code:
        return True
    if operation.verb == "transcript":
        return any([text for _, text in point.said] == operation.seen for point in window)
    return True
