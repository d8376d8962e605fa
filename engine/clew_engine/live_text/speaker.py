"""Tells other servers the text of the threads that are run here, while they ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_engine.events import CheckpointWritten, Event, MessageDiscarded, ToolCallProgress
from clew_engine.live_text.frames import Frame, Request, Written, encode_frame, topic_of
from clew_engine.live_text.texts import DELTAS
from clew_storage import Relay, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# What comes within this time goes in one frame.
_PACE_S = 0.02
# Who has not asked again by then is not there any more: followers do so every 2 s.
_WANTED_S = 7.0


@dataclass(slots=True)
class _Session:
    """What is told of one thread that somebody follows. `discards` are those since the last write, for who missed them."""

    wanted_until: float
    uid: str = ""
    epoch: int = 0
    name: str = ""
    number: int = 0
    whole: bool = True
    items: list[Event | Written] = field(default_factory=list)
    discards: list[Event] = field(default_factory=list)

    def be_of(self, uid: str, epoch: int) -> None:
        """What follows is told under this lease; with another one all begins anew."""
        if (uid, epoch) != (self.uid, self.epoch):
            self.uid, self.epoch, self.whole = uid, epoch, True
            self.items.clear()
            self.discards.clear()


class Speaker:
    """Nothing is told of a thread that nobody follows, and no run waits for what is told of it."""

    def __init__(self, storage: Storage, relay: Relay, name: str) -> None:
        self._storage = storage
        self._relay = relay
        self._name = name
        self._sessions: dict[ThreadKey, _Session] = {}
        self._begun = 0
        self._due: set[ThreadKey] = set()
        self._timer: asyncio.TimerHandle | None = None

    def heed(self, request: Request) -> None:
        """Another server says what it follows."""
        now = asyncio.get_running_loop().time()
        self._forget_unwanted()
        for key in request.follows:
            session = self._sessions.setdefault(key, _Session(now))
            session.wanted_until = now + _WANTED_S
            session.whole = session.whole or key in request.whole
            run = self._storage.live.get(key)
            if run is not None and session.whole:
                session.be_of(run.thread.uid, run.thread.epoch)
                self._tell_soon(key)

    def note(self, key: ThreadKey, events: Sequence[Event], epoch: int) -> None:
        """What readers here are told of a thread, by who has its lease under this epoch."""
        session = self._sessions.get(key)
        if session is None or not epoch:
            return
        session.be_of(events[0].thread_uid, epoch)
        for event in events:
            if isinstance(event.payload, (*DELTAS, ToolCallProgress)):
                session.items.append(event)
            elif isinstance(event.payload, MessageDiscarded):
                session.items.append(event)
                session.discards.append(event)
            elif isinstance(event.payload, CheckpointWritten):
                going = self._storage.hub.texts.messages(key, event.thread_uid)
                session.items.append(Written(event.version, tuple(going)))
                session.discards.clear()
        self._tell_soon(key)

    def close(self) -> None:
        """Tell nothing more."""
        self._sessions.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget_unwanted(self) -> None:
        now = asyncio.get_running_loop().time()
        for key in [key for key, session in self._sessions.items() if session.wanted_until < now]:
            del self._sessions[key]

    def _tell_soon(self, key: ThreadKey) -> None:
        self._due.add(key)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PACE_S, self._tell)

    def _tell(self) -> None:
        self._timer = None
        due, self._due = self._due, set()
        self._forget_unwanted()
        for key in due:
            session = self._sessions.get(key)
            if session is not None and (session.items or session.whole):
                self._relay.say(topic_of(key), encode_frame(self._next(key, session)))

    def _next(self, key: ThreadKey, session: _Session) -> Frame:
        """All that is to be told now. Whether it arrives is not known; a follower that misses it asks."""
        items, whole = session.items, session.whole
        session.number += 1
        if whole:
            self._begun += 1
            session.name, session.number = f"{self._begun}", 0
            written = [item for item in items if isinstance(item, Written)]
            items = [*written, *session.discards, *self._storage.hub.texts.so_far(key, session.uid)]
        session.items, session.whole = [], False
        return Frame(self._name, session.uid, session.epoch, session.name, session.number, whole, tuple(items))
