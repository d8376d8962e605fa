"""Live fan-out: who is told what, by thread and by its incarnation, and with which cursor a reader ends."""

from __future__ import annotations

import pytest

from clew_engine.checkpoints import Failure
from clew_engine.errors import StreamCutError, ThreadNotFoundError
from clew_engine.events import Event, Heartbeat, MessageDiscarded, Payload, RunStarted, TextDelta
from clew_engine.hub import Hub
from clew_storage import ThreadKey

KEY = ThreadKey("", "t")


def an_event(payload: Payload, *, uid: str = "u", version: int = 1, last: bool = False) -> Event:
    """Something that happened on the thread."""
    return Event("t", uid, f"{uid}.r1", version, last, 0, payload)


def text(value: str, offset: int = 0, uid: str = "u", message: str = "m2.0") -> Event:
    """A piece of a message."""
    return an_event(TextDelta(message, 0, offset, value), uid=uid)


async def test_every_reader_of_a_thread_gets_every_event_and_no_other_threads() -> None:
    hub = Hub(10_000)
    readers = [hub.subscribe(KEY), hub.subscribe(KEY)]
    other = hub.subscribe(ThreadKey("acme", "t"))
    hub.publish(KEY, [text("a")])
    assert [await reader.take(0) for reader in readers] == [[text("a")]] * 2
    assert await other.take(0) == []


async def test_a_reader_that_joins_gets_the_text_so_far_in_one_piece() -> None:
    hub = Hub(10_000)
    for event in (text("Zw"), text("ölf", 2), text("other", 0, message="m2.1")):
        hub.publish(KEY, [event])
    assert await hub.subscribe(KEY).take(0) == [text("Zwölf"), text("other", 0, message="m2.1")]


@pytest.mark.parametrize("end", [RunStarted(2), MessageDiscarded("m2.0", Failure("model_unavailable", "", True))])
async def test_text_that_is_void_is_not_given_to_who_joins(end: Payload) -> None:
    hub = Hub(10_000)
    hub.publish(KEY, [text("a")])
    hub.publish(KEY, [an_event(end)])
    assert await hub.subscribe(KEY).take(0) == []


async def test_readers_of_one_incarnation_hear_nothing_of_another() -> None:
    hub = Hub(10_000)
    reader = hub.subscribe(KEY, "new")
    unsure = hub.subscribe(KEY)
    hub.publish(KEY, [text("old", uid="old")])
    hub.publish(KEY, [text("new", uid="new")])
    assert [event.thread_uid for event in await reader.take(0)] == ["new"]
    assert [event.thread_uid for event in await unsure.take(0)] == ["old", "new"]
    assert [event.thread_uid for event in await hub.subscribe(KEY, "new").take(0)] == ["new"]


async def test_the_end_of_one_incarnation_is_not_that_of_another() -> None:
    hub = Hub(10_000)
    old, new = hub.subscribe(KEY, "old"), hub.subscribe(KEY, "new")
    hub.publish(KEY, [text("kept", uid="new")])
    hub.fail(KEY, "old", ThreadNotFoundError("t"))
    with pytest.raises(ThreadNotFoundError):
        await old.take(0)
    assert len(await new.take(0)) == 1
    assert len(await hub.subscribe(KEY, "new").take(0)) == 1, "its text so far is kept"


async def test_a_reader_gets_what_is_queued_before_the_error_that_ends_it() -> None:
    hub = Hub(10_000)
    reader = hub.subscribe(KEY)
    hub.publish(KEY, [text("a")])
    hub.fail(KEY, "u", ThreadNotFoundError("t"))
    assert await reader.take(0) == [text("a")]
    with pytest.raises(ThreadNotFoundError):
        await reader.take(0)


async def test_the_cursor_of_a_cut_is_the_last_version_that_was_taken_whole() -> None:
    hub = Hub(700)
    reader = hub.subscribe(KEY)
    hub.publish(KEY, [an_event(RunStarted(1), version=3, last=True)])
    hub.publish(KEY, [an_event(RunStarted(1), version=4)])
    await reader.take(0)
    for version in (5, 6, 7):
        hub.publish(KEY, [an_event(Heartbeat(), version=version, last=True)])
    with pytest.raises(StreamCutError) as cut:
        await reader.take(0)
    assert cut.value.version == 3


async def test_one_large_event_is_given_to_a_reader_that_keeps_up() -> None:
    hub = Hub(100)
    reader = hub.subscribe(KEY)
    hub.publish(KEY, [text("x" * 1000)])
    assert len(await reader.take(0)) == 1


async def test_nothing_is_kept_of_threads_that_nobody_reads() -> None:
    hub = Hub(10_000)
    reader = hub.subscribe(KEY)
    hub.unsubscribe(KEY, reader)
    hub.unsubscribe(KEY, reader)
    hub.publish(KEY, [text("a")])
    hub.publish(KEY, [an_event(RunStarted(2))])
    assert (hub.readers(), hub._readers, hub.texts._texts) == (0, {}, {})
