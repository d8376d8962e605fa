"""Leases: the right to write."""

from __future__ import annotations

from msgspec import Struct

from clew_storage.records.threads import ThreadKey


class Grant(Struct, frozen=True):
    """The right to write to a thread until it is released, revoked by a delete, or lost."""

    key: ThreadKey
    epoch: int
    purpose: str
