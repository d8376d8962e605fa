"""What a thread keeps of a message's tool calls beside the message: results, approvals, and what checkpoints say of them, on whatever line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.approvals import about, without_content
from clew_engine.calls import DECIDED, OUTCOMES
from clew_engine.checkpoints import Body, Call, decode_body, encode_body
from clew_engine.log_events import view_message
from clew_engine.messages import Message
from clew_storage import ApprovalRecord, ApprovalRedaction, CheckpointRedaction, LogEntry, MessageRecord

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.storage import Storage

_PAGE = 500
_BYTES = 1 << 20

Redaction = CheckpointRedaction | ApprovalRedaction


@dataclass(frozen=True, slots=True)
class Traces:
    """The results of a message's calls, and what other rows say once nothing of the calls is left but their ids."""

    results: tuple[Message, ...] = ()
    redactions: tuple[Redaction, ...] = ()


async def traces_of(storage: Storage, thread: OpenThread, message: Message) -> Traces:
    """All that the calls of a message left on the lines of the thread. A call's id stays: a `once` call that was started is known by it."""
    calls = frozenset(call.id for call in message.tool_calls)
    results: dict[str, Message] = {}
    redactions: list[Redaction] = []
    if calls:
        async for entry in _log_since(storage, thread, message):
            results |= {record.id: view_message(record) for record in entry.messages if _may_answer(record, message)}
            redactions += _redacted(entry, calls)
        answers, asked = await _below_the_log(storage, thread, message)
        results |= {record.id: view_message(record) for record in answers}
        redactions += [without_content(record) for record in asked if about(record) in calls]
    mine = (each for each in results.values() if any(result.tool_call_id in calls for result in each.tool_results))
    return Traces(tuple(mine), tuple(redactions))


async def _log_since(storage: Storage, thread: OpenThread, message: Message) -> AsyncIterator[LogEntry]:
    """The log of all lines from where the message was first written: what belongs to its calls came with it or later."""
    version = (ids.message_version(message.id) or 1) - 1
    while True:
        entries = await storage.backend.threads.read_log(
            thread.key, thread.uid, after_version=version, limit=_PAGE, max_bytes=_BYTES
        )
        for entry in entries:
            yield entry
        if not entries:
            return
        version = entries[-1].checkpoint.version


async def _below_the_log(
    storage: Storage, thread: OpenThread, message: Message
) -> tuple[list[MessageRecord], list[ApprovalRecord]]:
    """What is left below a log that was trimmed: results on the head's line, and approvals of a run that goes on in what is kept."""
    head = await storage.backend.threads.get_head(thread.key)
    oldest = head.oldest_version if head else 0
    if (ids.message_version(message.id) or 1) >= oldest:
        return [], []
    records = await storage.backend.messages.list_messages(
        thread.key, after_position=message.position, limit=len(message.tool_calls)
    )
    asked: list[ApprovalRecord] = []
    while True:
        after = (asked[-1].created_at_ms, asked[-1].id) if asked else None
        page = await storage.backend.approvals.list_approvals(
            thread.key.tenant, key=thread.key, after=after, limit=_PAGE
        )
        asked += page
        if len(page) < _PAGE:
            break
    answers = [record for record in records if _may_answer(record, message)]
    return answers, [record for record in asked if record.version < oldest]


def _may_answer(record: MessageRecord, message: Message) -> bool:
    """Results stand in the places after the message that asked, one for each call."""
    return record.role == "tool" and 0 < record.position - message.position <= len(message.tool_calls)


def _redacted(entry: LogEntry, calls: Collection[str]) -> list[Redaction]:
    found: list[Redaction] = []
    stored = entry.checkpoint.body
    if any(call.encode() in stored for call in calls):
        body = decode_body(stored)
        left = without_calls(body, calls)
        if left != body:
            found.append(CheckpointRedaction(entry.checkpoint.version, encode_body(left)))
    return found + [without_content(record) for record in entry.approvals if about(record) in calls]


def without_calls(body: Body, calls: Collection[str]) -> Body:
    """What a checkpoint says where these calls are known by their ids alone, and nothing of what people said of them."""
    started = tuple(Call(call.id, "", "") if call.id in calls else call for call in body.started)
    return replace(body, started=started, next=_without_answers(body.next, calls))


def _without_answers(continuation: Mapping[str, Any], calls: Collection[str]) -> Mapping[str, Any]:
    left = dict(continuation)
    for name in (DECIDED, OUTCOMES):
        kept = {call: answer for call, answer in continuation.get(name, {}).items() if call not in calls}
        if kept:
            left[name] = kept
        else:
            left.pop(name, None)
    return left
