"""Hears the text of watched threads that other servers run, and hands it to the readers here as if it were written here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.events import Event, MessageDiscarded, ToolCallProgress
from clew_engine.live_text.frames import REQUESTS, Frame, Request, Written, decode_frame, encode_request, topic_of
from clew_engine.live_text.texts import DELTAS
from clew_storage import Relay, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_ASK_AGAIN_S = 2.0
# So long a thread's text is waited for before it is asked for again.
_PATIENCE_S = 0.25


@dataclass(slots=True)
class _Followed:
    """One thread, how many watch it, and the frame that comes next. Without a session all text so far is waited for."""

    readers: int = 0
    epoch: int = 0
    session: tuple[str, str] | None = None
    number: int = 0
    asked_at: float = float("-inf")


class Listener:
    """What is missing is asked for, and until it comes nothing is handed on: text has no hole, and nothing in it is there twice."""

    def __init__(self, storage: Storage, relay: Relay, name: str) -> None:
        self._storage = storage
        self._relay = relay
        self._name = name
        self._followed: dict[ThreadKey, _Followed] = {}
        self._whole: set[ThreadKey] = set()
        self._soon: asyncio.Handle | None = None
        self._again: asyncio.TimerHandle | None = None

    def follow(self, key: ThreadKey) -> None:
        """One more reader of a thread."""
        if key not in self._followed:
            self._followed[key] = _Followed()
            self._relay.listen(topic_of(key), partial(self._hear, key))
            if self._again is None:
                self._again = asyncio.get_running_loop().call_later(_ASK_AGAIN_S, self._ask_again)
        self._followed[key].readers += 1

    def unfollow(self, key: ThreadKey) -> None:
        """One reader less; with the last one the thread's text is forgotten here, where it is not written here."""
        followed = self._followed.get(key)
        if followed is None:
            return
        followed.readers -= 1
        if followed.readers:
            return
        del self._followed[key]
        self._relay.forget(topic_of(key))
        if key not in self._storage.live:
            for uid in self._storage.hub.texts.uids(key):
                self._storage.hub.texts.forget(key, uid)

    def close(self) -> None:
        """Follow nothing more."""
        for key in self._followed:
            self._relay.forget(topic_of(key))
        self._followed.clear()
        for timer in (self._soon, self._again):
            if timer is not None:
                timer.cancel()
        self._soon = self._again = None

    def _hear(self, key: ThreadKey, payload: bytes | None) -> None:
        followed = self._followed.get(key)
        if followed is None:
            return
        if payload is None:
            self._miss(key, followed)
            return
        frame = decode_frame(payload, key)
        if frame is None or frame.sender == self._name or key in self._storage.live or frame.epoch < followed.epoch:
            return
        followed.epoch = frame.epoch
        session = (frame.sender, frame.session)
        if not frame.whole and (session, frame.number) != (followed.session, followed.number + 1):
            self._miss(key, followed)
            return
        followed.session, followed.number = session, frame.number
        self._hand_on(key, followed, frame)

    def _hand_on(self, key: ThreadKey, followed: _Followed, frame: Frame) -> None:
        hub = self._storage.hub
        for item in frame.items:
            if isinstance(item, Written):
                hub.texts.keep(key, frame.uid, item.going)
                hub.nudge(key)
            elif isinstance(item.payload, MessageDiscarded):
                if item.payload.message_id in hub.texts.messages(key, frame.uid):
                    hub.hand_out(key, [item])
            elif isinstance(item.payload, ToolCallProgress):
                hub.hand_out(key, [item])
            elif not self._continue(key, item):
                self._miss(key, followed)
                return
        if frame.whole:
            told = (item.payload for item in frame.items if isinstance(item, Event))
            hub.texts.keep(key, frame.uid, {delta.message_id for delta in told if isinstance(delta, DELTAS)})

    def _continue(self, key: ThreadKey, event: Event) -> bool:
        """Hand on what of a delta is new here; False where something before it is missing."""
        delta = event.payload
        assert isinstance(delta, DELTAS)
        known = self._storage.hub.texts.size(key, event.thread_uid, delta)
        new = delta.text.encode()[max(0, known - delta.offset) :]
        if new and delta.offset <= known:
            self._storage.hub.hand_out(key, [replace(event, payload=replace(delta, offset=known, text=new.decode()))])
        return delta.offset <= known

    def _miss(self, key: ThreadKey, followed: _Followed) -> None:
        followed.session = None
        now = asyncio.get_running_loop().time()
        if now - followed.asked_at < _PATIENCE_S:
            return
        followed.asked_at = now
        self._whole.add(key)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._ask)

    def _ask(self) -> None:
        """Say what is followed, and of what all text so far is due."""
        self._soon = None
        whole, self._whole = self._whole, set()
        if self._followed:
            self._relay.say(REQUESTS, encode_request(Request(self._name, tuple(self._followed), tuple(whole))))

    def _ask_again(self) -> None:
        self._again = None
        if self._followed:
            self._whole.update(key for key, followed in self._followed.items() if followed.session is None)
            self._ask()
            self._again = asyncio.get_running_loop().call_later(_ASK_AGAIN_S, self._ask_again)
