"""Writes as the arrays that `append_1` takes: tables turned on their side, a row of `g` for each thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from clew_storage import codes
from clew_storage.lines import Line, encode_line
from clew_storage.postgres.requests import request_columns
from clew_storage.postgres.rows import put_text
from clew_storage.postgres.states import Fold
from clew_storage.records import ApprovalRedaction, CheckpointRecord, CheckpointRedaction, MessageRecord, Write

# The columns of each table in the order of the function's parameters.
_COLUMNS = {
    "g": "text text text bigint integer integer integer smallint integer integer bigint bigint bytea bytea bytea bytea integer "
    "integer bytea boolean boolean",
    "c": "integer integer integer integer integer smallint smallint integer bigint bigint bigint text bytea",
    "m": "integer integer bigint integer bytea smallint bytea bigint bytea",
    "e": "integer bigint integer",
    "k": "integer integer bytea",
    "p": "integer bytea bytea bytea",
    "s": "integer integer bytea",
    "f": "integer integer integer smallint bytea",
    "d": "integer integer bytea smallint bytea",
    "a": "integer integer bytea text integer integer bytea smallint bigint bigint bytea bigint bytea",
    "r": "integer bytea bytea bytea text integer bigint bytea",
}
_TYPES = [f"{name}[]" for columns in _COLUMNS.values() for name in columns.split()]


class Prepared(Struct, frozen=True):
    """A write with what had to be read for it beforehand, which no other write can change while its head is the head.

    `line` is the one that a fork continues, `fork_missing` says that there is none; `change` and `folds` are what it does
    to the state, `erased` the rows that go.
    """

    write: Write
    line: Line | None = None
    fork_missing: bool = False
    change: bytes | None = None
    fold: Fold | None = None
    erased: Sequence[tuple[int, int]] = ()


def parameters(*, after: int) -> str:
    """The function's parameters in a statement that has so many before them."""
    return ", ".join(f"${number}::{name}" for number, name in enumerate(_TYPES, after + 1))


def columns(groups: Sequence[Sequence[Prepared]]) -> list[list[Any]]:
    """The arguments. A group is one thread's writes, each on the one before; only the first may be more than a step."""
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _COLUMNS}
    for index, group in enumerate(groups, 1):
        tables["g"].append(_group(group))
        for prepared in group:
            _put(tables, index, prepared)
    arguments: list[list[Any]] = []
    for name, types in _COLUMNS.items():
        rows = tables[name]
        arguments += map(list, zip(*rows, strict=True)) if rows else ([] for _ in types.split())
    return arguments


def _group(group: Sequence[Prepared]) -> tuple[Any, ...]:
    first, last = group[0].write, group[-1].write.checkpoint
    info = first.info
    line = group[0].line
    return (
        first.key.tenant,
        first.key.thread_id,
        first.uid,
        first.epoch,
        first.expected_version,
        first.checkpoint.version,
        last.version,
        codes.put_status(last.status),
        last.run_version,
        last.attempt,
        first.checkpoint.created_at_ms,
        last.created_at_ms,
        *((None,) * 5 if info is None else (
            put_text(info.app), put_text(info.user_id), put_text(info.name), info.metadata, info.revision
        )),
        None if line is None else line[-1][0],
        None if line is None or len(line) == 1 else encode_line(line[:-1]),
        group[0].fork_missing,
        first.void_approvals,
    )  # fmt: skip


def _put(tables: dict[str, list[tuple[Any, ...]]], index: int, prepared: Prepared) -> None:
    write = prepared.write
    tables["c"].append(_checkpoint(index, write))
    tables["m"] += ((index, *message_columns(message)) for message in write.messages)
    tables["e"] += ((index, position, version) for position, version in prepared.erased)
    for redaction in write.redactions:
        match redaction:
            case CheckpointRedaction(version, body):
                tables["k"].append((index, version, body))
            case ApprovalRedaction(approval_id, body, decision):
                tables["p"].append((index, put_text(approval_id), body, decision))
    if prepared.change is not None:
        tables["s"].append((index, write.checkpoint.version, prepared.change))
    if prepared.fold is not None:
        part = prepared.fold.part
        tables["f"].append((index, prepared.fold.since, part.version, part.level, part.change))
    tables["d"] += (
        (index, number, put_text(made.approval_id), codes.put_approval_state(made.state), made.decision)
        for number, made in enumerate(write.decisions)
    )
    tables["a"] += (
        (
            index,
            number,
            put_text(asked.id),
            asked.uid,
            asked.run_version,
            asked.version,
            put_text(asked.kind),
            codes.put_approval_state(asked.state),
            asked.created_at_ms,
            asked.expires_at_ms,
            asked.body,
            asked.decided_at_ms,
            asked.decision,
        )
        for number, asked in enumerate(write.approvals)
    )
    if write.request is not None:
        tables["r"].append((index, *request_columns(write.request)))


def checkpoint_columns(checkpoint: CheckpointRecord, messages: Sequence[MessageRecord]) -> tuple[Any, ...]:
    """The row of a checkpoint: version to next_position, created_at_ms, where its messages stand (one; several), body."""
    positions = [message.position for message in messages]
    return (
        checkpoint.version,
        None if checkpoint.parent_version == checkpoint.version - 1 else checkpoint.parent_version,
        checkpoint.run_version,
        checkpoint.attempt,
        codes.put_status(checkpoint.status),
        codes.put_source(checkpoint.source),
        checkpoint.step,
        checkpoint.next_position,
        checkpoint.created_at_ms,
        positions[0] if len(positions) == 1 else None,
        positions if len(positions) > 1 else None,
        checkpoint.body,
    )


def _checkpoint(index: int, write: Write) -> tuple[Any, ...]:
    *row, positions, body = checkpoint_columns(write.checkpoint, write.messages)
    # An array of arrays would have to be of one length, so these travel as text.
    return (index, *row, positions and f"{{{','.join(map(str, positions))}}}", body)


def message_columns(message: MessageRecord) -> tuple[Any, ...]:
    """The row of a message: version, position, number, message_id, role, other_role, created_at_ms, body."""
    stored_id = codes.put_message_id(message.id, message.version)
    role = codes.put_role(message.role)
    return (
        message.version,
        message.position,
        stored_id if isinstance(stored_id, int) else None,
        put_text(stored_id) if isinstance(stored_id, str) else None,
        role if isinstance(role, int) else None,
        put_text(role) if isinstance(role, str) else None,
        message.created_at_ms,
        message.body,
    )
