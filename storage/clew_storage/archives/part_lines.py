"""Parts as lines of JSON and back. A field once named keeps its meaning; a change of meaning is another format."""

from __future__ import annotations

from typing import Any

import orjson

from clew_storage.archives.fields import Fields, put_payload
from clew_storage.errors import DataCorrupt
from clew_storage.records import (
    ApprovalRecord,
    ApprovalState,
    CheckpointRecord,
    MessageRecord,
    RequestRecord,
    Source,
    Status,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
)
from clew_storage.state_changes import Delta, Tail
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart

FORMAT = 1


def line_of_part(part: Part) -> bytes:
    """The line, with its end."""
    return line_of(_PUT[type(part)](part))


def line_of(values: dict[str, Any]) -> bytes:
    """A JSON object as a line, with its end."""
    return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


def part_of_line(line: bytes, key: ThreadKey) -> Part:
    """The part; `key` is the thread's. Raises `DataCorrupt` where the line is none."""
    fields = Fields.of_line(line)
    try:
        if "thread" in fields:
            return _get_thread(fields.fields("thread"))
        if "checkpoint" in fields:
            return _get_checkpoint(fields)
        if "message" in fields:
            return _get_message(fields.mapping("message"))
        if "approval" in fields:
            return _get_approval(fields.fields("approval"), key)
        return _get_request(fields.fields("request"))
    except KeyError as error:
        raise DataCorrupt(f"it lacks {error}") from error
    except (TypeError, ValueError) as error:
        raise DataCorrupt(str(error)) from error


def key_of_line(fields: Fields) -> ThreadKey:
    """The name of the thread that begins with this line."""
    try:
        thread = fields.fields("thread")
        return ThreadKey(thread.text("tenant"), thread.text("id"))
    except (KeyError, TypeError) as error:
        raise DataCorrupt("a thread was due here") from error


def _put_thread(part: ThreadPart) -> dict[str, Any]:
    record, info = part.record, part.record.info
    values = {
        "tenant": record.key.tenant,
        "id": record.key.thread_id,
        "uid": record.uid,
        "app": info.app,
        "user_id": info.user_id,
        "name": info.name,
        "metadata": put_payload(info.metadata),
        "revision": info.revision,
        "version": record.head_version,
        "status": record.head_status,
        "created_at_ms": record.created_at_ms,
        "updated_at_ms": record.updated_at_ms,
        "line": part.line,
        "cancel": part.cancel,
        "oldest": part.oldest,
    }
    return {"thread": values}


def _get_thread(fields: Fields) -> ThreadPart:
    version = fields.number("version")
    record = ThreadRecord(
        key=ThreadKey(fields.text("tenant"), fields.text("id")),
        uid=fields.text("uid"),
        info=ThreadInfo(
            fields.text("app"),
            fields.text("user_id"),
            fields.text("name"),
            fields.payload("metadata"),
            fields.number("revision"),
        ),
        head_version=version,
        head_status=fields.word("status", Status) if version else None,
        epoch=0,
        created_at_ms=fields.number("created_at_ms"),
        updated_at_ms=fields.number("updated_at_ms"),
    )
    cancel = None if fields.is_null("cancel") else _pair(fields.rows("cancel"))
    return ThreadPart(record, tuple(map(_pair, fields.rows("line"))), cancel, fields.number("oldest"))


def _pair(value: Any) -> tuple[int, int]:
    first, second = value
    if type(first) is not int or type(second) is not int:
        raise TypeError("two whole numbers are due")
    return first, second


def _put_checkpoint(part: CheckpointPart) -> dict[str, Any]:
    checkpoint = part.checkpoint
    values: dict[str, Any] = {
        "checkpoint": {
            "version": checkpoint.version,
            "parent": checkpoint.parent_version,
            "run": checkpoint.run_version,
            "attempt": checkpoint.attempt,
            "status": checkpoint.status,
            "source": checkpoint.source,
            "step": checkpoint.step,
            "next_position": checkpoint.next_position,
            "created_at_ms": checkpoint.created_at_ms,
            "body": put_payload(checkpoint.body),
        }
    }
    if part.messages:
        values["messages"] = [_put_message(message) for message in part.messages]
    if part.change is not None:
        values["state"] = _put_change(part.change)
    return values


