"""The streamed text that a reader was shown and no checkpoint has confirmed: nothing of it is shown twice, and none is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clew.events import CheckpointWritten, Event, MessageDiscarded, ReasoningDelta, RunStarted, TextDelta
from clew.messages import Message

Delta = TextDelta | ReasoningDelta


class ShownText:
    """What the reader has of each part, in bytes. With `complete` it is owed the text of every message, also of one that it saw nothing of."""

    def __init__(self, *, complete: bool) -> None:
        self._complete = complete
        self._shown: dict[tuple[type[Delta], str, int], int] = {}
        self._settled: set[str] = set()
        self._doubtful: set[str] = set()
        self._joined = False

    def join(self) -> None:
        """Another connection carries the stream from here on. What was shown is in doubt until it comes again, or is written."""
        self._joined = True
        self._doubtful = {message_id for _, message_id, _ in self._shown}

    def show(self, event: Event) -> Iterator[Event]:
        """The event as the reader needs it: less what it has, and after what it missed."""
        payload = event.payload
        if isinstance(payload, TextDelta | ReasoningDelta):
            yield from self._grow(event, payload)
            return
        if isinstance(payload, CheckpointWritten):
            yield from self._settle(event, payload)
        elif payload.terminal:
            yield from self._void_doubtful(event)
        elif isinstance(payload, RunStarted):
            self._forget_all()
        elif isinstance(payload, MessageDiscarded):
            self._forget(payload.message_id)
        yield event

    def _grow(self, event: Event, delta: Delta) -> Iterator[Event]:
        if delta.message_id in self._settled:
            return
        self._doubtful.discard(delta.message_id)
        if not self._parts(type(delta), delta.message_id):
            # Agents inside nodes talk side by side: a new message says nothing of those of other nodes.
            yield from self._void_doubtful(event, _path(delta.message_id))
        part = (type(delta), delta.message_id, delta.part_index)
        shown, text = self._shown.get(part, 0), delta.text.encode()
        known = max(0, shown - delta.offset)
        if known and known >= len(text):
            return
        self._shown[part] = delta.offset + len(text)
        rest = replace(delta, offset=delta.offset + known, text=text[known:].decode()) if known else delta
        yield replace(event, payload=rest)

    def _settle(self, event: Event, written: CheckpointWritten) -> Iterator[Event]:
        if written.checkpoint["source"] == "fork":
            self._forget_all()
            return
        if written.checkpoint["source"] == "update":
            # Nobody says what was added or edited from outside: it is no text of a stream.
            return
        for message in (*written.messages, *(each.message for each in written.node_messages)):
            # A watch through another server than the run's may have had no more than a beginning.
            begun = bool(self._parts(TextDelta, message["id"]))
            if (self._joined or begun) and message["role"] == "assistant":
                yield from self._rest_of(event, message)
            self._forget(message["id"])

    def _rest_of(self, event: Event, message: Message) -> Iterator[Event]:
        parts = self._parts(TextDelta, message["id"])
        if message["id"] in self._settled or not (parts or self._complete):
            return
        texts = [(index, part["text"]) for index, part in enumerate(message["content"]) if part["type"] == "text"]
        for order, (index, text) in enumerate(texts):
            # A message that is read back may lack parts (thoughts), so the order of text parts tells which is which, and not their index.
            place = parts[order] if order < len(parts) else index
            shown = self._shown.get((TextDelta, message["id"], place), 0)
            missed = TextDelta(message["id"], place, shown, text.encode()[shown:].decode(errors="replace"))
            if missed.text:
                yield from self._grow(replace(event, version=event.version - 1, last_of_version=False), missed)

    def _void_doubtful(self, event: Event, path: str | None = None) -> Iterator[Event]:
        """Give up what is in doubt: all, or what is of one node (empty: of the thread's own agent)."""
        for message_id in sorted(each for each in self._doubtful if path is None or _path(each) == path):
            self._forget(message_id)
            yield replace(event, last_of_version=False, payload=MessageDiscarded(message_id, ""))

    def _parts(self, kind: type[Delta], message_id: str) -> list[int]:
        return sorted(index for each, name, index in self._shown if (each, name) == (kind, message_id))

    def _forget(self, message_id: str) -> None:
        self._settled.add(message_id)
        self._doubtful.discard(message_id)
        for part in [part for part in self._shown if part[1] == message_id]:
            del self._shown[part]

    def _forget_all(self) -> None:
        self._shown.clear()
        self._settled.clear()
        self._doubtful.clear()


def _path(message_id: str) -> str:
    """The path of the node that a message is of, or empty."""
    return message_id.rpartition("/")[0]
