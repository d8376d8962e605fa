"""What may stand beside a database and be shared by its servers: with it some things are faster or livelier, and without it nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from clew_storage.errors import StorageRefused
from clew_storage.port import Backend
from clew_storage.records import ThreadKey

# Takes each message, and None where listening begins, or begins again: what was said before may be missing.
Heard = Callable[[bytes | None], None]


class Relay(Protocol):
    """Carries bytes between the servers of a database, to those who listen at that moment.

    Anything may be lost at any time, and it is never known what was. What comes from one server under one topic comes in the order in which it was said.
    """

    def listen(self, topic: str, heard: Heard) -> None:
        """Hear what is said under a topic; the call does not wait for it. A topic has one listener."""

    def forget(self, topic: str) -> None:
        """Stop to listen. Harmless where nobody listens."""

    def say(self, topic: str, payload: bytes) -> bool:
        """Say something to all who listen, the speaker among them, without waiting; False where it is known to be lost."""


@dataclass(frozen=True, slots=True)
class KeptState:
    """A thread's state as it was at one version: values as they were written, keys in the order in which they first came.

    `epoch` was the thread's then.
    """

    uid: str
    epoch: int
    version: int
    values: dict[str, bytes]


class KeptStates(Protocol):
    """States that were the newest of their threads when they were last read."""

    async def recall(self, key: ThreadKey) -> KeptState | None:
        """What is kept of the thread, however old; None where nothing is, or nothing can be said."""


class Beside(Protocol):
    """One such thing. It belongs to the backend that is put around another, and is opened and closed with it."""

    @property
    def relay(self) -> Relay:
        """Between servers."""
        ...

    @property
    def states(self) -> KeptStates:
        """What is kept of threads."""
        ...

    @property
    def is_up(self) -> bool:
        """Whether it answered when it was last asked."""
        ...

    def when_it_changes(self, tell: Callable[[bool], None]) -> None:
        """Have somebody told when it goes away or comes back."""

    def around(self, backend: Backend) -> Backend:
        """The backend, with what is faster here taken from here."""


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """How Redis is used. Times are seconds, sizes bytes.

    `connection`: a URL (`redis://`, `rediss://` or `unix://`), a `redis.asyncio.Redis` or a `redis.asyncio.ConnectionPool`. What is made of a URL is
    closed with the storage; what was given stays open for its owner, unless `release_resources`. `prefix` begins every name in Redis: databases that
    share a Redis have one each. States of at least `large_state` are kept for `cache_ttl`, and waited for no longer than `patience`: the database has them too.
    """

    connection: Any = field(repr=False)
    prefix: str = "clew"
    cache_ttl: float = 24 * 3600.0
    release_resources: bool = False
    large_state: int = 32 << 10
    patience: float = 0.25

    def __post_init__(self) -> None:
        if not self.prefix or not self.prefix.isprintable():
            raise StorageRefused("the prefix of the names in Redis is a text that can be printed, and not empty")
        if not 0.001 <= self.cache_ttl <= 3_155_760_000:
            raise StorageRefused(f"cache_ttl is a time over 0 and up to 100 years, in seconds, not {self.cache_ttl!r}")
