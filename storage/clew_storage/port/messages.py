"""The port's `Messages`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew_storage.records import MessageRecord, ThreadKey


class Messages(Protocol):
    """Messages on the head's line (or the line of an older checkpoint), in transcript order."""

    async def list_messages(
        self,
        key: ThreadKey,
        *,
        at_version: int | None = None,
        after_position: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[MessageRecord]:
        """The messages of the line that ends at `at_version` (None: the head).

        Those beyond `after_position` in the order asked for. Empty where there is no such thread or checkpoint.
        """

    async def get_message(self, key: ThreadKey, message_id: str) -> MessageRecord | None:
        """The message with that id on the head's line, or None."""

    async def known_ids(self, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that a message of the thread has, on whatever line."""
