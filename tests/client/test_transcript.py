"""A conversation that is kept from events is the one that the server has."""

from __future__ import annotations

from clew import Client, Event, Transcript
from clew.event_decoding import event_of
from clew.v1 import event_pb2, message_pb2
from tests.client.telling import asked, completed, delta, discarded, said, started, written
from tests.rpc.agents import echo, support
from tests.support.serving import serving


def told(*events: event_pb2.Event) -> Transcript:
    transcript = Transcript()
    for wire in events:
        event = event_of(wire)
        assert isinstance(event, Event)
        transcript.apply(event)
    return transcript


def texts(transcript: Transcript) -> list[str]:
    return [message["content"][0]["text"] for message in transcript.messages]


def at(position: int, message: event_pb2.Event) -> event_pb2.Event:
    for each in message.checkpoint_written.messages:
        each.position = position
    return message


ONE = [started(1), at(1, written(1, asked("m1.1", "one"), source="INPUT")), at(2, written(2, said("m2.1", "first")))]
TWO = [started(3), at(3, written(3, asked("m3.1", "two"), source="INPUT")), at(4, written(4, said("m4.1", "second")))]


def test_text_is_being_written_until_its_checkpoint() -> None:
    begun = [*ONE[:2], delta(1, "m2.1", 0, "fi"), delta(1, "m2.1", 2, "rst")]
    assert (texts(told(*begun)), told(*begun).writing) == (["one"], {"m2.1": "first"})
    assert (texts(told(*begun, ONE[2])), told(*begun, ONE[2]).writing) == (["one", "first"], {})


def test_text_that_is_void_is_dropped() -> None:
    begun = [*ONE[:2], delta(1, "m2.1", 0, "fi")]
    assert told(*begun, discarded(1, "m2.1")).writing == {}
    assert told(*begun, started(2, attempt=2)).writing == {}
    assert told(*begun, completed(2)).writing == {}


def test_a_rewind_drops_what_came_after_its_target_and_another_brings_it_back() -> None:
    back = written(5, source="FORK", parent=2)
    assert texts(told(*ONE, *TWO)) == ["one", "first", "two", "second"]
    assert texts(told(*ONE, *TWO, back)) == ["one", "first"]
    other = at(3, written(6, asked("m6.1", "other")))
    assert texts(told(*ONE, *TWO, back, other)) == ["one", "first", "other"]
    assert texts(told(*ONE, *TWO, back, other, written(7, source="FORK", parent=4))) == [
        "one",
        "first",
        "two",
        "second",
    ]


async def test_what_is_kept_from_events_is_what_the_server_has() -> None:
    async with serving([support(), echo()]) as served, Client(served.target) as client:
        thread = client.app("support").thread("t-1")
        await thread.send("hello")
        await thread.send("refund me")
        seeded = Transcript(await thread.messages(), (await thread.info()).version)
        await thread.approve()
        older = (await thread.history(None))[-2]
        await thread.rewind(older["id"])
        await thread.send("hello again")
        transcript = Transcript()
        async for event in thread.watch():
            transcript.apply(event)
        async for event in thread.watch(after_version=seeded.version):
            seeded.apply(event)
        assert transcript.messages == seeded.messages == await thread.messages()
        assert transcript.version == (await thread.info()).version


def changed(version: int, *messages: message_pb2.Message, deleted: tuple[str, ...] = ()) -> event_pb2.Event:
    """A write from outside a run."""
    event = written(version, *messages, source="UPDATE")
    event.checkpoint_written.deleted_message_ids.extend(deleted)
    return event


def test_an_edited_message_takes_its_place_until_the_thread_is_rewound_to_before() -> None:
    edited = at(1, changed(3, asked("m1.1", "one, edited")))
    assert texts(told(*ONE, edited)) == ["one, edited", "first"]
    back = written(4, source="FORK")
    back.checkpoint_written.parent_version = 2
    assert texts(told(*ONE, edited, back)) == ["one", "first"]


def test_a_deleted_message_is_in_no_version_any_more() -> None:
    edited = at(1, changed(3, asked("m1.1", "one, edited")))
    transcript = told(*ONE, edited, changed(4, deleted=("m1.1",)))
    assert texts(transcript) == ["first"]
    back = written(5, source="FORK")
    back.checkpoint_written.parent_version = 2
    assert texts(told(*ONE, edited, changed(4, deleted=("m1.1",)), back)) == ["first"]


def test_what_a_deleted_message_had_replaced_does_not_come_back() -> None:
    half = at(2, written(2, said("m2.1", "half")))
    whole = at(2, written(3, said("m3.0", "whole")))
    assert texts(told(*ONE[:2], half, whole, changed(4, deleted=("m3.0",)))) == ["one"]


def test_messages_that_were_there_before_are_deleted_too() -> None:
    before = told(*ONE, *TWO)
    transcript = Transcript(before.messages, before.version)
    event = event_of(changed(5, deleted=("m1.1", "m4.1")))
    assert isinstance(event, Event)
    transcript.apply(event)
    assert texts(transcript) == ["first", "two"]
