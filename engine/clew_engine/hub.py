"""Live fan-out within the process: every reader of a thread has a bounded queue of its own, and none holds a run back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from clew_engine.errors import StreamCutError
from clew_engine.events import (
    CheckpointWritten,
    Event,
)
from clew_engine.live_text.texts import DELTAS, LiveTexts
from clew_engine.messages import DataPart, MediaPart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from clew_storage import ThreadKey

_EVENT_BYTES = 300


class Subscription:
    """What one reader has not read yet. `take` gives all of it at once.

    `uid` is the incarnation of the thread that it reads; empty as long as the reader does not know.
    """

    def __init__(self, limit: int, uid: str = "") -> None:
        self.uid = uid
        self._limit = limit
        self._waiting: deque[Event] = deque()
        self._bytes = 0
        self._error: Exception | None = None
        self._awaited: asyncio.Future[None] | None = None
        self._cursor = 0
        # None: this reader follows a run of this process, and what other servers do is nothing to it.
        self._behind: bool | None = None

    def push(self, events: Sequence[Event], size: int) -> None:
        """Queue events; a reader that is too far behind is cut off instead, with its cursor."""
        if self._error is not None:
            return
        if self._bytes + size > self._limit and self._waiting:
            self.cut("its reader did not keep up")
            return
        self._waiting.extend(events)
        self._bytes += size
        self._wake()

    def cut(self, reason: str) -> None:
        """End the reader now, with the cursor from which it can go on elsewhere."""
        self._waiting.clear()
        self.fail(StreamCutError(self._cursor, reason))

    def end(self, reason: str) -> None:
        """End the reader after what is queued: a run's last word is not lost because the server stops right after it."""
        queued = (event.version for event in self._waiting if event.last_of_version)
        self.fail(StreamCutError(max(queued, default=self._cursor), reason))

    def start_at(self, version: int) -> None:
        """What the reader knows from elsewhere (the log), for the cursor of a cut."""
        self._cursor = max(self._cursor, version)

    def fail(self, error: Exception) -> None:
        """End the reader with an error, after what is queued."""
        if self._error is None:
            self._error = error
            self._wake()

    def heed_others(self) -> None:
        """This reader reads the log itself when it is told that another server wrote to it."""
        self._behind = False

    def nudge(self) -> None:
        """Another server may have written to the thread."""
        if self._behind is not None:
            self._behind = True
            self._wake()

    def is_behind(self) -> bool:
        """Whether it was nudged since this was asked last."""
        behind, self._behind = self._behind, None if self._behind is None else False
        return bool(behind)

    async def take(self, timeout_s: float | None = None) -> list[Event]:
        """All that is queued, waiting for the first; an empty list when the time is over. Raises what ended the stream."""
        if not self._waiting and self._error is None and not self._behind:
            await self._something(timeout_s)
        if not self._waiting and self._error is not None:
            raise self._error
        batch = list(self._waiting)
        self._cursor = max((event.version for event in batch if event.last_of_version), default=self._cursor)
        self._waiting.clear()
        self._bytes = 0
        return batch

    async def _something(self, timeout_s: float | None) -> None:
        """Wait until there is something to take, or the time is over."""
        loop = asyncio.get_running_loop()
        self._awaited = loop.create_future()
        timer = None if timeout_s is None else loop.call_later(timeout_s, self._wake)
        try:
            await self._awaited
        finally:
            self._awaited = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)


class Hub:
    """Subscriptions and the text that is being streamed, by thread."""

    def __init__(self, reader_bytes: int) -> None:
        self._reader_bytes = reader_bytes
        self.watched: Callable[[], None] = lambda: None
        self.published: Callable[[ThreadKey, Sequence[Event], int], None] = lambda *_: None
        self._readers: dict[ThreadKey, set[Subscription]] = {}
        self.texts = LiveTexts()

    def subscribe(self, key: ThreadKey, uid: str = "") -> Subscription:
        """A new reader; it begins with the text so far of a message that is being streamed."""
        reader = Subscription(self._reader_bytes, uid)
        self._readers.setdefault(key, set()).add(reader)
        so_far = [delta for of in self.texts.uids(key) if _concerns(reader, of) for delta in self.texts.so_far(key, of)]
        if so_far:
            reader.push(so_far, 0)
        self.watched()
        return reader

    def unsubscribe(self, key: ThreadKey, reader: Subscription) -> None:
        """Forget a reader."""
        readers = self._readers.get(key)
        if readers is not None:
            readers.discard(reader)
            if not readers:
                del self._readers[key]

    def publish(self, key: ThreadKey, events: Sequence[Event], epoch: int = 0) -> None:
        """Hand events of one incarnation of a thread to every reader of it, without waiting for any; `epoch` is the lease's under which they were made."""
        self.hand_out(key, events)
        self.published(key, events, epoch)

    def hand_out(self, key: ThreadKey, events: Sequence[Event]) -> None:
        """As `publish`, for what comes from another server."""
        self.texts.note(key, events)
        readers = self._readers.get(key)
        if not readers:
            return
        size = sum(map(_size, events))
        for reader in tuple(readers):
            if _concerns(reader, events[0].thread_uid):
                reader.push(events, size)

    def nudge(self, key: ThreadKey) -> None:
        """Another server may have written to the thread: those who watch it look themselves."""
        for reader in self._readers.get(key, ()):
            reader.nudge()

    def fail(self, key: ThreadKey, uid: str, error: Exception) -> None:
        """End every reader of one incarnation of a thread. The next one's, which may be there already, go on."""
        self.texts.forget(key, uid)
        for reader in tuple(self._readers.get(key, ())):
            if _concerns(reader, uid):
                reader.fail(error)

    def readers_of(self) -> dict[ThreadKey, tuple[Subscription, ...]]:
        """All readers, by what they read."""
        return {key: tuple(readers) for key, readers in self._readers.items()}

    def fail_all(self, reason: str) -> None:
        """End every reader with the cursor from which it can go on elsewhere."""
        for readers in tuple(self._readers.values()):
            for reader in tuple(readers):
                reader.end(reason)

    def readers(self) -> int:
        """How many readers there are."""
        return sum(map(len, self._readers.values()))


def _concerns(reader: Subscription, uid: str) -> bool:
    """Whether a reader reads this incarnation, as far as both are known."""
    return not reader.uid or not uid or reader.uid == uid


def _size(event: Event) -> int:
    payload = event.payload
    if isinstance(payload, DELTAS):
        return _EVENT_BYTES + len(payload.text)
    if isinstance(payload, CheckpointWritten):
        messages = (*payload.messages, *(each.message for each in payload.node_messages))
        return _EVENT_BYTES + sum(_weight(message.content) for message in messages)
    return _EVENT_BYTES


def _weight(content: Sequence[Part]) -> int:
    """About what the parts of a message weigh; results of tools count here, and not where their end is told."""
    size = _EVENT_BYTES
    for part in content:
        match part:
            case TextPart(text=held) | ReasoningPart(reasoning=held) | ToolCallPart(args=held):
                size += len(held)
            case MediaPart(data=bytes(held)) | DataPart(data=held):
                size += len(held)
            case ToolResultPart(content=inner, structured=held):
                size += _weight(inner) + len(held or b"")
    return size
