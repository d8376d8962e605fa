"""Messages that have all words of a search: a transcript looked through from a place on, a stretch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_engine.log_events import view_message
from clew_engine.messages import Message, spoken_texts
from clew_engine.search_words import words_of
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

    A search without a word in it finds nothing.
    """
    wanted = words_of(search)
    found: list[Message] = []
    for _ in range(MOST // _STRETCH if wanted else 0):
        records = await storage.backend.messages.list_messages(
            key, at_version=version, after_position=after, limit=_STRETCH, newest_first=newest_first
        )
        for record in records:
            message = view_message(record) if _may_have(record.body, wanted) else None
            if message is not None and wanted <= words_of(*spoken_texts(message)):
                if len(found) == limit or (found and len(record.body) > room):
                    return found, after
                found.append(message)
                room -= len(record.body)
            after = record.position
        if len(records) < _STRETCH:
            return found, None
    return found, after if wanted else None


def _may_have(body: bytes, wanted: frozenset[str]) -> bool:
    """A look at the stored bytes that spares reading most messages: letters of ASCII stand there as they are."""
    if not body.isascii():
        return True
    plain = body.lower()
    return all(word.isascii() and word.encode() in plain for word in wanted)
