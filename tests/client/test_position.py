"""What a reader is given of a thread's events, however often its connection breaks."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from clew.events import CheckpointWritten, Event, MessageDiscarded, RunStarted, TextDelta
from clew.position import Position
from clew.v1 import event_pb2
from tests.client.telling import (
    asked,
    completed,
    delta,
    discarded,
    event,
    heartbeat,
    queued,
    said,
    started,
    tool_finished,
    tool_started,
    written,
)

ANSWER = "héllo, wörld — 你好"


def given_by(position: Position, *events: event_pb2.Event) -> list[Event]:
    return [each for wire in events for each in position.accept(wire)]


def types(events: list[Event]) -> list[str]:
    return [each.type for each in events]


def text_of(events: list[Event], message_id: str) -> str:
    """What a reader has who only joins deltas, and drops what is void."""
    text = ""
    for each in events:
        payload = each.payload
        if isinstance(payload, TextDelta) and payload.message_id == message_id:
            assert payload.offset == len(text.encode()), "a piece is doubled or missing"
            text += payload.text
        if isinstance(payload, RunStarted) or (
            isinstance(payload, MessageDiscarded) and payload.message_id == message_id
        ):
            text = ""
    return text


def test_the_cursor_moves_only_with_the_last_event_of_a_version() -> None:
    position = Position(complete=True)
    cursors = []
    for wire in (queued(), started(4), written(4), tool_finished(5, "call_1"), written(5)):
        given_by(position, wire)
        cursors.append(position.cursor)
    assert cursors == [None, 3, 4, 4, 5]


def test_a_request_waits_until_it_has_started() -> None:
    position = Position(complete=True)
    waits = []
    for wire in (queued(), heartbeat(0), started(1)):
        given_by(position, wire)
        waits.append(position.queued)
    assert waits == [True, True, False]


def test_a_version_that_was_read_in_part_is_given_once() -> None:
    position = Position(complete=True)
    first = given_by(position, started(1), written(1), tool_finished(2, "call_1"))
    position.join()
    assert position.cursor == 1
    again = given_by(position, tool_finished(2, "call_1"), written(2, last=False), tool_started(2, "call_2", last=True))
    assert types(first) == ["run_started", "checkpoint_written", "tool_call_finished"]
    assert types(again) == ["checkpoint_written", "tool_call_started"]


def test_text_so_far_is_given_less_what_was_shown() -> None:
    position = Position(complete=True)
    first = given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hé"))
    position.join()
    again = given_by(position, delta(1, "m2.1", 0, "héllo"), delta(1, "m2.1", 6, "!"))
    assert text_of(first + again, "m2.1") == "héllo!"


def test_text_that_is_all_known_is_not_given_again() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hello"))
    position.join()
    assert given_by(position, delta(1, "m2.1", 0, "hell")) == []


def test_reasoning_and_text_of_a_message_are_counted_apart() -> None:
    position = Position(complete=True)
    thought = event(1, reasoning_delta=event_pb2.ReasoningDelta(message_id="m2.1", part_index=0, offset=0, text="hm"))
    seen = given_by(position, started(1), written(1), thought, delta(1, "m2.1", 0, "no", part=1))
    assert types(seen)[-2:] == ["reasoning_delta", "text_delta"]


def test_the_rest_of_a_message_that_was_written_meanwhile_comes_before_its_checkpoint() -> None:
    position = Position(complete=True)
    first = given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hello"))
    position.join()
    again = given_by(position, written(2, said("m2.1", "hello, world")), completed(3))
    assert text_of(first + again, "m2.1") == "hello, world"
    assert types(again) == ["text_delta", "checkpoint_written", "run_completed"]
    assert again[0].version == 1


def test_a_whole_message_that_was_missed_comes_as_text_too() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1))
    position.join()
    again = given_by(position, written(2, said("m2.1", "hello")))
    assert text_of(again, "m2.1") == "hello"


def test_a_message_of_which_only_a_beginning_came_is_completed_before_its_checkpoint() -> None:
    position = Position(complete=False)
    events = given_by(
        position, started(1), written(1), delta(1, "m2.0", 0, ANSWER[:5]), written(2, said("m2.0", ANSWER))
    )
    assert types(events)[-3:] == ["text_delta", "text_delta", "checkpoint_written"]
    assert text_of(events, "m2.0") == ANSWER


def test_a_stream_that_did_not_break_gets_no_text_but_the_servers() -> None:
    position = Position(complete=True)
    seen = given_by(position, started(1), written(1), written(2, said("m2.1", "hello")))
    assert types(seen) == ["run_started", "checkpoint_written", "checkpoint_written"]


def test_a_watcher_is_not_told_the_text_of_old_messages() -> None:
    position = Position(0, complete=False)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "he"))
    position.join()
    again = given_by(position, written(2, said("m2.1", "hello")), written(3, said("m3.1", "more")))
    assert [each.payload.text for each in again if isinstance(each.payload, TextDelta)] == ["llo"]


def test_the_order_of_text_parts_tells_which_is_which_where_thoughts_are_left_out() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel", part=1))
    position.join()
    (rest, _) = given_by(position, written(2, said("m2.1", "hello")))
    assert isinstance(rest.payload, TextDelta)
    assert (rest.payload.part_index, rest.payload.text) == (1, "lo")


def test_an_attempt_voids_the_text_before_it() -> None:
    position = Position(complete=True)
    seen = given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hello"), started(2, attempt=2))
    seen += given_by(position, written(2), delta(2, "m2.1", 0, "bye"))
    assert text_of(seen, "m2.1") == "bye"


def test_a_discarded_message_is_void_and_stays_so() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel"), discarded(1, "m2.1"))
    position.join()
    assert given_by(position, delta(1, "m2.1", 0, "hello")) == []
    assert types(given_by(position, delta(1, "m2.2", 0, "hi"))) == ["text_delta"]


def test_a_message_that_was_given_up_while_nobody_listened_is_said_to_be_void() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel"))
    position.join()
    again = given_by(position, delta(1, "m2.2", 0, "hi"))
    assert types(again) == ["message_discarded", "text_delta"]
    assert again[0].payload == MessageDiscarded("m2.1", "")


def test_a_message_that_is_still_written_is_not_void_when_another_one_begins() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel"))
    position.join()
    again = given_by(position, delta(1, "m2.1", 0, "hell"), delta(1, "m2.2", 0, "hi"))
    assert types(again) == ["text_delta", "text_delta"]


def test_text_that_was_never_written_is_void_when_the_attempt_has_ended() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel"))
    position.join()
    assert types(given_by(position, completed(2))) == ["message_discarded", "run_completed"]


def test_a_fork_leaves_no_text_of_the_line_that_was_left() -> None:
    position = Position(0, complete=False)
    given_by(position, started(1), written(1), delta(1, "m2.1", 0, "hel"))
    position.join()
    fork = given_by(position, written(2, source="FORK", parent=0))
    assert isinstance(fork[0].payload, CheckpointWritten)
    assert fork[0].payload.parent_version == 0
    assert text_of(given_by(position, delta(2, "m2.1", 0, "hi")), "m2.1") == "hi"


def test_the_last_word_of_a_thread_at_rest_is_given_once() -> None:
    position = Position(2, complete=False)
    assert types(given_by(position, completed(2))) == ["run_completed"]
    position.join()
    assert given_by(position, completed(2)) == []


def test_a_kind_that_is_not_known_is_skipped_and_its_version_is_not() -> None:
    position = Position(complete=True)
    assert types(given_by(position, started(1), written(1), event(2, last=True))) == [
        "run_started",
        "checkpoint_written",
    ]
    assert position.cursor == 2


def test_kinds_that_are_not_known_count_in_a_version_that_is_read_again() -> None:
    position = Position(1, complete=True)
    given_by(position, event(2), tool_finished(2, "call_1"))
    position.join()
    again = given_by(position, event(2), tool_finished(2, "call_1"), written(2))
    assert types(again) == ["checkpoint_written"]


def a_run() -> list[event_pb2.Event]:
    pieces = ["".join(ANSWER[at : at + 3]) for at in range(0, len(ANSWER), 3)]
    deltas, offset = [], 0
    for piece in pieces:
        deltas.append(delta(4, "m5.1", offset, piece))
        offset += len(piece.encode())
    return [
        started(1),
        written(1, asked("m1.1", "hi"), source="INPUT"),
        delta(1, "m2.1", 0, "let me "),
        delta(1, "m2.1", 7, "look"),
        heartbeat(1),
        written(2, said("m2.1", "let me look"), last=False),
        tool_started(2, "call_1"),
        tool_started(2, "call_2", last=True),
        tool_finished(3, "call_2"),
        written(3),
        tool_finished(4, "call_1"),
        written(4),
        *deltas,
        written(5, said("m5.1", ANSWER), last=False, status="COMPLETED"),
        completed(5, ANSWER, "m5.1"),
    ]


def is_logged(wire: event_pb2.Event) -> bool:
    return wire.WhichOneof("payload") not in ("text_delta", "heartbeat")


def replayed(run: list[event_pb2.Event], cursor: int, at: int) -> list[event_pb2.Event]:
    """What a server first gives a watcher after a cursor, when the run has come as far as `at`."""
    head = max((wire.version for wire in run[:at] if wire.last_of_version), default=0)
    replay = [wire for wire in run[:at] if is_logged(wire) and cursor < wire.version <= head]
    so_far: dict[str, str] = {}
    for wire in run[:at]:
        if wire.WhichOneof("payload") == "text_delta":
            so_far[wire.text_delta.message_id] = so_far.get(wire.text_delta.message_id, "") + wire.text_delta.text
        elif wire.WhichOneof("payload") == "checkpoint_written":
            so_far.clear()
    return [*replay, *(delta(head, message_id, 0, text) for message_id, text in so_far.items())]


def whole(run: list[event_pb2.Event], at: int) -> int:
    """The next point where no version is told in part: a write is told at once."""
    while at < len(run) and is_logged(run[at]) and run[at].version == run[at - 1].version and is_logged(run[at - 1]):
        at += 1
    return at


@given(st.lists(st.tuples(st.integers(1, 25), st.integers(0, 25)), max_size=4))
@example([(1, 0)])
@example([(3, 0), (1, 8), (2, 3)])
def test_wherever_connections_break_every_event_comes_once_and_the_text_is_whole(breaks: list[tuple[int, int]]) -> None:
    run = a_run()
    position = Position(complete=True)
    seen: list[Event] = []
    before: list[event_pb2.Event] = []
    at = 0
    for read, meanwhile in breaks:
        stream = [*before, *run[at:]][:read]
        seen += given_by(position, *stream)
        at = whole(run, min(len(run), at + max(0, len(stream) - len(before)) + meanwhile))
        before = replayed(run, position.cursor or 0, at)
        position.join()
    seen += given_by(position, *before, *run[at:])
    logged = [each for each in seen if each.payload.logged]
    expected = [wire for wire in run if is_logged(wire)]
    assert types(logged) == [str(wire.WhichOneof("payload")) for wire in expected]
    assert [each.version for each in logged] == [wire.version for wire in expected]
    assert text_of(seen, "m2.1") == "let me look"
    assert text_of(seen, "m5.1") == ANSWER
    assert position.cursor == 5


def test_what_was_written_from_outside_while_the_connection_was_broken_is_no_text_of_a_stream() -> None:
    position = Position(complete=True)
    given_by(position, started(1), written(1, asked("m1.0", "hi"), source="INPUT"))
    position.join()
    events = given_by(position, written(2, said("m2.0", "added"), source="UPDATE"))
    assert types(events) == ["checkpoint_written"]
