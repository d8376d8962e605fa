"""A transcript in memory: messages by position, whatever order they come in, and the calls that are open."""

from __future__ import annotations

from msgspec.structs import replace

from clew_engine.messages import Message, TextPart, ToolCallPart, ToolResultPart
from clew_engine.transcripts import Transcript


def said(role: str, position: int, *content: object, text: str = "") -> Message:
    """A message at a place."""
    return Message(f"m{position}.0", role, content or (TextPart(text),), 0, position)  # type: ignore[arg-type]


def asked(position: int, *calls: str) -> Message:
    """A model's message with calls."""
    return said("assistant", position, *(ToolCallPart(call, "look", "{}") for call in calls))


def answered(position: int, call: str) -> Message:
    """A result."""
    return said("tool", position, ToolResultPart(call, "look", (TextPart("seen"),)))


def test_results_are_read_in_the_places_kept_for_them() -> None:
    transcript = Transcript([said("user", 0), asked(1, "a", "b", "c")])
    for message in (answered(4, "c"), answered(2, "a"), answered(3, "b")):
        transcript.put(message, 10)
    assert [message.position for message in transcript.before(None)] == [0, 1, 2, 3, 4]
    assert transcript.bytes == 30


def test_open_calls_are_those_without_a_result_each_with_its_place() -> None:
    transcript = Transcript([said("user", 0), asked(1, "a", "b", "c"), answered(3, "b")])
    assert [(position, call.id) for position, call in transcript.open_calls()] == [(2, "a"), (4, "c")]


def test_a_transcript_that_does_not_end_with_calls_has_none_open() -> None:
    assert Transcript().open_calls() == []
    assert Transcript([said("user", 0)]).open_calls() == []
    assert Transcript([said("user", 0), asked(1, "a"), answered(2, "a"), said("assistant", 3)]).open_calls() == []


def test_what_was_said_since_from_outside_does_not_close_a_call() -> None:
    transcript = Transcript(
        [said("user", 0), asked(1, "a", "b"), answered(2, "a"), said("user", 4), said("assistant", 5)]
    )
    assert [(position, call.id) for position, call in transcript.open_calls()] == [(3, "b")]


def test_a_message_that_is_removed_is_gone_and_nothing_else() -> None:
    transcript = Transcript([said("user", 0), said("assistant", 1), said("user", 5)])
    transcript.remove(said("assistant", 1))
    transcript.remove(said("user", 3))
    assert [message.position for message in transcript.before(None)] == [0, 5]


def test_a_message_of_another_line_is_not_removed_for_its_place() -> None:
    transcript = Transcript([said("user", 0)])
    transcript.remove(replace(said("tool", 0), id="m7.0"))
    assert len(transcript) == 1


def test_only_the_newest_request_counts() -> None:
    messages = [said("user", 0), asked(1, "a"), answered(2, "a"), asked(3, "a", "b")]
    assert [(position, call.id) for position, call in Transcript(messages).open_calls()] == [(4, "a"), (5, "b")]


def test_a_message_takes_the_place_of_the_one_that_was_there() -> None:
    transcript = Transcript([said("user", 0), said("assistant", 1, text="half")])
    transcript.put(said("assistant", 1, text="whole"), 5)
    assert [message.text for message in transcript.before(None)] == ["", "whole"]


def test_before_a_place_it_is_left_out() -> None:
    transcript = Transcript([said("user", 0), said("assistant", 1)])
    assert [message.position for message in transcript.before(1)] == [0]
    assert transcript.before(0) == ()


def test_what_was_read_does_not_change_with_what_comes() -> None:
    transcript = Transcript([said("user", 0)])
    before = transcript.before(None)
    transcript.put(said("assistant", 1), 5)
    assert (len(before), len(transcript.before(None)), len(transcript)) == (1, 2, 2)
