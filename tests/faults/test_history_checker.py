"""The history checker is not blind: a history that one sequential thread can have had passes, and each way of going wrong is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.faults.histories import NEVER, History, Log, Operation, Verb, Version
from tests.faults.replays import judge_history

UID = "u"


def an_operation(verb: Verb, at: float, mark: str = "", *, first: int = 0, last: int = 0, **more: object) -> Operation:
    """An operation of one second that was told the versions that it wrote or read at."""
    told = {"uid": UID if first else "", "first": first, "last": last or first, "returned": at + 1.0}
    return Operation(verb, invoked=at, mark=mark, **{**told, **more})  # type: ignore[arg-type]


class Story:
    """A turn, two writes of the state, an edit, a retry that was not answered, reads in between; all one after the other."""

    def __init__(self) -> None:
        self.operations = {
            "turn": an_operation("send", 0, "t1|fetch", first=1, last=4),
            "read": an_operation("get", 2, first=4, seen="completed"),
            "one": an_operation("update_state", 4, "v1", first=5, about="a"),
            "state": an_operation("state", 6, first=5, seen={"a": "v1"}),
            "two": an_operation("update_state", 8, "v2", first=6, about="a"),
            "added": an_operation("append", 10, "m1", first=7, about="own"),
            "edited": an_operation("edit", 12, "m2", first=8, about="own"),
            "heard": an_operation("transcript", 14, seen=["t1|fetch", "m2"]),
            "conflict": an_operation("update_state", 16, "v3", about="a", expected=5, code="version_conflict"),
            "cut": an_operation("update_state", 18, "v4", about="b", returned=NEVER),
            "nothing": an_operation("send", 18, "never", returned=NEVER),
            "newest": an_operation("state", 30, first=9, seen={"a": "v2", "b": "v4"}),
        }
        run = f"{UID}.r1"
        self.versions = {
            1: Version(1, 0, "input", "in_progress", run, marks=("t1|fetch",)),
            2: Version(2, 1, "step", "in_progress", run, said=("step 0 of t1",)),
            3: Version(3, 2, "step", "in_progress", run),
            4: Version(4, 3, "step", "completed", run, said=("done t1",)),
            5: Version(5, 4, "update", "completed", run, marks=("v1",)),
            6: Version(6, 5, "update", "completed", run, marks=("v2",)),
            7: Version(7, 6, "update", "completed", run, marks=("m1",)),
            8: Version(8, 7, "update", "completed", run, marks=("m2",)),
            9: Version(9, 8, "update", "completed", run, marks=("v4",)),
        }

    def judged(self) -> list[str]:
        """What the checker says of it."""
        return judge_history(History(list(self.operations.values()), {UID: Log(UID, self.versions)}))


def test_a_history_of_one_thing_after_the_other_passes() -> None:
    assert Story().judged() == []


def lose_an_update(story: Story) -> None:
    """The second write was acknowledged at a version that holds what a third asked for."""
    story.versions[6] = replace(story.versions[6], marks=("v3",))


def lose_the_end(story: Story) -> None:
    """What was acknowledged last is not there."""
    story.operations["cut"] = an_operation("update_state", 18, "v4", about="b", first=10)


def read_the_past(story: Story) -> None:
    """A read sees less than what was acknowledged before it was asked for."""
    story.operations["newest"] = an_operation("state", 30, first=5, seen={"a": "v1"})


def read_the_past_without_a_version(story: Story) -> None:
    """The same of a read that does not say what it read."""
    story.operations["heard"] = an_operation("transcript", 14, seen=["t1|fetch", "m1"])


def read_what_never_was(story: Story) -> None:
    """A read sees a state that the thread never had."""
    story.operations["newest"].seen = {"a": "v1", "b": "v4"}


def fork(story: Story) -> None:
    """Two writes continue the same version."""
    story.versions[7] = replace(story.versions[7], parent=5)


def claim_a_version_twice(story: Story) -> None:
    """Two writes were acknowledged as the same version."""
    story.operations["other"] = an_operation("update_state", 8, "v9", first=6, about="a")


def leave_a_gap(story: Story) -> None:
    """A version is missing."""
    del story.versions[3]


def do_it_twice(story: Story) -> None:
    """One request has its effect at two versions."""
    story.versions[9] = replace(story.versions[9], marks=("v2",))


def do_what_was_not_answered_twice(story: Story) -> None:
    """The same of a request without an answer."""
    story.versions[10] = Version(10, 9, "update", "completed", f"{UID}.r1", marks=("v4",))


def do_what_nobody_asked_for(story: Story) -> None:
    """A write that no client knows."""
    story.versions[9] = replace(story.versions[9], marks=("unheard of",))


def turn_time_around(story: Story) -> None:
    """What was answered first stands behind what was asked for after it."""
    for name, at in (("one", 8), ("two", 4)):
        story.operations[name] = replace(story.operations[name], invoked=at, returned=at + 1.0)
    del story.operations["state"]


def write_over_an_expected_version(story: Story) -> None:
    """A write that expected another version was let through."""
    story.operations["two"].expected = 4


def refuse_without_reason(story: Story) -> None:
    """A version conflict where the thread was at the expected version all the time."""
    story.operations["conflict"].expected = 8


def run_on_a_thread_that_waits(story: Story) -> None:
    """A turn begins where an answer was due."""
    story.versions[4] = replace(story.versions[4], source="suspend", status="suspended", said=())


def answer_another_question(story: Story) -> None:
    """A run goes on from a conversation that is not the thread's."""
    story.versions[4] = replace(story.versions[4], said=("done t0",))