def _get_checkpoint(fields: Fields) -> CheckpointPart:
    row = fields.fields("checkpoint")
    checkpoint = CheckpointRecord(
        version=row.number("version"),
        parent_version=row.number("parent"),
        run_version=row.number("run"),
        attempt=row.number("attempt"),
        status=row.word("status", Status),
        source=row.word("source", Source),
        step=row.number("step"),
        next_position=row.number("next_position"),
        created_at_ms=row.number("created_at_ms"),
        body=row.payload("body"),
    )
    messages = tuple(map(_get_message, fields.rows("messages"))) if "messages" in fields else ()
    return CheckpointPart(checkpoint, messages, _get_change(fields.fields("state")) if "state" in fields else None)


def _put_message(message: MessageRecord) -> dict[str, Any]:
    return {
        "id": message.id,
        "version": message.version,
        "position": message.position,
        "role": message.role,
        "created_at_ms": message.created_at_ms,
        "body": put_payload(message.body),
    }


def _get_message(values: Any) -> MessageRecord:
    row = Fields(values)
    return MessageRecord(
        id=row.text("id"),
        version=row.number("version"),
        position=row.number("position"),
        role=row.text("role"),
        created_at_ms=row.number("created_at_ms"),
        body=row.payload("body"),
    )


def _put_change(change: Delta) -> dict[str, Any]:
    """A list of keys, since their order is part of the state."""
    values = [
        {"key": key, "append": put_payload(value.elements)}
        if isinstance(value, Tail)
        else {"key": key, "put": put_payload(value)}
        for key, value in change.values.items()
    ]
    return {"removed": change.removed, "values": values}


def _get_change(row: Fields) -> Delta:
    removed = tuple(row.rows("removed"))
    if not all(isinstance(key, str) for key in removed):
        raise TypeError("removed keys are texts")
    values: dict[str, bytes | Tail] = {}
    for given in row.rows("values"):
        each = Fields(given)
        values[each.text("key")] = Tail(each.payload("append")) if "append" in each else each.payload("put")
    return Delta(removed, values)


def _put_approval(asked: ApprovalRecord) -> dict[str, Any]:
    values = {
        "id": asked.id,
        "uid": asked.uid,
        "run": asked.run_version,
        "version": asked.version,
        "kind": asked.kind,
        "state": asked.state,
        "created_at_ms": asked.created_at_ms,
        "expires_at_ms": asked.expires_at_ms,
        "body": put_payload(asked.body),
        "decided_at_ms": asked.decided_at_ms,
        "decision": None if asked.decision is None else put_payload(asked.decision),
    }
    return {"approval": values}


def _get_approval(row: Fields, key: ThreadKey) -> ApprovalRecord:
    return ApprovalRecord(
        id=row.text("id"),
        key=key,
        uid=row.text("uid"),
        run_version=row.number("run"),
        version=row.number("version"),
        kind=row.text("kind"),
        state=row.word("state", ApprovalState),
        created_at_ms=row.number("created_at_ms"),
        expires_at_ms=row.number_or_none("expires_at_ms"),
        body=row.payload("body"),
        decided_at_ms=row.number_or_none("decided_at_ms"),
        decision=row.payload_or_none("decision"),
    )


def _put_request(request: RequestRecord) -> dict[str, Any]:
    values = {
        "hash": request.request_hash.hex(),
        "digest": request.body_digest.hex(),
        "verb": request.verb,
        "uid": request.uid,
        "version": request.version,
        "created_at_ms": request.created_at_ms,
        "reply": put_payload(request.reply),
    }
    return {"request": values}


def _get_request(row: Fields) -> RequestRecord:
    return RequestRecord(
        request_hash=bytes.fromhex(row.text("hash")),
        body_digest=bytes.fromhex(row.text("digest")),
        verb=row.text("verb"),
        uid=row.text("uid"),
        version=row.number("version"),
        created_at_ms=row.number("created_at_ms"),
        reply=row.payload("reply"),
    )


_PUT: dict[type, Any] = {
    ThreadPart: _put_thread,
    MessageRecord: lambda message: {"message": _put_message(message)},
    CheckpointPart: _put_checkpoint,
    ApprovalRecord: _put_approval,
    RequestRecord: _put_request,
}
