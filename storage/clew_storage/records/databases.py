"""What is known of a database as a whole: its format, and how much there is of everything."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from clew_storage.records.checkpoints import Status
from clew_storage.records.threads import ThreadKey


class FormatChange(Struct, frozen=True):
    """The format that a database had when it was opened, 0 where there was none, and the one that it has since. `memory://` has none: both are 0."""

    before: int
    now: int


class Kind(StrEnum):
    """What the bytes of a database are for."""

    CHECKPOINTS = "checkpoints"
    MESSAGES = "messages"
    STATES = "states"
    APPROVALS = "approvals"
    REQUESTS = "requests"
    CACHE = "cache"


class Amount(Struct, frozen=True):
    """How much there is of a kind: `rows`, and the bytes of their payloads."""

    rows: int = 0
    bytes: int = 0


class ThreadSize(Struct, frozen=True):
    """A thread's name and the bytes of all that it holds, by kind; kinds of which it has nothing are left out."""

    key: ThreadKey
    bytes: int
    kinds: Mapping[Kind, Amount]


class StorageStats(Struct, frozen=True):
    """What a database holds. `by_status` counts threads, under None those without a checkpoint; `kinds` has every kind.

    `database_bytes` is what the database itself takes on its disk, with columns, indexes and free pages; None where there is
    no disk.
    """

    threads: int
    by_status: Mapping[Status | None, int]
    kinds: Mapping[Kind, Amount]
    largest: tuple[ThreadSize, ...]
    database_bytes: int | None
