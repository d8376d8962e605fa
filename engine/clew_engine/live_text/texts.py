"""The text that is being streamed, by thread: what a reader that joins begins with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from clew_engine.events import (
    CheckpointWritten,
    Event,
    MessageDiscarded,
    Payload,
    ReasoningDelta,
    RunStarted,
    TextDelta,
)
from clew_engine.node_talks import path_of
from clew_storage import Status, ThreadKey

# Tuples: `A | B` would be made anew for every event.
DELTAS = (TextDelta, ReasoningDelta)
Part = tuple[type[Payload], str, int]


@dataclass(slots=True)
class _Text:
    """One part of a message so far; `size` is its bytes in UTF-8."""

    deltas: list[Event] = field(default_factory=list)
    size: int = 0

    def add(self, event: Event, delta: TextDelta | ReasoningDelta) -> None:
        self.deltas.append(event)
        self.size = delta.offset + len(delta.text.encode())


class LiveTexts:
    """Deltas of the messages that are not written yet, of each incarnation of each thread."""

    def __init__(self) -> None:
        self._texts: dict[ThreadKey, dict[str, dict[Part, _Text]]] = {}

    def uids(self, key: ThreadKey) -> Sequence[str]:
        """The incarnations of which there is text."""
        return list(self._texts.get(key, ()))

    def so_far(self, key: ThreadKey, uid: str) -> list[Event]:
        """The text of each part, from its first byte on, as one delta."""
        return [_joined(text.deltas) for text in self._texts.get(key, {}).get(uid, {}).values()]

    def size(self, key: ThreadKey, uid: str, payload: TextDelta | ReasoningDelta) -> int:
        """How many bytes there are of the part that a delta belongs to."""
        text = self._texts.get(key, {}).get(uid, {}).get(_part(payload))
        return text.size if text else 0

    def messages(self, key: ThreadKey, uid: str) -> set[str]:
        """The ids of the messages of which there is text."""
        return {message_id for _, message_id, _ in self._texts.get(key, {}).get(uid, ())}

    def note(self, key: ThreadKey, events: Sequence[Event]) -> None:
        """Add what deltas bring, and forget the text of the messages that other events end; what others say goes on."""
        for event in events:
            payload = event.payload
            if isinstance(payload, DELTAS):
                self._text(key, event.thread_uid, _part(payload)).add(event, payload)
            elif key in self._texts:
                going = self.messages(key, event.thread_uid)
                self.keep(key, event.thread_uid, {each for each in going if not _ends(payload, each)})

    def _text(self, key: ThreadKey, uid: str, part: Part) -> _Text:
        """The text of a part, which begins with the first that asks for it; what `setdefault` is given would be made each time."""
        try:
            return self._texts[key][uid][part]
        except KeyError:
            return self._texts.setdefault(key, {}).setdefault(uid, {}).setdefault(part, _Text())

    def keep(self, key: ThreadKey, uid: str, message_ids: Collection[str]) -> None:
        """Forget the text of all other messages."""
        texts = self._texts.get(key, {}).get(uid, {})
        for part in [part for part in texts if part[1] not in message_ids]:
            del texts[part]
        if not texts:
            self.forget(key, uid)

    def forget(self, key: ThreadKey, uid: str) -> None:
        """Forget all text of an incarnation."""
        texts = self._texts.get(key)
        if texts is not None and texts.pop(uid, None) is not None and not texts:
            del self._texts[key]


def _part(delta: TextDelta | ReasoningDelta) -> Part:
    return type(delta), delta.message_id, delta.part_index


def _ends(payload: Payload, message_id: str) -> bool:
    """Whether a message's text is over with this event."""
    if isinstance(payload, MessageDiscarded):
        return payload.message_id == message_id
    if isinstance(payload, CheckpointWritten):
        # Agents in nodes talk side by side: what one of them wrote ends no other's text.
        at_rest = payload.checkpoint.status is not Status.IN_PROGRESS
        return (
            at_rest or not path_of(message_id) or any(each.message.id == message_id for each in payload.node_messages)
        )
    return isinstance(payload, RunStarted)


def _joined(deltas: list[Event]) -> Event:
    first = deltas[0].payload
    assert isinstance(first, DELTAS)
    text = "".join(event.payload.text for event in deltas if isinstance(event.payload, DELTAS))
    return replace(deltas[0], payload=replace(first, text=text))
