"""Follows an attempt to its end, for a person or for a program, and says it with the exit code."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any

from clew_server.cli.output import console, plain, print_json, say
from clew_server.cli.run_view import RunView

if TYPE_CHECKING:
    from clew import Event

DONE, FAILED, WAITING = 0, 1, 3


async def follow(stream: AsyncIterable[Event], *, as_json: bool) -> Event | None:
    """Show the events as they come (as JSON: one a line), and give the last one."""
    view, last = RunView(console()), None
    async for event in stream:
        if as_json:
            print_json(_as_json(event))
        else:
            view.show(event)
        if event.payload.terminal:
            last = event
    if last is not None and last.type == "run_suspended" and not as_json:
        says: Any = last.payload
        view.end_line()
        for approval in says.approvals:
            verb = "approve" if approval.kind == "tool_call" else "decide"
            say(f"it waits for a person: clew approvals {verb} {approval.id}")
    return last


def exit_code(last: Event | None) -> int:
    """How an attempt ended. A stream without an end is a failure to know."""
    return FAILED if last is None else {"run_completed": DONE, "run_suspended": WAITING}.get(last.type, FAILED)


def _as_json(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "thread_id": event.thread_id,
        "run_id": event.run_id,
        "version": event.version,
        "last_of_version": event.last_of_version,
        "created_at_ms": event.created_at_ms,
        **plain(event.payload),
    }
