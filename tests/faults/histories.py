"""A history of operations on threads, and whether one sequential thread can have had it: by version order, real time, and a replay of the log.

Every write that succeeds is told its version, so the order need not be searched for: it must be one in which no version is missing or
written twice, every version follows from the one before it as the table of heads and commands has it, each holds what the operation that
wrote it asked for, nothing that was answered comes after what was asked later, and every read saw what the thread was at a version that it
could meet. An operation without an answer may have had its effect at any time since, once, or never.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Verb = Literal[
    "send", "retry", "decide", "update_state", "append", "edit", "erase", "rewind", "cancel", "delete", "get", "state", "transcript"
]  # fmt: skip
READS = frozenset({"get", "state", "transcript", "cancel"})
# Which source of a checkpoint belongs to which verbs.
OWNERS: Mapping[str, frozenset[str]] = {
    "input": frozenset({"send"}),
    "retry": frozenset({"retry"}),
    "decision": frozenset({"decide"}),
    "fork": frozenset({"rewind"}),
    "update": frozenset({"update_state", "append", "edit", "erase"}),
}
# What is not written by an operation itself, but by the run that it began.
OF_RUNS = frozenset({"step", "intent", "suspend", "failure"})
NEVER = float("inf")


@dataclass
class Operation:
    """What a client asked of a thread, when, and what it was told, in seconds of one clock.

    `mark` is in what it writes and in nothing else: the text of a send, a message or an edit, the value of a state. `about` is what it is
    about: the message that is edited or erased, the version that is rewound to, the key of a state. Without an answer (`returned` is
    never) it may have been done or not. `first` to `last` are the versions that it wrote, or the one that it read at (0: not told).
    """

    verb: Verb
    invoked: float
    mark: str = ""
    about: str = ""
    expected: int | None = None
    returned: float = NEVER
    code: str = ""
    uid: str = ""
    first: int = 0
    last: int = 0
    seen: Any = None
    existed: bool | None = None

    @property
    def answered(self) -> bool:
        """Whether it came to its end with a reply, and not with a refusal."""
        return self.returned < NEVER and not self.code

    @property
    def wrote(self) -> bool:
        """Whether it was told that it wrote something."""
        return self.answered and self.verb not in READS and self.verb != "delete"

    def __str__(self) -> str:
        at = f"{self.uid}.{self.first}-{self.last}" if self.first else self.code or "no answer"
        return f"{self.verb} {self.mark or self.about} ({at}, {self.invoked:.3f} to {self.returned:.3f})"


@dataclass(frozen=True)
class Version:
    """One entry of the log. `marks` are what it holds of what operations brought: texts of the messages of users, values of the state."""

    number: int
    parent: int
    source: str
    status: str
    run: str
    marks: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


@dataclass
class Log:
    """The versions of one incarnation of a thread."""

    uid: str
    versions: dict[int, Version] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """What clients asked of one thread id, and the logs of its incarnations that are there: a deleted one has none."""

    operations: Sequence[Operation]
    logs: Mapping[str, Log]

    def of(self, uid: str) -> list[Operation]:
        """The operations that were told of an incarnation."""
        return [each for each in self.operations if each.uid == uid and each.first]


def incarnations(history: History) -> list[str]:
    """The incarnations in an order that they can have followed each other in, where there is one; those that only the log knows come last.

    One must stand before another where somebody was told of it before somebody asked what met the other. The sum keeps to that, as
    neither the first answer nor the last question does by itself: answers may be late.
    """
    met = {each.uid for each in history.operations if each.uid}
    order = {uid: _first_told(history, uid) + _last_asked(history, uid) for uid in met}
    return sorted({*order, *history.logs}, key=lambda uid: order.get(uid, NEVER))


def _first_told(history: History, uid: str) -> float:
    return min(each.returned for each in history.operations if each.uid == uid)


def _last_asked(history: History, uid: str) -> float:
    return max(each.invoked for each in history.operations if each.uid == uid)


def in_real_time(history: History) -> Iterable[str]:
    """What was answered before another was asked for stands before it."""
    order = {uid: place for place, uid in enumerate(incarnations(history))}
    placed = [each for each in history.operations if each.first]
    latest: Operation | None = None
    at = 0
    # A write stands below the reads of its version.
    asked = sorted(placed, key=lambda each: (order[each.uid], each.first, each.verb in READS))
    ended = sorted(placed, key=lambda each: (order[each.uid], each.last, each.verb in READS))
    for each in ended:
        while at < len(asked) and _stands(asked[at], order, asked[at].first) < _stands(each, order, each.last):
            if latest is None or asked[at].invoked > latest.invoked:
                latest = asked[at]
            at += 1
        if latest is not None and each.returned < latest.invoked:
            yield f"{each} came before {latest}, and stands after it"
    yield from _deletes(history)


def _stands(operation: Operation, order: Mapping[str, int], version: int) -> tuple[int, int, bool]:
    return order[operation.uid], version, operation.verb in READS


def _deletes(history: History) -> Iterable[str]:
    """An incarnation that was there before a delete and is there after it was not deleted; and none ends without one."""
    for uid in incarnations(history):
        seen = history.of(uid)
        if not seen:
            continue
        for each in history.operations:
            gone = (each.verb == "delete" and each.answered) or each.code == "thread_not_found"
            if not gone or each.returned == NEVER:
                continue
            before = any(other.returned < each.invoked for other in seen)
            after = any(other.invoked > each.returned for other in seen)
            if before and after:
                yield f"{each} was told that {uid} is not there, which it was before and after"
    known = [uid for uid in incarnations(history) if history.of(uid)]
    for one, next_one in itertools.pairwise(known):
        forced = _first_told(history, one) < _last_asked(history, next_one)
        if not _deleted_between(history, one, next_one) and (forced or not _deleted_between(history, next_one, one)):
            deletes = [f"{each} {each.existed}" for each in history.operations if each.verb == "delete"]
            yield f"{one} was followed by {next_one}, and nobody deleted it: {deletes}"


def _deleted_between(history: History, one: str, next_one: str) -> bool:
    """Whether a delete can stand after all that met the one and before all that met the next."""
    since, until = _last_asked(history, one), _first_told(history, next_one)
    return any(
        each.verb == "delete" and not each.code and each.existed is not False
        and each.invoked < until and each.returned > since
        for each in history.operations
    )  # fmt: skip
