"""Where a reader is in a thread's log: what it has whole, what it has in part, and so what is new to it."""

from __future__ import annotations

from collections.abc import Iterator

from clew.event_decoding import event_of
from clew.events import Event, RunQueued
from clew.shown_text import ShownText
from clew.v1 import event_pb2


class Position:
    """Takes the events of one connection after the other, and gives each one once.

    `cursor` moves only where a version is whole; None until the first logged event tells it. Events of one write come in a fixed order, so that a
    part of them, read before a connection broke, is known by its number.
    """

    def __init__(self, cursor: int | None = None, *, run_id: str = "", thread_uid: str = "", complete: bool) -> None:
        self.cursor = cursor
        self.run_id = run_id
        self.thread_uid = thread_uid
        self._queued = False
        self._text = ShownText(complete=complete)
        self._part = (0, 0)
        self._here = (0, 0)
        self._ended_at = -1

    @property
    def started(self) -> bool:
        """Whether the log may be read on from here."""
        return self.cursor is not None

    @property
    def queued(self) -> bool:
        """Whether the request is known to wait for its turn."""
        return self._queued and not self.started

    def join(self) -> None:
        """Another connection carries the stream from here on."""
        self._here = (0, 0)
        self._text.join()

    def accept(self, wire: event_pb2.Event) -> Iterator[Event]:
        """What the reader has not had of it; kinds that this version does not know only move the cursor."""
        event = event_of(wire)
        if event is None:
            if self.cursor is not None and wire.version > self.cursor:
                self._advance(wire)
            return
        self._queued = self._queued or isinstance(event.payload, RunQueued)
        if not event.payload.logged or self._is_new(wire, terminal=event.payload.terminal):
            yield from self._text.show(event)

    def _is_new(self, wire: event_pb2.Event, *, terminal: bool) -> bool:
        if self.cursor is None:
            self.cursor, self.run_id = wire.version - 1, wire.run_id
        self.thread_uid = wire.thread_uid
        # A thread at rest says its last word again to whoever asks; a reader that has it needs it no more.
        again = terminal and self._ended_at != wire.version
        new = self._advance(wire) if wire.version > self.cursor else again
        if terminal:
            self._ended_at = wire.version
        return new

    def _advance(self, wire: event_pb2.Event) -> bool:
        version, number = self._here
        number = number + 1 if version == wire.version else 1
        self._here = (wire.version, number)
        new = self._here > self._part
        self._part = max(self._part, self._here)
        if wire.last_of_version:
            self.cursor = wire.version
        return new
