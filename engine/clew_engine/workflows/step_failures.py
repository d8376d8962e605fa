"""A step that failed: how its failure is recorded and raised, and which failures a retry is to try again. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew_engine.causes import class_and_text, told
from clew_engine.json_text import encode, parse_stored

# After a step's key: that of its failure. A step's own key ends with a number.
FAILED = "\x00failed"
# In the place of a failure: it is tried again, or a person is asked what came of it.
AGAIN, UNKNOWN = b"null", b"false"


class StepFailedError(Exception):
    """A step raised, or a person said that it had failed. A node that is entered again gets the same failure from it again.

    `step` is its name; `kind` the class of what it raised (empty where a person said it) and `message` its text. Where the step has just raised,
    that is the `__cause__`.
    """

    def __init__(self, step: str, kind: str, message: str, *, place: tuple[str, str], done: bool = False) -> None:
        said = ": ".join(part for part in (kind, message) if part)
        super().__init__(f"step {step!r} failed: {said}")
        self.step = step
        self.kind = kind
        self.message = message
        self.place = place
        # Whether the function came to its end, and only what it returned is lost.
        self.done = done

    def encode(self) -> bytes:
        """As it is recorded."""
        return encode([self.kind, self.message, self.done])


def failure_from(error: BaseException, place: tuple[str, str], *, done: bool) -> StepFailedError:
    """What a raise of a step is to its node. `place` is the node and the step's key."""
    kind, message = class_and_text(error)
    return StepFailedError(_name(place), kind, message, place=place, done=done)


def recorded_failure(value: bytes, place: tuple[str, str]) -> StepFailedError | None:
    """The failure that was recorded; None where it is to be tried again."""
    found: Any = parse_stored(value)
    if not found:
        return None
    kind, message, done = found
    return StepFailedError(_name(place), kind, message, place=place, done=done)


def let_pass(error: BaseException) -> Iterator[StepFailedError]:
    """The failures of steps with which a node ended: what it raised itself, or as the cause of it.

    One that was caught before another step failed is not among them: the node had gone on.
    """
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from let_pass(each)
    elif isinstance(error, StepFailedError):
        yield error
        # A step within the step.
        if isinstance(error.__cause__, StepFailedError):
            yield from let_pass(error.__cause__)
    else:
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is not None:
            yield from let_pass(before)


def words_of(error: BaseException) -> str:
    """What a node failed with."""
    return str(error) if isinstance(error, StepFailedError) else told(error)


def _name(place: tuple[str, str]) -> str:
    return place[1].rpartition("#")[0]
