"""What is recorded of a conversation that an agent has inside a workflow's node, and what the log tells of it. Pure.

Its replies and results are memos of the node, in the rows of the step's checkpoints. In events they have ids that are unique in the thread: the
node's path, a slash, and what the conversation calls them.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from clew_engine.checkpoints import Call, Memo
from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import Message, Part, ToolCallPart, ToolResultPart

# Keys of an author's own steps end in `#` and a number; none of these does.
_REPLY, _CHANGES, _RESULT = "reply", "changes", "#result"


class NodeMessage(Struct, frozen=True):
    """A message of an agent inside a node, which is in no transcript. `node` is the node's path: its name, or `outer/0.inner`."""

    node: str
    message: Message


def reply_key(number: int) -> str:
    """What a reply is recorded under, by its number in the conversation."""
    return f"{_REPLY} {number}"


def changes_key(number: int) -> str:
    """What the changes are recorded under that the agent's hooks made around a reply."""
    return f"{_CHANGES} {number}"


def result_key(call_id: str) -> str:
    """What the outcome of a call is recorded under, and that it was begun where it is done once."""
    return f"{call_id}{_RESULT}"


def is_reply(key: str) -> bool:
    """Whether a reply is recorded under this key."""
    kind, _, number = key.partition(" ")
    return kind == _REPLY and number.isdigit()


def call_of(key: str) -> str:
    """The call whose outcome is recorded under this key; empty for any other key."""
    return key.removesuffix(_RESULT) if key.endswith(_RESULT) else ""


def path_of(told_id: str) -> str:
    """The path of the node in an id as events tell it; empty for what is of no node."""
    return told_id.rpartition("/")[0]


def encode_reply(message: Message) -> bytes:
    """The record of a reply, with the id that its text was streamed under."""
    return encode_message(replace(message, extra={**(message.extra or {}), "id": message.id}))


def decode_reply(record: bytes) -> Message:
    """The other way. Raises ValueError for what is no reply."""
    message = decode_message(record, message_id="a reply", created_at_ms=0)
    extra = dict(message.extra or {})
    return replace(message, id=str(extra.pop("id", "")), extra=extra or None)


def told_of(memos: Sequence[Memo], created_at_ms: int, version: int) -> list[NodeMessage]:
    """The replies and results that a write recorded, by the ids that events have for them and for their calls."""
    told: list[NodeMessage] = []
    for node, key, text in memos:
        call_id = call_of(key)
        if call_id:
            message = decode_message(text.encode(), message_id=f"{node}/{call_id}.result", created_at_ms=created_at_ms)
        elif is_reply(key):
            message = decode_reply(text.encode())
        else:
            continue
        content = tuple(_told_part(node, part) for part in message.content)
        told.append(NodeMessage(node, replace(message, content=content, created_at_ms=created_at_ms, version=version)))
    return told


def told_call(node: str, call_id: str) -> str:
    """A call's id in events and approvals."""
    return f"{node}/{call_id}"


def announced(node: str, call_id: str) -> Call:
    """A call that begins with the write of the reply which asks for it, and so has its name and arguments there."""
    return Call(told_call(node, call_id), "", "")


def _told_part(node: str, part: Part) -> Part:
    if isinstance(part, ToolCallPart):
        return replace(part, id=told_call(node, part.id))
    if isinstance(part, ToolResultPart):
        return replace(part, tool_call_id=told_call(node, part.tool_call_id))
    return part
