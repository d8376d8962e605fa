"""What a thread keeps of a message's tool calls beside the message: their results, on whatever line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.log_events import view_message
from clew_engine.messages import Message
from clew_storage import LogEntry, MessageRecord

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.storage import Storage

_PAGE = 500
_BYTES = 1 << 20


async def results_of(storage: Storage, thread: OpenThread, message: Message) -> tuple[Message, ...]:
    """The results of a message's calls on every line of the thread, as they were written last."""
    found: dict[str, Message] = {}
    if message.tool_calls:
        async for entry in _log_since(storage, thread, message):
            found |= {record.id: view_message(record) for record in entry.messages if _may_answer(record, message)}
    calls = {call.id for call in message.tool_calls}
    return tuple(each for each in found.values() if any(result.tool_call_id in calls for result in each.tool_results))


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


def _may_answer(record: MessageRecord, message: Message) -> bool:
    """Results stand in the places after the message that asked, one for each call."""
    return record.role == "tool" and 0 < record.position - message.position <= len(message.tool_calls)
