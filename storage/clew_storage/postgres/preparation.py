"""What a write needs to know before it goes out: the line and state that a fork continues, and the fold it is time for.

All of it belongs to the head that the write expects, so it is right if the write goes through at all.
"""

from __future__ import annotations

from msgspec.structs import replace

from clew_storage.lines import Line, contains, extend
from clew_storage.postgres.heads import find_thread, line_to
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.states import Pieces, PiecesInMind, forked, read_pieces
from clew_storage.postgres.transcripts import rows_to_erase
from clew_storage.postgres.write_columns import Prepared
from clew_storage.records import Write
from clew_storage.state_changes import delta_of, encode_delta


def needs_reading(write: Write, minded: PiecesInMind) -> bool:
    """Whether something has to be read for it."""
    if write.fork_of is not None or write.erased:
        return True
    return write.state is not None and minded.recall(write) is None


def prepare(write: Write, minded: PiecesInMind) -> tuple[Prepared, Pieces | None]:
    """A write for which nothing has to be read, and the pieces of the state once it is in (None: not known, as before)."""
    pieces = minded.recall(write)
    return go_on(write, pieces)


def go_on(write: Write, pieces: Pieces | None) -> tuple[Prepared, Pieces | None]:
    """A write on a head with these pieces; they are known where it changes the state."""
    if write.state is None:
        return Prepared(write), pieces
    assert pieces is not None
    return _with_state(write, pieces)


def _with_state(write: Write, pieces: Pieces) -> tuple[Prepared, Pieces]:
    assert write.state is not None
    change = encode_delta(delta_of(write.state))
    pieces, fold = pieces.with_change(write.checkpoint.version, change)
    return Prepared(write, change=change, fold=fold), pieces


async def read_and_prepare(connection: Connection, schema: Schema, write: Write) -> tuple[Prepared, Pieces | None]:
    """As `prepare`, for a write that needs reading. One that will be refused is prepared as well as can be."""
    if write.expected_version == 0 and write.fork_of is None:
        # Nothing was written before it, so that there is nothing to erase either.
        return go_on(write, Pieces())
    thread = await find_thread(connection, schema, write.key)
    if thread is None or thread.record.uid != write.uid:
        return Prepared(write, fork_missing=write.fork_of is not None), None
    erased = await rows_to_erase(connection, schema, thread, write.erased)
    prepared, pieces = Prepared(write), None
    if write.fork_of is not None:
        line = await line_to(connection, schema, thread, write.fork_of)
        if not line:
            return Prepared(write, fork_missing=True), None
        on_head_line = contains(thread.line, write.fork_of)
        base = await read_pieces(connection, schema, write.key, line, on_head_line=on_head_line, oldest=thread.oldest)
        prepared, pieces = fork(write, line, base)
    elif write.state is not None:
        base = await read_pieces(connection, schema, write.key, thread.line, on_head_line=True, oldest=thread.oldest)
        prepared, pieces = _with_state(write, base)
    prepared = replace(prepared, erased=erased)
    if thread.record.head_version != write.expected_version:
        # It will be refused. Should it not be, it must not bring a fold of another head.
        return replace(prepared, fold=None), None
    return prepared, pieces


def fork(write: Write, line: Line, base: Pieces) -> tuple[Prepared, Pieces]:
    """A write that continues another line than the head's; `base` are the pieces of the state there."""
    version = write.checkpoint.version
    delta = None if write.state is None else delta_of(write.state)
    pieces, fold = forked(version, base.state(), delta)
    change = None if delta is None else encode_delta(delta)
    return Prepared(write, extend(line, version), change=change, fold=fold), pieces
