"""What a watch was told of text, and ways to lose some of it between two servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from clew_engine import Storage
from clew_engine.events import Event
from clew_engine.live_text.frames import REQUESTS, decode_frame
from clew_engine.live_text.listener import Listener
from clew_engine.live_text.texts import DELTAS
from clew_storage import ThreadKey
from tests.scenarios.sights import Reader, Seen


def pieces(seen: Sequence[Seen]) -> list[tuple[str, int, str]]:
    """The deltas: of which message, from which byte on, and what they say."""
    return [
        (event.data["message_id"], event.data["offset"], event.data["text"])
        for event in seen
        if event.type == "text_delta"
    ]


def text_of(seen: Sequence[Seen]) -> str:
    """All that the deltas say, one after the other."""
    return "".join(text for _, _, text in pieces(seen))


def check_text(seen: Sequence[Seen], texts: Mapping[str, str]) -> None:
    """Every message that is told of begins at its first byte and goes on without a hole or a repetition, and says what is stored of it in the end."""
    so_far: dict[str, str] = {}
    written: set[str] = set()
    for event in seen:
        if event.type == "checkpoint_written":
            written |= set(event.data["messages"])
        elif event.type == "text_delta":
            message_id, offset, text = event.data["message_id"], event.data["offset"], event.data["text"]
            assert message_id not in written, f"text of {message_id} after its checkpoint"
            before = so_far.get(message_id, "")
            assert offset <= len(before.encode()), f"a hole in {message_id} before byte {offset}"
            assert offset == len(before.encode()), f"{message_id} is told twice from byte {offset} on"
            so_far[message_id] = before + text
    for message_id, text in so_far.items():
        if message_id in texts:
            assert texts[message_id].startswith(text), f"{message_id} was told as {text!r}"


def check_all(watches: Sequence[Reader], texts: Mapping[str, str]) -> None:
    """`check_text` of each."""
    for watch in watches:
        check_text(watch.seen, texts)


class Losing:
    """A relay that loses some of what is said of text."""

    def __init__(self, relay: Any, every: int) -> None:
        self._relay = relay
        self._every = every
        self._said = 0
        self.times = 0

    @classmethod
    def every(cls, number: int, storage: Storage) -> Losing:
        """Lose each frame of this number."""
        exchange: Any = storage.exchange
        exchange._speaker._relay = losing = cls(exchange._speaker._relay, number)
        return losing

    def say(self, topic: str, payload: bytes) -> bool:
        assert topic != REQUESTS
        self._said += 1
        if self._said % self._every == 0:
            self.times += 1
            return True
        return bool(self._relay.say(topic, payload))


class Deaf(Listener):
    """Takes each frame as if it were the next one, and each delta as if it continued what is known."""

    def _hear(self, key: ThreadKey, payload: bytes | None) -> None:
        followed = self._followed.get(key)
        frame = decode_frame(payload, key) if payload is not None else None
        if followed is not None and frame is not None and not frame.whole:
            followed.session, followed.number = (frame.sender, frame.session), frame.number - 1
        super()._hear(key, payload)

    def _continue(self, key: ThreadKey, event: Event) -> bool:
        if not isinstance(event.payload, DELTAS):
            return super()._continue(key, event)
        known = self._storage.hub.texts.size(key, event.thread_uid, event.payload)
        if event.payload.offset > known:
            self._storage.hub.hand_out(key, [replace(event)])
            return True
        return super()._continue(key, event)


def listen_with(kind: type[Listener], storage: Storage) -> None:
    """Listen in another way."""
    exchange: Any = storage.exchange
    exchange._listener = kind(storage, exchange._relay, exchange._name)
