"""What servers say to each other: Redis's publish and subscribe, on one connection for all that is heard."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any

from redis.asyncio.client import PubSub

from clew_storage.beside import Heard
from clew_storage.redis.link import FAILURES, Link, end

# What waits to be said; a Redis that is slow loses what is beyond.
_WAITING_BYTES = 8 << 20
_TOGETHER = 200
_SAY_S = 2.0
_AGAIN_S = 0.25
# A connection on which nothing is heard for so long is asked whether it is one, and given up after as long again.
_QUIET_S = 5.0
_log = logging.getLogger("clew.storage")


class RedisRelay:
    """Listens while there is somebody to listen, and says what is to be said, from tasks of its own."""

    def __init__(self, link: Link, prefix: str) -> None:
        self._link = link
        self._prefix = f"{prefix}:".encode()
        self._listeners: dict[bytes, Heard] = {}
        self._waiting: deque[tuple[bytes, bytes]] = deque()
        self._waiting_bytes = 0
        self._ears: PubSub | None = None
        self._asked: set[bytes] = set()
        self._stirred = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def open(self) -> None:
        """Begin, perhaps in another event loop than before."""
        self._ears, self._stirred = None, asyncio.Event()
        self._waiting.clear()
        self._waiting_bytes = 0
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._hear(), name="clew-redis-hear"),
            loop.create_task(self._speak(), name="clew-redis-speak"),
        ]

    async def close(self) -> None:
        """Stop; what was not said yet is not said any more. Harmless when called twice, or before `open`."""
        tasks, self._tasks = self._tasks, []
        await end(*tasks)

    def listen(self, topic: str, heard: Heard) -> None:
        """Hear what is said under a topic."""
        channel = self._channel(topic)
        self._listeners[channel] = heard
        # Also where it is listened to already: the confirmation is what tells the listener that it hears.
        self._asked.discard(channel)
        self._stirred.set()

    def forget(self, topic: str) -> None:
        """Stop to listen."""
        self._listeners.pop(self._channel(topic), None)
        self._stirred.set()

    def say(self, topic: str, payload: bytes) -> bool:
        """Say something, unless Redis is away or has not taken what was said before."""
        if not self._tasks or not self._link.is_up or self._waiting_bytes > _WAITING_BYTES:
            return False
        self._waiting.append((self._channel(topic), payload))
        self._waiting_bytes += len(payload)
        self._stirred.set()
        return True

    def _channel(self, topic: str) -> bytes:
        return self._prefix + topic.encode()

    async def _hear(self) -> None:
        """One connection after the other. Each new subscription is confirmed, and so is each that was made again."""
        while True:
            if self._listeners:
                try:
                    async with self._link.client.pubsub() as ears:
                        await self._hear_with(ears)
                except FAILURES as error:
                    self._link.lost(error)
                finally:
                    self._ears = None
            await asyncio.sleep(_AGAIN_S)

    async def _hear_with(self, ears: PubSub) -> None:
        self._asked = set(self._listeners)
        async with asyncio.timeout(_SAY_S):
            await ears.subscribe(*self._asked)
        # There may be more to listen to since.
        self._ears = ears
        self._stirred.set()
        quiet = False
        while self._listeners or self._asked:
            message: dict[str, Any] | None = await ears.get_message(timeout=_QUIET_S)
            if message is not None:
                quiet = False
                self._pass_on(message)
            elif quiet:
                raise TimeoutError
            else:
                quiet = True
                await ears.ping()

    def _pass_on(self, message: dict[str, Any]) -> None:
        heard = self._listeners.get(message["channel"]) if message["channel"] else None
        if heard is None or message["type"] not in ("subscribe", "message"):
            return
        try:
            heard(message["data"] if message["type"] == "message" else None)
        except Exception:  # noqa: BLE001 - whatever it is, the next message may be a good one
            # Anybody who reaches this Redis can say anything; it must not deafen the server.
            _log.exception("what was heard through Redis could not be taken")

    async def _speak(self) -> None:
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            try:
                async with asyncio.timeout(_SAY_S):
                    await self._say_all()
            except FAILURES as error:
                self._link.lost(error)
                self._waiting.clear()
                self._waiting_bytes = 0
                # What is listened to may not be what was asked for: the other task begins anew.
                ears: Any = self._ears
                if ears is not None and ears.connection is not None:
                    await ears.connection.disconnect(nowait=True)

    async def _say_all(self) -> None:
        await self._agree()
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(_TOGETHER, len(self._waiting)))]
            self._waiting_bytes -= sum(len(payload) for _, payload in some)
            pipeline = self._link.client.pipeline(transaction=False)
            for channel, payload in some:
                pipeline.publish(channel, payload)
            await pipeline.execute()

    async def _agree(self) -> None:
        """Listen to what is listened to, and to nothing else."""
        ears = self._ears
        if ears is None:
            return
        wanted = set(self._listeners)
        more, less = wanted - self._asked, self._asked - wanted
        self._asked = wanted
        if more:
            await ears.subscribe(*more)
        if less:
            await ears.unsubscribe(*less)
