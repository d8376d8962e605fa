"""Frames of text between servers, and what a listener makes of those that it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from clew_engine import Storage
from clew_engine.checkpoints import Failure
from clew_engine.events import Event, MessageDiscarded, ReasoningDelta, TextDelta
from clew_engine.live_text.frames import (
    Frame,
    Request,
    Written,
    decode_frame,
    decode_request,
    encode_frame,
    encode_request,
    topic_of,
)
from clew_engine.live_text.listener import Listener
from clew_storage import Relay, ThreadKey
from clew_storage.beside import Heard

KEY = ThreadKey("acme", "t")


def an_event(payload: Any, version: int = 1) -> Event:
    return Event("t", "uid", "uid.r1", version, False, 5, payload)


def text(offset: int, said: str, message_id: str = "m2.0", part: int = 0) -> Event:
    return an_event(TextDelta(message_id, part, offset, said))


def a_frame(*items: Event | Written, number: int = 0, whole: bool = True, **changes: Any) -> Frame:
    return replace(Frame("other", "uid", 3, "1", number, whole, items), **changes)


class Wire(Relay):
    """Carries what the test says, and notes what is asked."""

    def __init__(self) -> None:
        self.heard: dict[str, Heard] = {}
        self.requests: list[Request] = []

    def listen(self, topic: str, heard: Heard) -> None:
        self.heard[topic] = heard

    def forget(self, topic: str) -> None:
        self.heard.pop(topic, None)

    def say(self, topic: str, payload: bytes) -> bool:
        request = decode_request(payload)
        assert request is not None
        self.requests.append(request)
        return True


class Ear:
    """A listener on a storage, and what it has of one thread."""

    def __init__(self, storage: Storage) -> None:
        self.wire = Wire()
        self.storage = storage
        self.listener = Listener(storage, self.wire, "me")
        self.listener.follow(KEY)

    def hear(self, *frames: Frame) -> None:
        for frame in frames:
            self.wire.heard[topic_of(KEY)](encode_frame(frame))

    @property
    def texts(self) -> list[tuple[str, str]]:
        found = [event.payload for event in self.storage.hub.texts.so_far(KEY, "uid")]
        return [(each.message_id, each.text) for each in found if isinstance(each, TextDelta)]


@pytest.fixture
async def ear() -> AsyncIterator[Ear]:
    async with Storage("memory://") as storage:
        ear = Ear(storage)
        yield ear
        ear.listener.close()


def test_a_frame_comes_back_as_it_was() -> None:
    frame = a_frame(
        text(0, "wörd 🧶"),
        an_event(ReasoningDelta("m2.0", 1, 7, "hm")),
        an_event(MessageDiscarded("m2.0", Failure("model_unavailable", "down", True))),
        Written(2, ("node/m1.0",)),
        text(0, "again", "m3.0"),
    )
    assert decode_frame(encode_frame(frame), KEY) == frame


def test_a_request_comes_back_as_it_was() -> None:
    request = Request("me", (KEY, ThreadKey("", "u")), (KEY,))
    assert decode_request(encode_request(request)) == request


def test_deltas_that_continue_each_other_are_one() -> None:
    frame = a_frame(text(0, "ä"), text(2, "b"), text(0, "c", part=1), text(3, "d"), text(9, "e"))
    decoded = decode_frame(encode_frame(frame), KEY)
    assert decoded is not None
    assert decoded.items == (text(0, "äb"), text(0, "c", part=1), text(3, "d"), text(9, "e"))


@pytest.mark.parametrize(
    "strange", [b"", b"no JSON", b"{}", b"[]", b"[1]", orjson.dumps([2, "a", "uid", 3, "1", 0, True, []])]
)
def test_what_is_not_of_this_format_is_passed_over(strange: bytes) -> None:
    assert decode_frame(strange, KEY) is None
    assert decode_request(strange) is None


def test_no_two_threads_share_a_topic() -> None:
    keys = [ThreadKey("", "a"), ThreadKey("a", "b"), ThreadKey("a/b", "c"), ThreadKey("a", "b:c"), ThreadKey("/", "a")]
    assert len({topic_of(key) for key in keys}) == len(keys)


async def test_a_gap_is_asked_about_and_nothing_is_told_until_all_is_there(ear: Ear) -> None:
    ear.hear(a_frame(text(0, "one ")), a_frame(text(8, "three"), number=2, whole=False))
    assert ear.texts == [("m2.0", "one ")]
    await asyncio.sleep(0)
    assert [request.whole for request in ear.wire.requests] == [(KEY,)]
    ear.hear(a_frame(text(4, "two "), number=3, whole=False))
    assert ear.texts == [("m2.0", "one ")]
    ear.hear(a_frame(text(0, "one two three"), session="2"))
    assert ear.texts == [("m2.0", "one two three")]


async def test_what_is_known_is_not_told_again(ear: Ear) -> None:
    reader = ear.storage.hub.subscribe(KEY)
    ear.hear(a_frame(text(0, "wö")), a_frame(text(0, "wörd"), session="2"), a_frame(text(0, "wörd"), session="3"))
    told = [event.payload for event in await reader.take(1)]
    assert told == [TextDelta("m2.0", 0, 0, "wö"), TextDelta("m2.0", 0, 3, "rd")]


async def test_a_server_that_lost_its_lease_is_not_believed_once_the_next_has_spoken(ear: Ear) -> None:
    ear.hear(a_frame(text(0, "new", "m5.0"), epoch=4, sender="next"), a_frame(text(0, "stale", "m2.0"), epoch=3))
    assert ear.texts == [("m5.0", "new")]


async def test_a_write_ends_all_text_but_that_of_other_nodes(ear: Ear) -> None:
    ear.hear(a_frame(text(0, "a", "one/m1.0"), text(0, "b", "two/m1.0")))
    ear.hear(a_frame(Written(2, ("two/m1.0",)), number=1, whole=False))
    assert ear.texts == [("two/m1.0", "b")]


async def test_a_discarded_message_is_told_to_who_knows_its_text_and_to_nobody_else(ear: Ear) -> None:
    discarded = an_event(MessageDiscarded("m2.0", Failure("model_unavailable", "down", True)))
    reader = ear.storage.hub.subscribe(KEY)
    ear.hear(a_frame(discarded, text(0, "whole", "m2.1")))
    assert [event.type for event in await reader.take(1)] == ["text_delta"]
    ear.hear(a_frame(text(0, "half", "m2.0"), session="2"), a_frame(discarded, number=1, whole=False, session="2"))
    assert [event.type for event in await reader.take(1)] == ["text_delta", "message_discarded"]


async def test_with_the_last_reader_the_text_is_forgotten(ear: Ear) -> None:
    ear.listener.follow(KEY)
    ear.hear(a_frame(text(0, "one")))
    ear.listener.unfollow(KEY)
    assert ear.texts == [("m2.0", "one")]
    ear.listener.unfollow(KEY)
    assert (ear.texts, ear.wire.heard) == ([], {})
