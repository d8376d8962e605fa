"""Leases: the right to write."""

from __future__ import annotations

from dataclasses import dataclass

from clew_storage.records.threads import ThreadKey


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to write to a thread until it is released, revoked by a delete, or lost."""

    key: ThreadKey
    epoch: int
    purpose: str
