"""Messages from outside a run: added at the end, changed in their place, or deleted for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.appended_calls import check_order, check_said, has_calls, placed
from clew_engine.checkpoints import Checkpoint
from clew_engine.drafts import Draft, DraftMessage
from clew_engine.erasures import traces_of
from clew_engine.errors import (
    ArgumentInvalidError,
    MessageExistsError,
    MessageNotFoundError,
    ResumeInvalidError,
    StateInvalidError,
    StateTooLargeError,
    ThreadNotFoundError,
    ThreadSuspendedError,
)
from clew_engine.field_rules import MAX_APPENDED, check_metadata
from clew_engine.json_text import parse_stored
from clew_engine.log_events import view_message
from clew_engine.message_codec import encode_message
from clew_engine.messages import Message, Part, ReasoningPart, Role, ToolCallPart, ToolResultPart
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.outside_writes import OutsideWrite, Programs, info_for, update_draft, write_from_outside
from clew_engine.rules import Command
from clew_engine.user_messages import check_message
from clew_engine.verdicts import rule
from clew_storage import Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to add; `id` is its caller's own, or empty for one that is made. `metadata` is a JSON object, or None."""

    role: Role
    content: tuple[Part, ...]
    id: str = ""
    metadata: bytes | None = None


async def append_messages(
    storage: Storage,
    key: ThreadKey,
    messages: Sequence[NewMessage],
    *,
    force: bool = False,
    app: str = "",
    mutation: Mutation,
    options: RunOptions,
) -> tuple[Checkpoint, tuple[str, ...]]:
    """Add messages, all or none, and give their ids; makes the thread where there is none."""
    drafts = _drafts(messages, storage.tuning.message_limit)
    chosen = [message.id for message in messages if message.id]

    async def prepare(thread: OpenThread) -> OutsideWrite:
        rule(thread, Command.WRITE, forced=force)
        info = info_for(thread, app)
        taken = await storage.backend.messages.known_ids(key, chosen) if chosen else frozenset()
        for name in chosen:
            if name in taken:
                raise MessageExistsError(key.thread_id, name)
        thread.warm()
        if has_calls(drafts):
            await _refuse_open_calls(thread)
        version = thread.version + 1
        made = [message.id or ids.message_id(version, number) for number, message in enumerate(messages)]
        # What was streamed before is followed by something now: a retry no longer writes over it.
        draft = update_draft(thread, messages=placed(drafts, version), partial=None)
        return OutsideWrite(draft, info, json.dumps(made).encode())

    written, reply = await write_from_outside(
        storage, key, "append_messages", prepare, mutation=mutation, options=options
    )
    return written, tuple(json.loads(reply))