def survive_a_delete(story: Story) -> None:
    """A delete was acknowledged, and the thread is still there."""
    story.operations["deleted"] = an_operation("delete", 20, existed=True)


def vanish(story: Story) -> None:
    """Another incarnation follows, and nobody deleted the first."""
    other = an_operation("update_state", 40, "n1", first=1, about="a")
    story.operations["other"] = replace(other, uid="other")


HARMS: tuple[Callable[[Story], None], ...] = (
    lose_an_update, lose_the_end, read_the_past, read_the_past_without_a_version, read_what_never_was, fork, claim_a_version_twice, leave_a_gap,
    do_it_twice, do_what_was_not_answered_twice, do_what_nobody_asked_for, turn_time_around, write_over_an_expected_version,
    refuse_without_reason, run_on_a_thread_that_waits, answer_another_question, survive_a_delete, vanish,
)  # fmt: skip


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_a_history_that_no_sequential_thread_can_have_had_is_seen(harm: Callable[[Story], None]) -> None:
    story = Story()
    harm(story)
    assert story.judged()


def test_what_was_not_answered_may_have_happened_or_not() -> None:
    story = Story()
    del story.versions[9]
    story.operations["newest"] = an_operation("state", 30, first=8, seen={"a": "v2"})
    assert story.judged() == []


def test_operations_at_the_same_time_may_stand_in_any_order() -> None:
    story = Story()
    for name, at in (("one", 8.5), ("two", 8)):
        story.operations[name] = replace(story.operations[name], invoked=at, returned=at + 1.0)
    del story.operations["state"]
    assert story.judged() == []


@pytest.mark.parametrize("next_told", [16.0, 19.0])
def test_an_incarnation_may_be_told_of_after_it_was_deleted(next_told: float) -> None:
    """Its only answer is late: that of the delete came before it, and perhaps that of whoever met the next incarnation."""
    operations = [
        an_operation("update_state", 10, "v1", first=1, about="a", uid="gone", returned=18.0),
        an_operation("delete", 11, existed=True),
        an_operation("update_state", 13, "v2", first=1, about="a", returned=next_told),
    ]
    log = Log(UID, {1: Version(1, 0, "update", "completed", f"{UID}.r1", marks=("v2",))})
    assert judge_history(History(operations, {UID: log})) == []
    without = [each for each in operations if each.verb != "delete"]
    assert judge_history(History(without, {UID: log}))
