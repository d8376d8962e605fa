"""Transcripts in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from clew_storage.memory.tables import Tables
from clew_storage.records import MessageRecord, ThreadKey


class MemoryMessages:
    """Implements the port's `Messages`."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    async def list_messages(
        self,
        key: ThreadKey,
        *,
        at_version: int | None = None,
        after_position: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[MessageRecord]:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None or not (at_version is None or at_version in thread.checkpoints):
            return ()
        line = thread.line if at_version is None else thread.line_to(at_version)
        return list(islice(thread.transcript(line, after=after_position, newest_first=newest_first), limit))

    async def get_message(self, key: ThreadKey, message_id: str) -> MessageRecord | None:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None:
            return None
        messages = thread.transcript(thread.line, after=None, newest_first=True)
        return next((message for message in messages if message.id == message_id), None)

    async def known_ids(self, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None:
            return frozenset()
        written = {message.id for messages in thread.messages.values() for message in messages}
        return frozenset(written.intersection(ids))