async def update_message(
    storage: Storage,
    key: ThreadKey,
    message_id: str,
    content: tuple[Part, ...] | None,
    metadata: bytes | None,
    *,
    force: bool = False,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    """Change a message in its place; what is None stays, and empty metadata is none."""
    if content is None and metadata is None:
        raise ArgumentInvalidError("content", "there is nothing to change: give a content or metadata")
    if content is not None:
        check_message(content, "content")
    if metadata:
        check_metadata(metadata)

    async def prepare(thread: OpenThread) -> OutsideWrite:
        message = await _message(storage, thread, message_id, force=force)
        edited = replace(message, version=thread.version + 1)
        if content is not None:
            edited = replace(edited, content=_said_anew(message.content, content))
        if metadata is not None:
            edited = replace(edited, metadata=_metadata(metadata))
        _size(edited)
        return OutsideWrite(replace(_draft_at(thread, message), edits=(edited,)))

    return (await write_from_outside(storage, key, "update_message", prepare, mutation=mutation, options=options))[0]


async def delete_message(
    storage: Storage,
    key: ThreadKey,
    message_id: str,
    programs: Programs,
    *,
    force: bool = False,
    mutation: Mutation,
    options: RunOptions,
) -> tuple[Checkpoint, tuple[str, ...]]:
    """Erase a message and the results of its tool calls in every version and on every line, and give their ids.

    What approvals and checkpoints say of its calls goes, too.
    """

    async def prepare(thread: OpenThread) -> OutsideWrite:
        message = await _message(storage, thread, message_id, force=force)
        if message.role == "tool":
            raise ArgumentInvalidError(
                "message_id", "a result goes with its call: delete the message that asked for it"
            )
        here = await _results(storage, key, message)
        draft = _draft_at(thread, message)
        if len(here) < len(message.tool_calls):
            if thread.status is Status.SUSPENDED:
                raise ThreadSuspendedError(key.thread_id, tuple(record.id for record in thread.pending))
            # The calls that come next are gone: the run goes on as a turn begins.
            draft = replace(draft, next=programs(thread.info.app if thread.info else "").begin())
        known = {each.id for each in here}
        traces = await traces_of(storage, thread, message)
        gone = (message, *here, *(each for each in traces.results if each.id not in known))
        reply = json.dumps([each.id for each in gone]).encode()
        return OutsideWrite(replace(draft, erased=gone, redactions=traces.redactions), reply=reply)

    written, reply = await write_from_outside(
        storage, key, "delete_message", prepare, mutation=mutation, options=options
    )
    return written, tuple(json.loads(reply))


async def _message(storage: Storage, thread: OpenThread, message_id: str, *, force: bool) -> Message:
    """The message on the thread's line, once the table lets a write through."""
    rule(thread, Command.WRITE, forced=force)
    key = thread.key
    if thread.info is None:
        raise ThreadNotFoundError(key.thread_id)
    record = await storage.backend.messages.get_message(key, message_id)
    if record is None:
        raise MessageNotFoundError(
            f"thread {key.thread_id!r} has no message {message_id!r} on its line; list its messages",
            thread_id=key.thread_id,
            message_id=message_id,
        )
    thread.warm()
    return view_message(record)


async def _refuse_open_calls(thread: OpenThread) -> None:
    """The newest message that asks for calls is the one whose calls a retry goes on with; another after it would leave them without an outcome."""
    await thread.load()
    if not thread.transcript.open_calls():
        return
    if thread.status is Status.SUSPENDED:
        raise ThreadSuspendedError(thread.key.thread_id, tuple(record.id for record in thread.pending))
    raise ResumeInvalidError(
        f"thread {thread.key.thread_id!r} has calls without an outcome; retry its run, or send a message, and add calls then",
        thread_id=thread.key.thread_id,
    )


def _draft_at(thread: OpenThread, message: Message) -> Draft:
    """The draft of a change to a message. One that a retry would have written over is what somebody wrote now, or is gone."""
    changed: dict[str, Any] = {"partial": None} if thread.body.partial == message.position else {}
    return update_draft(thread, **changed)


async def _results(storage: Storage, key: ThreadKey, message: Message) -> tuple[Message, ...]:
    """The results of a message's calls on the head's line."""
    calls = {call.id for call in message.tool_calls}
    if not calls:
        return ()
    records = await storage.backend.messages.list_messages(key, after_position=message.position, limit=len(calls))
    following = map(view_message, records)
    return tuple(each for each in following if any(result.tool_call_id in calls for result in each.tool_results))


def _drafts(messages: Sequence[NewMessage], limit: int) -> tuple[DraftMessage, ...]:
    if not 1 <= len(messages) <= MAX_APPENDED:
        raise ArgumentInvalidError("messages", f"1 to {MAX_APPENDED} are taken, and these are {len(messages)}")
    seen: set[str] = set()
    drafts: list[DraftMessage] = []
    size = 0
    for index, message in enumerate(messages):
        field = f"messages[{index}]"
        check_said(message.role, message.content, field)
        if message.id and ids.check_new_message_id(message.id, f"{field}.id") in seen:
            raise ArgumentInvalidError(f"{field}.id", f"{message.id} stands twice in one call")
        seen.add(message.id)
        if message.metadata:
            check_metadata(message.metadata, f"{field}.metadata_json")
        metadata = _metadata(message.metadata or b"")
        size += _size(
            Message(message.id, message.role, message.content, 0, metadata=metadata), f"{field}.metadata_json"
        )
        drafts.append(DraftMessage(message.role, message.content, id=message.id or None, metadata=metadata))
    if size > limit:
        raise StateTooLargeError("the messages together", size, limit, "messages")
    check_order(drafts)
    return tuple(drafts)


def _size(message: Message, field: str = "metadata_json") -> int:
    try:
        return len(encode_message(message))
    except ValueError as error:
        raise StateInvalidError(field, str(error)) from None


def _metadata(text: bytes) -> dict[str, Any] | None:
    return parse_stored(text) or None if text else None


def _said_anew(before: tuple[Part, ...], content: tuple[Part, ...]) -> tuple[Part, ...]:
    """The content with what a person may say replaced; thoughts, calls, and which call a result is of stay."""
    results = [part for part in before if isinstance(part, ToolResultPart)]
    if results:
        return tuple(replace(part, content=content, structured=None) for part in results)
    thoughts = tuple(part for part in before if isinstance(part, ReasoningPart))
    calls = tuple(part for part in before if isinstance(part, ToolCallPart))
    return (*thoughts, *content, *calls)
