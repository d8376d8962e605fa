"""Everything of a thread read a page at a time, and a thread made of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from msgspec.structs import replace

from clew_storage.errors import ThreadExists, ThreadMissing
from clew_storage.records import ApprovalRecord, LogEntry, MessageRecord, RequestRecord, ThreadKey
from clew_storage.sqlite.appends import put_checkpoint, put_messages
from clew_storage.sqlite.approvals import asked_in, insert_approval
from clew_storage.sqlite.heads import messages_end, read_log
from clew_storage.sqlite.infos import make_thread, move_head
from clew_storage.sqlite.places import number_of, place
from clew_storage.sqlite.requests import insert_request
from clew_storage.sqlite.rows import MESSAGE, REQUEST, StoredThread, find_thread, message_record, request_record
from clew_storage.sqlite.states import fold_all, insert_change
from clew_storage.state_changes import Delta, decode_delta
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart

# What is in memory at a time.
_PAGE_ROWS, _PAGE_BYTES = 64, 1 << 20


def list_tenants(connection: sqlite3.Connection, after: str | None, limit: int) -> list[str]:
    """See the port. Each tenant costs one look into the index of names, however many threads it has."""
    found: list[str] = []
    while len(found) < limit:
        row = connection.execute(
            "SELECT tenant FROM threads WHERE uid IS NOT NULL AND (?1 IS NULL OR tenant > ?1) ORDER BY tenant LIMIT 1",
            (after,),
        ).fetchone()
        if row is None:
            break
        (after,) = row
        found += row
    return found


def pages_of(connection: sqlite3.Connection, key: ThreadKey) -> Generator[Sequence[Part], None, None]:
    """The parts of a thread. All pages must be read in one transaction."""
    thread = find_thread(connection, key)
    if thread is None:
        raise ThreadMissing(f"there is no thread {key.thread_id}")
    yield [ThreadPart(replace(thread.record, epoch=0), thread.line, thread.cancel, thread.oldest)]
    if thread.oldest:
        yield from _pages(_trimmed(connection, thread))
    yield from _checkpoints(connection, thread)
    yield from _pages(asked_in(connection, thread.number))
    rows = connection.execute(
        f"SELECT {REQUEST} FROM requests r JOIN threads t ON t.thread_no = r.thread_no "  # noqa: S608 - the columns are ours
        "WHERE r.thread_no = ? ORDER BY r.request_hash",
        (thread.number,),
    )
    yield from _pages(map(request_record, rows))


def _trimmed(connection: sqlite3.Connection, thread: StoredThread) -> Iterator[Part]:
    """Messages whose checkpoints are gone."""
    begin = messages_end(connection, thread.number, thread.oldest - 1)
    rows = connection.execute(
        f"SELECT {MESSAGE} FROM messages WHERE id >= ? AND id < ? ORDER BY version, position",  # noqa: S608 - as above
        (place(thread.number, 0), place(thread.number, begin)),
    )
    return map(message_record, rows)


def _checkpoints(connection: sqlite3.Connection, thread: StoredThread) -> Generator[Sequence[Part], None, None]:
    record = thread.record
    version = 0
    while entries := read_log(
        connection, record.key, record.uid, after_version=version, limit=_PAGE_ROWS, max_bytes=_PAGE_BYTES
    ):
        changes = _changes(connection, thread.number, entries)
        version = entries[-1].checkpoint.version
        yield [
            CheckpointPart(entry.checkpoint, entry.messages, changes.get(entry.checkpoint.version)) for entry in entries
        ]


def _changes(connection: sqlite3.Connection, thread_no: int, entries: Sequence[LogEntry]) -> dict[int, Delta]:
    span = (place(thread_no, entries[0].checkpoint.version), place(thread_no, entries[-1].checkpoint.version))
    rows = connection.execute("SELECT id, change FROM state_changes WHERE id BETWEEN ? AND ?", span)
    return {number_of(row_id): decode_delta(change) for row_id, change in rows}


def _pages(parts: Iterable[Part]) -> Generator[Sequence[Part], None, None]:
    page: list[Part] = []
    for part in parts:
        page.append(part)
        if len(page) == _PAGE_ROWS:
            yield page
            page = []
    if page:
        yield page


def put_thread(connection: sqlite3.Connection, parts: Iterable[Part], next_epoch: Callable[[], int]) -> None:
    """Make a thread, of an epoch of its own. The state at its head is folded once, when all of it is there."""
    rest = iter(parts)
    head = next(rest)
    assert isinstance(head, ThreadPart)
    key = head.record.key
    if find_thread(connection, key) is not None:
        raise ThreadExists(f"there is a thread {key.thread_id} already")
    number, record = make_thread(connection, replace(head.record, epoch=next_epoch()))
    messages = trimmed = 0
    for part in rest:
        match part:
            case MessageRecord():
                put_messages(connection, number, (part,), messages)
                messages = trimmed = messages + 1
            case CheckpointPart():
                messages = _put_checkpoint(connection, number, part, messages)
            case ApprovalRecord():
                insert_approval(connection, key.tenant, number, part)
            case RequestRecord():
                insert_request(connection, number, part, record.uid)
    if head.oldest:
        connection.execute(
            "UPDATE threads SET oldest = ?, oldest_begin = ? WHERE thread_no = ?", (head.oldest, trimmed, number)
        )
    if head.line:
        fold_all(connection, number, head.line)
        move_head(connection, number, record, line=head.line, messages_end=messages, cancel=head.cancel)


def _put_checkpoint(connection: sqlite3.Connection, number: int, part: CheckpointPart, messages: int) -> int:
    """How many messages the thread has with it; it had `messages` before."""
    put_messages(connection, number, part.messages, messages)
    messages += len(part.messages)
    put_checkpoint(connection, number, part.checkpoint, messages)
    if part.change is not None:
        insert_change(connection, number, part.checkpoint.version, part.change)
    return messages
