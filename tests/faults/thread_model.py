"""A thread as the promises have it, in plain Python: what every surface and every backend must look like from outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Status = Literal["in_progress", "suspended", "completed", "failed"]
GATED = frozenset({"guarded"})


@dataclass(frozen=True)
class Said:
    """A message: who, what, and of a tool's result its outcome. `place` is its position in the transcript."""

    place: int
    role: str
    text: str
    outcome: str = ""


@dataclass(frozen=True)
class Open:
    """A call without an outcome, and what a person said of it."""

    place: int
    tool: str
    answer: bool | None = None


@dataclass(frozen=True)
class Mark:
    """A checkpoint with all that it stands for. `calls` is None when the model is to be asked next."""

    version: int
    parent: int
    status: Status
    source: str
    run: int
    attempt: int
    said: tuple[Said, ...]
    calls: tuple[Open, ...] | None = None
    waiting: tuple[int, ...] = ()
    next_place: int = 0


class Refusal(Exception):  # noqa: N818 - as the engine's errors are named by their codes
    """What the table says to a command; nothing is written."""

    def __init__(self, *codes: str) -> None:
        super().__init__(codes)
        self.codes = codes


@dataclass
class ModelThread:
    """One thread id."""

    there: bool = False
    name: str = ""
    marks: dict[int, Mark] = field(default_factory=dict)
    head: int = 0

    @property
    def top(self) -> Mark | None:
        """The head."""
        return self.marks.get(self.head)

    def line(self) -> list[Mark]:
        """The head's line, newest first."""
        found, at = [], self.top
        while at is not None:
            found.append(at)
            at = self.marks.get(at.parent)
        return found

    def send(self, text: str, expected: int | None, *, broken: bool) -> None:
        """A turn."""
        self._expect(expected)
        top = self.top
        if top is not None and top.status == "suspended":
            raise Refusal("thread_suspended")
        said, place = (top.said, top.next_place) if top else ((), 0)
        if top is not None and top.status == "failed":
            said += tuple(Said(call.place, "tool", CLOSED, "cancelled") for call in top.calls or ())
        said += (Said(place, "user", text),)
        self.there = True
        self._put("input", "in_progress", said=said, calls=None, next_place=place + 1, new_run=True)
        self._go(broken)

    def decide(self, answers: Mapping[int, bool], expected: int | None, *, broken: bool) -> None:
        """Answers to pending calls, by their places."""
        self._expect(expected)
        top = self.top
        if top is None or top.status != "suspended" or top.calls is None:
            raise Refusal("resume_invalid", "approval_already_decided", "approval_not_found")
        if not set(answers) <= set(top.waiting):
            raise Refusal("approval_already_decided", "approval_not_found", "resume_invalid")
        calls = tuple(replace(call, answer=answers.get(call.place, call.answer)) for call in top.calls)
        waiting = tuple(place for place in top.waiting if place not in answers)
        self._put("decision", "suspended" if waiting else "in_progress", calls=calls, waiting=waiting, attempt=1)
        if not waiting:
            self._go(broken)

    def retry(self, expected: int | None, *, broken: bool) -> None:
        """The failed run goes on."""
        self._expect(expected)
        if self.top is None or self.top.status != "failed":
            raise Refusal("resume_invalid")
        self._put("retry", "in_progress", attempt=1)
        self._go(broken)

    def cancel(self) -> None:
        """What waits is given up, with the answers of a question that was half answered; what is at rest stays."""
        if self.top is None:
            raise Refusal("thread_not_found")
        if self.top.status == "suspended":
            calls = tuple(replace(call, answer=None) for call in self.top.calls or ())
            self._put("failure", "failed", calls=calls, waiting=())

    def rewind(self, version: int, expected: int | None) -> None:
        """An older checkpoint becomes the head."""
        self._expect(expected)
        if version not in self.marks:
            raise Refusal("checkpoint_not_found", "thread_not_found")
        self._fork(self.marks[version], self.head + 1)

    def copy_to(self, target: ModelThread) -> None:
        """The line, in a thread of its own."""
        if self.top is None:
            raise Refusal("thread_not_found")
        if target.there:
            raise Refusal("version_conflict")
        target.there, target.name = True, self.name
        target.marks = {mark.version: mark for mark in self.line()}
        target.head = self.head
        target._fork(self.top, self.head + 1)

    def update(self, name: str) -> None:
        """A name; the thread is made where there is none."""
        self.there, self.name = True, name

    def delete(self) -> bool:
        """Everything goes."""
        existed = self.there
        self.there, self.name, self.marks, self.head = False, "", {}, 0
        return existed

    def _expect(self, version: int | None) -> None:
        if version is not None and version != self.head:
            raise Refusal("version_conflict")

    def _fork(self, target: Mark, version: int) -> None:
        status: Status = "failed" if target.status == "in_progress" else target.status
        mark = replace(
            target, version=version, parent=target.version, status=status, source="fork", run=version, attempt=1
        )
        self.marks[version], self.head = mark, version

    def _put(
        self,
        source: str,
        status: Status,
        *,
        said: tuple[Said, ...] | None = None,
        calls: tuple[Open, ...] | None | Literal["same"] = "same",
        waiting: tuple[int, ...] | None = None,
        next_place: int | None = None,
        new_run: bool = False,
        attempt: int = 0,
    ) -> None:
        before, version = self.top, self.head + 1
        assert before is not None or new_run
        self.marks[version] = Mark(
            version=version,
            parent=self.head,
            status=status,
            source=source,
            run=version if new_run or before is None else before.run,
            attempt=1 if new_run or before is None else before.attempt + attempt,
            said=tuple(
                sorted(said if said is not None else before.said if before else (), key=lambda each: each.place)
            ),
            calls=calls if calls != "same" else before.calls if before else None,
            waiting=waiting if waiting is not None else before.waiting if before else (),
            next_place=next_place if next_place is not None else before.next_place if before else 0,
        )
        self.head = version

    def _go(self, broken: bool) -> None:
        while (top := self.top) is not None and top.status == "in_progress":
            if top.calls is None:
                self._ask(top, broken)
            else:
                self._run(top, top.calls)

    def _ask(self, top: Mark, broken: bool) -> None:
        if broken:
            self._put("failure", "failed")
            return
        users = [index for index, each in enumerate(top.said) if each.role == "user"]
        text, step = top.said[users[-1]].text, sum(each.role == "assistant" for each in top.said[users[-1] :])
        tag, *steps = text.split("|")
        tools = steps[step].split() if step < len(steps) else []
        place = top.next_place
        if not tools:
            said = (*top.said, Said(place, "assistant", f"done {tag}"))
            self._put("step", "completed", said=said, next_place=place + 1)
            return
        said = (*top.said, Said(place, "assistant", f"step {step} of {tag}"))
        calls = tuple(Open(place + 1 + number, tool) for number, tool in enumerate(tools))
        self._put("step", "in_progress", said=said, calls=calls, next_place=place + 1 + len(tools))

    def _run(self, top: Mark, calls: tuple[Open, ...]) -> None:
        rejected = [call for call in calls if call.answer is False]
        ready = [call for call in calls if call.answer or (call.tool not in GATED and call.answer is None)]
        said, left = top.said, list(calls)
        for call in (*rejected, *ready):
            outcome, text = ("rejected", REJECTED) if call.answer is False else ("done", f"{call.tool} done")
            said += (Said(call.place, "tool", text, outcome),)
            left.remove(call)
            self._put("step", "in_progress", said=said, calls=tuple(left) or None)
        if left:
            self._put("suspend", "suspended", waiting=tuple(call.place for call in left))


REJECTED = "a person rejected this call"
CLOSED = "the run ended before this call had a result"
