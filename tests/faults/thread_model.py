"""A thread as the promises have it, in plain Python: what every surface and every backend must look like from outside."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Status = Literal["in_progress", "suspended", "completed", "failed"]
GATED = frozenset({"guarded"})


@dataclass(frozen=True)
class Said:
    """A message: who, what, and of a tool's result its outcome. `place` is its position in the transcript, `number` stays with it when it is edited.

    `asked` is how many calls it asks for; of a result `of` is the number of the message that asked.
    """

    place: int
    role: str
    text: str
    number: int
    outcome: str = ""
    asked: int = 0
    of: int = 0


@dataclass(frozen=True)
class Open:
    """A call without an outcome, and what a person said of it. `of` is the number of the message that asked for it."""

    place: int
    tool: str
    of: int
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
    state: Mapping[str, int] = field(default_factory=dict)


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
    numbers: int = 0

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
            said += tuple(self._result(call, CLOSED, "cancelled") for call in top.calls or ())
        said += (self._said(place, "user", text),)
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
        target.there, target.name, target.numbers = True, self.name, self.numbers
        target.marks = {mark.version: mark for mark in self.line()}
        target.head = self.head
        target._fork(self.top, self.head + 1)

    def update_state(
        self, values: Mapping[str, int], remove: Collection[str], expected: int | None, *, replace: bool, force: bool
    ) -> None:
        """Values merged into the state, or in its place."""
        self._expect(expected)
        self._writable(force)
        kept = {} if replace or self.top is None else self.top.state
        self._write(state={name: value for name, value in kept.items() if name not in remove} | dict(values))

    def clear_state(self, expected: int | None, *, force: bool) -> None:
        """No values any more."""
        self._expect(expected)
        self._writable(force)
        self._found()
        self._write(state={})

    def append_messages(self, messages: Sequence[tuple[str, str]], expected: int | None, *, force: bool) -> None:
        """Messages at the end, each a role and a text."""
        self._expect(expected)
        self._writable(force)
        place = self.top.next_place if self.top else 0
        added = tuple(self._said(place + index, *message) for index, message in enumerate(messages))
        said = (*self.top.said, *added) if self.top else added
        self._write(said=said, next_place=place + len(added))

    def update_message(self, index: int | None, text: str, expected: int | None, *, force: bool) -> None:
        """A message says something else from here on; None is one that is not there."""
        self._expect(expected)
        before, message = self._message(index, force)
        self._write(said=tuple(replace(each, text=text) if each is message else each for each in before.said))

    def delete_message(self, index: int | None, expected: int | None, *, force: bool) -> int:
        """A message is in no version any more, and with it the results of its calls; how many messages went."""
        self._expect(expected)
        before, message = self._message(index, force)
        if message.role == "tool":
            raise Refusal("argument_invalid")
        results = [each for each in before.said if each.of == message.number]
        if len(results) < message.asked:
            if before.status == "suspended":
                raise Refusal("thread_suspended")
            # The run goes on as a turn begins.
            self._write(calls=None)
        else:
            self._write()
        # Results of every line go, also of those that nobody reads any more.
        everywhere = (each for mark in self.marks.values() for each in mark.said)
        gone = {message.number, *(each.number for each in everywhere if each.of == message.number)}
        self.marks = {version: _without(mark, gone) for version, mark in self.marks.items()}
        return len(gone)

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

    def _writable(self, force: bool) -> None:
        if self.top is not None and self.top.status == "suspended" and not force:
            raise Refusal("thread_suspended")

    def _found(self) -> None:
        if not self.there:
            raise Refusal("thread_not_found")

    def _message(self, index: int | None, force: bool) -> tuple[Mark, Said]:
        self._writable(force)
        self._found()
        if self.top is None or index is None:
            raise Refusal("message_not_found")
        return self.top, self.top.said[index]

    def _write(self, **changes: Any) -> None:
        """A checkpoint that keeps how the thread stands; the first of a thread is at rest."""
        top = self.top
        self.there = True
        self._put("update", top.status if top else "completed", new_run=top is None, **changes)

    def _said(self, place: int, role: str, text: str, **more: Any) -> Said:
        self.numbers += 1
        return Said(place, role, text, self.numbers, **more)

    def _result(self, call: Open, text: str, outcome: str) -> Said:
        return self._said(call.place, "tool", text, outcome=outcome, of=call.of)

    def _fork(self, target: Mark, version: int) -> None:
        # What asked about calls that were deleted since has nothing to ask any more.
        lost = target.status == "in_progress" or (target.status == "suspended" and target.calls is None)
        mark = replace(
            target,
            version=version,
            parent=target.version,
            status="failed" if lost else target.status,
            source="fork",
            run=version,
            attempt=1,
            waiting=() if lost else target.waiting,
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
        state: Mapping[str, int] | None = None,
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
            state=state if state is not None else before.state if before else {},
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
        # The newest thing that a user said; the users' messages may all have been deleted.
        users = [index for index, each in enumerate(top.said) if each.role == "user"]
        text = top.said[users[-1]].text if users else ""
        step = sum(each.role == "assistant" for each in top.said[users[-1] if users else 0 :])
        tag, *steps = text.split("|")
        tools = steps[step].split() if step < len(steps) else []
        place = top.next_place
        if not tools:
            said = (*top.said, self._said(place, "assistant", f"done {tag}"))
            self._put("step", "completed", said=said, next_place=place + 1)
            return
        asking = self._said(place, "assistant", f"step {step} of {tag}", asked=len(tools))
        calls = tuple(Open(place + 1 + number, tool, asking.number) for number, tool in enumerate(tools))
        self._put("step", "in_progress", said=(*top.said, asking), calls=calls, next_place=place + 1 + len(tools))

    def _run(self, top: Mark, calls: tuple[Open, ...]) -> None:
        rejected = [call for call in calls if call.answer is False]
        ready = [call for call in calls if call.answer or (call.tool not in GATED and call.answer is None)]
        said, left = top.said, list(calls)
        for call in (*rejected, *ready):
            outcome, text = ("rejected", REJECTED) if call.answer is False else ("done", f"{call.tool} done")
            said += (self._result(call, text, outcome),)
            left.remove(call)
            self._put("step", "in_progress", said=said, calls=tuple(left) or None)
        if left:
            self._put("suspend", "suspended", waiting=tuple(call.place for call in left))


def _without(mark: Mark, gone: Collection[int]) -> Mark:
    """A checkpoint as it is once these messages are erased."""
    calls = tuple(call for call in mark.calls or () if call.of not in gone) or None
    return replace(mark, said=tuple(each for each in mark.said if each.number not in gone), calls=calls)


REJECTED = "a person rejected this call"
CLOSED = "the run ended before this call had a result"
