"""Tool calls and results that a caller adds to a transcript, as from a conversation held elsewhere. Pure.

A message that asks for calls is followed by the results of all of them, one message each and in any order, before anything else is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.drafts import DraftMessage
from clew_engine.errors import ArgumentInvalidError
from clew_engine.field_rules import check_any_text
from clew_engine.json_text import JsonError, parse_strict
from clew_engine.messages import DataPart, Part, ToolCallPart, ToolResultPart
from clew_engine.user_messages import check_message

# Bytes of a call's id and of its tool's name.
_NAME = 256
ROLES = ("system", "user", "assistant", "tool")


def check_said(role: str, content: Sequence[Part], field: str) -> None:
    """Raises ArgumentInvalidError for a role, or parts of it, that a caller does not add."""
    if role not in ROLES:
        raise ArgumentInvalidError(f"{field}.role", f"a caller adds messages of these roles: {', '.join(ROLES)}")
    if role == "tool":
        if len(content) != 1 or not isinstance(content[0], ToolResultPart):
            raise ArgumentInvalidError(f"{field}.content", "a message of a tool is the result of one call")
        _check_result(content[0], f"{field}.content")
        return
    said = [part for part in content if role != "assistant" or not isinstance(part, ToolCallPart)]
    if said or not content:
        check_message(said, f"{field}.content")


def check_order(messages: Sequence[DraftMessage]) -> None:
    """Raises ArgumentInvalidError unless every call has one result, right after the message that asks for it, and nothing else has one."""
    open_calls: dict[str, ToolCallPart] = {}
    for index, message in enumerate(messages):
        results = [part for part in message.content if isinstance(part, ToolResultPart)]
        for result in results:
            call = open_calls.pop(result.tool_call_id, None)
            if call is None:
                raise ArgumentInvalidError(
                    f"messages[{index}].content",
                    f"a result of {result.tool_call_id!r}, and no call of that id waits for one: results come right after the message that asks",
                    tool_call_id=result.tool_call_id,
                )
            if result.name not in ("", call.name):
                raise ArgumentInvalidError(f"messages[{index}].content", f"{call.id!r} is a call of {call.name!r}")
        if not results:
            _refuse_open(open_calls, index)
            open_calls = _calls_of(message, index)
    _refuse_open(open_calls, len(messages) - 1)


def placed(messages: Sequence[DraftMessage], version: int) -> tuple[DraftMessage, ...]:
    """The messages with call ids of the thread's own, each result in the place of its call. Ids that are made stay those of the given order."""
    made: list[DraftMessage] = []
    count, asked = 0, dict[str, ToolCallPart]()
    results: list[DraftMessage] = []
    for number, given in enumerate(messages):
        message = replace(given, number=number)
        if message.role == "tool":
            results.append(message)
            if len(results) == len(asked):
                made += _answers(asked, results)
                asked, results = {}, []
            continue
        asked = {}
        content: list[Part] = []
        for part in message.content:
            if isinstance(part, ToolCallPart):
                asked[part.id] = replace(part, id=ids.call_id(version, count))
                count += 1
            content.append(asked[part.id] if isinstance(part, ToolCallPart) else part)
        made.append(replace(message, content=tuple(content)))
    return tuple(made)


def has_calls(messages: Sequence[DraftMessage]) -> bool:
    """Whether any of them asks for a call."""
    return any(isinstance(part, ToolCallPart) for message in messages for part in message.content)


def _check_result(result: ToolResultPart, field: str) -> None:
    texts = [part.data for part in result.content if isinstance(part, DataPart)]
    texts += [result.structured] if result.structured is not None else []
    for text in texts:
        try:
            parse_strict(text)
        except JsonError as error:
            raise ArgumentInvalidError(field, str(error)) from None


def _answers(asked: dict[str, ToolCallPart], results: Sequence[DraftMessage]) -> list[DraftMessage]:
    by_call: dict[str, DraftMessage] = {}
    for message in results:
        (result,) = message.content
        assert isinstance(result, ToolResultPart)
        call = asked[result.tool_call_id]
        part = replace(result, tool_call_id=call.id, name=call.name, is_error=result.outcome != "done")
        by_call[result.tool_call_id] = replace(message, content=(part,))
    return [by_call[call_id] for call_id in asked]


def _calls_of(message: DraftMessage, index: int) -> dict[str, ToolCallPart]:
    calls = [part for part in message.content if isinstance(part, ToolCallPart)]
    for call in calls:
        for value, what in ((call.id, "id"), (call.name, "name")):
            check_any_text(value, f"messages[{index}].content.tool_call.{what}", _NAME, least=1)
    found = {call.id: call for call in calls}
    if len(found) < len(calls):
        raise ArgumentInvalidError(f"messages[{index}].content", "two calls have one id")
    return found


def _refuse_open(open_calls: dict[str, ToolCallPart], index: int) -> None:
    if open_calls:
        raise ArgumentInvalidError(
            f"messages[{index}].content",
            f"calls without a result: {', '.join(map(repr, open_calls))}; each is followed by what became of it",
            tool_call_ids=",".join(open_calls),
        )
