"""What a database holds, as its rows tell of it; and a SQLite file, read with SQLite alone while nobody serves it, on a copy so that the file is left as the dead process left it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clew_engine.checkpoints import decode_body
from clew_engine.message_codec import decode_message
from clew_engine.messages import Message

STATUSES = ("in_progress", "suspended", "completed", "failed")
SOURCES = ("input", "step", "intent", "suspend", "decision", "retry", "failure", "fork", "update")
APPROVALS = ("pending", "approved", "rejected", "answered", "expired", "void")
# How the ids of threads begin that are made by copying.
COPY = "copy-"
_BITS = 36


@dataclass(frozen=True)
class Row:
    """A stored checkpoint. `deleted` are the ids of messages that it erased."""

    version: int
    parent: int
    status: str
    source: str
    run: str
    deleted: tuple[str, ...] = ()


@dataclass
class StoredThread:
    """A thread as its rows tell of it. `changes` are values of its state by the version that set them, where the reader tells of them."""

    thread_id: str
    uid: str
    head: int
    name: str
    rows: dict[int, Row] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    changes: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def line(self) -> set[int]:
        """The versions of the head's line."""
        found: set[int] = set()
        version = self.head
        while version in self.rows:
            found.add(version)
            version = self.rows[version].parent
        return found

    def outcomes(self, versions: set[int] | None = None) -> list[tuple[str, str, str]]:
        """Run, call and outcome of every tool result, or of those that certain versions wrote."""
        return [
            (self.rows[message.version].run, result.tool_call_id, str(result.outcome))
            for message in self.messages
            if message.version in self.rows and (versions is None or message.version in versions)
            for result in message.tool_results
        ]


@dataclass
class Stored:
    """The whole file; `problems` is what could not be read as it must."""

    threads: dict[str, StoredThread] = field(default_factory=dict)
    approvals: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@contextmanager
def opened_copy(database: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the file and its log."""
    with tempfile.TemporaryDirectory(prefix="clew-copy-") as folder:
        for suffix in ("", "-wal"):
            source = database.with_name(database.name + suffix)
            if source.exists():
                shutil.copyfile(source, Path(folder) / f"copy{suffix}")
        with closing(sqlite3.connect(Path(folder) / "copy")) as connection:
            yield connection


def read(database: Path) -> Stored:
    """Read everything, and note what is not as every file must be."""
    found = Stored()
    if not database.exists() or not database.stat().st_size:
        return found
    with opened_copy(database) as connection:
        for (line,) in connection.execute("PRAGMA integrity_check"):
            if line != "ok":
                found.problems.append(f"integrity_check says {line}")
        if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'requests'").fetchone() == (0,):
            return found
        numbers = _read_threads(connection, found)
        _read_checkpoints(connection, numbers, found)
        _read_messages(connection, numbers, found)
        for approval, state in connection.execute("SELECT id, state FROM approvals"):
            found.approvals[approval] = APPROVALS[state]
    note_gaps(found)
    return found


def note_gaps(found: Stored) -> None:
    """Whether the versions of every thread are there from the first to the head, and what they continue is there too."""
    for thread in found.threads.values():
        # A copy has the line of its source, which leaves out what its source had abandoned.
        is_copy = thread.thread_id.startswith(COPY)
        if sorted(thread.rows) != list(range(1, thread.head + 1)) and not (is_copy and thread.head in thread.rows):
            found.problems.append(f"{thread.thread_id}: head {thread.head} over versions {sorted(thread.rows)}")
        if any(row.parent and row.parent not in thread.rows for row in thread.rows.values()):
            found.problems.append(f"{thread.thread_id}: a checkpoint continues one that is not there")


def put_row(found: Stored, thread: StoredThread, row: Row, body: bytes) -> None:
    """A checkpoint's row, whose body must be readable."""
    try:
        row = replace(row, deleted=decode_body(body).deleted)
    except (ValueError, KeyError, TypeError) as error:
        found.problems.append(f"{thread.thread_id}: checkpoint {row.version} cannot be decoded: {error}")
    if row.version in thread.rows:
        found.problems.append(f"{thread.thread_id}: version {row.version} is there twice")
    thread.rows[row.version] = row


def put_message(
    found: Stored, thread: StoredThread, name: str, body: bytes, *, version: int, position: int, created_at_ms: int
) -> None:
    """A message's row, which must be readable."""
    try:
        json.loads(body)
        message = decode_message(body, message_id=name, created_at_ms=created_at_ms, position=position, version=version)
    except (ValueError, KeyError, TypeError) as error:
        found.problems.append(f"{thread.thread_id}: message {name} cannot be decoded: {error}")
        return
    thread.messages.append(message)


def _read_threads(connection: sqlite3.Connection, found: Stored) -> dict[int, StoredThread]:
    numbers: dict[int, StoredThread] = {}
    rows = connection.execute("SELECT thread_no, thread_id, uid, head, name FROM threads WHERE uid IS NOT NULL")
    for number, thread_id, uid, head, name in rows:
        numbers[number] = found.threads[uid] = StoredThread(thread_id, uid, head, name)
    return numbers


def _read_checkpoints(connection: sqlite3.Connection, numbers: dict[int, StoredThread], found: Stored) -> None:
    rows = connection.execute("SELECT id, parent, run_version, status, source, body FROM checkpoints")
    for key, parent, run_version, status, source, body in rows:
        version = key & ((1 << _BITS) - 1)
        thread = numbers.get(key >> _BITS)
        if thread is None:
            found.problems.append(f"checkpoint {version} of a thread that is not there")
            continue
        before = version - 1 if parent is None else parent
        row = Row(version, before, STATUSES[status], SOURCES[source], f"{thread.uid}.r{run_version}")
        put_row(found, thread, row, body)


def _read_messages(connection: sqlite3.Connection, numbers: dict[int, StoredThread], found: Stored) -> None:
    rows = connection.execute("SELECT thread_no, version, position, message_id, created_at_ms, body FROM messages")
    for number, version, position, stored_id, created, body in rows:
        thread = numbers.get(number)
        if thread is None:
            found.problems.append(f"a message of a thread that is not there: {body[:80]!r}")
            continue
        name = stored_id if isinstance(stored_id, str) else f"m{version}.{stored_id}"
        put_message(found, thread, name, body, version=version, position=position, created_at_ms=created)
