"""Threads, their history and their messages, as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clew_server.cli.output import moment, one_line, print_table, status_text
from clew_server.cli.run_view import result_line

if TYPE_CHECKING:
    from clew import Thread, ThreadInfo


async def checkpoint_id_of(thread: Thread, place: str) -> str:
    """A checkpoint's id from its version, or the id itself."""
    version = place.removeprefix("v")
    return f"{(await thread.info()).thread_uid}.{version}" if version.isdecimal() else place


def standing(info: ThreadInfo) -> str:
    """The head's status; for a run in progress, whether anyone works on it."""
    return info.run.state if info.run and info.status == "in_progress" else info.status


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
