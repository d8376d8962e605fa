"""Threads, their history and their messages, as people read them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from clew_server.cli.output import moment, one_line, print_table, status_text
from clew_server.cli.run_view import result_line

if TYPE_CHECKING:
    from clew import Approval, Thread, ThreadInfo

T = TypeVar("T")


async def at_checkpoint(thread: Thread, place: str, act: Callable[[str], Awaitable[T]]) -> T:
    """What `act` does with a checkpoint's id, which a person gives as it is or by its version. A refusal names what they gave."""
    from clew import CheckpointNotFoundError  # noqa: PLC0415  help needs no client

    version = place.removeprefix("v")
    checkpoint_id = f"{(await thread.info()).thread_uid}.{version}" if version.isdecimal() else place
    try:
        return await act(checkpoint_id)
    except CheckpointNotFoundError as error:
        what = "version" if version.isdecimal() else "checkpoint"
        error.message = f"thread {thread.id!r} has no {what} {place!r}; its history lists those that it has"
        raise


def standing(info: ThreadInfo) -> str:
    """The head's status; for a run in progress, whether anyone works on it."""
    return (info.run.state if info.run and info.status == "in_progress" else "") or info.status


def waits(approvals: Sequence[Approval]) -> dict[str, str]:
    """What a thread waits for, a field each: a call with its arguments, or what a workflow asks."""
    fields: dict[str, str] = {}
    for approval in approvals:
        paused = approval.kind == "pause"
        name = what = "waits for an answer" if paused else f"waits for {approval.tool}"
        while name in fields:
            name = f"{what} ({1 + sum(each.startswith(what) for each in fields)})"
        fields[name] = f"{one_line(approval.prompt if paused else approval.arguments, 400)} ({approval.id})"
    return fields


def print_history(checkpoints: Sequence[Mapping[str, Any]]) -> None:
    """Checkpoints in a table."""
    rows = [
        (
            each["version"],
            status_text(each["status"]),
            each["source"],
            each["step"],
            each.get("failure_code", ""),
            moment(each["created_at_ms"]),
        )
        for each in checkpoints
    ]
    print_table(("version>", "status", "source", "step>", "failure", "written"), rows, empty="no history")


def print_messages(found: Sequence[Mapping[str, Any]]) -> None:
    """A conversation, a message a row."""
    rows = [(each["version"], each["role"], _said(each)) for each in found]
    print_table(("version>", "who", "what"), rows, empty="no messages")


def _said(message: Mapping[str, Any]) -> str:
    return "\n".join(filter(None, (_part_text(part, message) for part in message["content"])))


def _part_text(part: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    match part["type"]:
        case "text":
            return str(part["text"])
        case "reasoning":
            return f"({part['reasoning']})"
        case "tool_call":
            return f"→ {part['name']} {one_line(part['args'], 400)}"
        case "tool_result":
            return f"← {part['name']} {part['outcome']}: {one_line(result_line(dict(message)), 400)}"
        case kind:
            return f"[{kind}]"
