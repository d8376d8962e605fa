"""Messages that have all words of a search: a transcript looked through from a place on, a stretch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_engine.log_events import view_message
from clew_engine.messages import Message, spoken_texts
from clew_engine.search_words import Search
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# Between two stretches others have their turn.
_STRETCH = 200
# One call looks through no more; the next one goes on from there.
MOST = 5_000


async def found_messages(
    storage: Storage,
    key: ThreadKey,
    search: str,
    *,
    version: int,
    after: int | None,
    newest_first: bool,
    limit: int,
    room: int,
) -> tuple[list[Message], int | None]:
    """Up to `limit` messages whose bodies take `room` bytes beside the first, and the place to go on from; None at the end.

    A search of spaces alone finds nothing.
    """
    wanted = Search(search)
    found: list[Message] = []
    for _ in range(MOST // _STRETCH if wanted else 0):
        records = await storage.backend.messages.list_messages(
            key, at_version=version, after_position=after, limit=_STRETCH, newest_first=newest_first
        )
        for record in records:
            message = view_message(record) if wanted.may_be_in(record.body) else None
            if message is not None and wanted.is_in(*spoken_texts(message)):
                if len(found) == limit or (found and len(record.body) > room):
                    return found, after
                found.append(message)
                room -= len(record.body)
            after = record.position
        if len(records) < _STRETCH:
            return found, None
    return found, after if wanted else None
