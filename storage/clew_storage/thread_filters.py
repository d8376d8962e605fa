"""The parts of a thread filter that look inside a value, decided in one place for every backend."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, TypeGuard

from clew_storage.folded_text import folded
from clew_storage.records import ThreadFilter, ThreadRecord


def metadata_has(metadata: bytes, wanted: bytes) -> bool:
    """Whether the metadata has every pair of a JSON object of strings, numbers, booleans and nulls at its top level."""
    pairs, texts, digits = _parsed(wanted)
    # A listing looks at every thread: where nothing is escaped, texts stand there as they are, or not at all; and so do whole numbers
    # where none is written with a point or an exponent.
    if b"\\" not in metadata and not all(text in metadata for text in texts):
        return False
    if not all(each in metadata for each in digits) and not _OTHERWISE_WRITTEN.search(metadata):
        return False
    try:
        found = json.loads(metadata) if pairs else {}
    except ValueError:
        return False
    return isinstance(found, dict) and all(key in found and _equal(found[key], value) for key, value in pairs.items())


_OTHERWISE_WRITTEN = re.compile(rb"[0-9][.eE]")


@lru_cache(maxsize=8)
def _parsed(wanted: bytes) -> tuple[dict[str, Any], tuple[bytes, ...], tuple[bytes, ...]]:
    """The pairs; the texts in them that need no escape, as JSON has them; and the digits of the whole numbers."""
    pairs: dict[str, Any] = json.loads(wanted)
    texts = [text for pair in pairs.items() for text in pair if isinstance(text, str)]
    written = (json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass") for text in texts)
    digits = (b"%d" % abs(value) for value in pairs.values() if _is_whole(value))
    return pairs, tuple(each for each in written if b"\\" not in each), tuple(digits)


def _is_whole(value: object) -> TypeGuard[float]:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _equal(found: object, value: object) -> bool:
    """As JSON has it: 1 is 1.0, and true is not 1."""
    return found == value and isinstance(found, bool) is isinstance(value, bool)


def text_found(text: str, thread_id: str, name: str) -> bool:
    """Whether the text is a part of the id or the name, without regard to case, accents and marks. Marks alone are a part of nothing."""
    wanted = folded(text)
    return wanted != "" and (wanted in folded(thread_id) or wanted in folded(name))


def matches(thread: ThreadRecord, where: ThreadFilter) -> bool:
    """Whether the thread passes the whole filter."""
    info = thread.info
    return (
        where.user_id in {None, info.user_id}
        and where.app in {None, info.app}
        and where.status in {None, thread.head_status}
        and (where.metadata is None or metadata_has(info.metadata, where.metadata))
        and (where.text is None or text_found(where.text, thread.key.thread_id, info.name))
    )
