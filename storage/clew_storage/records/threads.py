"""Threads: their names, what is known of them, and how lists choose among them."""

from __future__ import annotations

from msgspec import Struct

from clew_storage.records.checkpoints import Status


class ThreadKey(Struct, frozen=True):
    """A thread's name: ids are unique within a tenant."""

    tenant: str
    thread_id: str


class ThreadInfo(Struct, frozen=True):
    """What is known of a thread beside its checkpoints.

    Changing it has no version; `revision` grows by one with each change.
    """

    app: str = ""
    user_id: str = ""
    name: str = ""
    metadata: bytes = b"{}"
    revision: int = 1


class ThreadRecord(Struct, frozen=True):
    """A thread as it stands. `head_version` is 0 and `head_status` None before its first checkpoint.

    `epoch` is that of the newest write, or that an import was given: larger than all that the id had before a delete. So
    `uid`, `epoch` and `head_version` together name one content, also where an archive brings a uid and its versions back.
    """

    key: ThreadKey
    uid: str
    info: ThreadInfo
    head_version: int
    head_status: Status | None
    epoch: int
    created_at_ms: int
    updated_at_ms: int


class InfoChange(Struct, frozen=True):
    """A change of a thread's info: what is None stays."""

    name: str | None = None
    metadata: bytes | None = None
    user_id: str | None = None
    expected_revision: int | None = None


class ThreadFilter(Struct, frozen=True):
    """Which threads to list; None means any.

    `text` matches a part of the id or the name, without regard to case and accents. `metadata` is a JSON object of strings, numbers,
    booleans and nulls: a thread's metadata has all its pairs at the top level. `thread_filters` decides both.
    """

    user_id: str | None = None
    app: str | None = None
    status: Status | None = None
    metadata: bytes | None = None
    text: str | None = None
