"""Shows a run to a person as its events come in."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from clew_server.cli.output import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

    from clew import Event

_OUTCOMES = {"done": ("←", "green"), "rejected": ("✗", "yellow"), "unknown": ("?", "yellow")}


class RunView:
    """Text as it streams, tool calls and their results in a line each."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._mid_line = False
        self._streamed: set[tuple[str, int]] = set()

    def show(self, event: Event) -> None:
        """Show one event; those that say nothing to a person are passed over."""
        says: Any = event.payload
        match event.type:
            case "run_started":
                self._streamed.clear()
            case "run_queued":
                self.note(f"another run is at work on this thread; {says.ahead} before this one")
            case "text_delta":
                self._stream(says, "")
            case "reasoning_delta":
                self._stream(says, "dim italic")
            case "message_discarded":
                self.note("that answer broke off; the model is asked again")
            case "tool_call_started":
                call = says.tool_call
                self._line(f"→ {call['name']} {_arguments(call['args'])}", "cyan")
            case "tool_call_finished":
                mark, style = _OUTCOMES.get(says.outcome, ("✗", "red"))
                self._line(f"{mark} {says.name} {result_line(says.message)}", style)
            case "run_completed":
                self._finish(says.reply)
            case "run_failed":
                self._fail(says)
            case _:
                pass

    def note(self, text: str) -> None:
        """A remark of the program's own."""
        self._line(text, "dim")

    def end_line(self) -> None:
        """Begin a new line, unless the cursor is at the beginning of one."""
        if self._mid_line:
            self._console.print()
            self._mid_line = False

    def _stream(self, delta: Any, style: str) -> None:
        place = (delta.message_id, delta.part_index)
        if place not in self._streamed:
            self.end_line()
            self._streamed.add(place)
        self._write(delta.text, style)

    def _write(self, text: str, style: str) -> None:
        if text:
            self._console.print(visible(text), style=style, end="", markup=False, soft_wrap=True)
            self._mid_line = not text.endswith("\n")
            sys.stdout.flush()

    def _line(self, text: str, style: str) -> None:
        self.end_line()
        width = self._console.width if self._console.is_terminal else 1000
        self._console.print(one_line(text, width), style=style, markup=False, soft_wrap=True)

    def _finish(self, reply: Any) -> None:
        if reply.text and not any(message_id == reply.message_id for message_id, _ in self._streamed):
            self._write(reply.text, "")
        self.end_line()

    def _fail(self, says: Any) -> None:
        if says.code == "cancelled":
            self._line("cancelled, and saved", "yellow")
        else:
            self._line(f"the run failed, and is saved: {says.message} ({says.code})", "red")


def result_line(message: dict[str, Any]) -> str:
    """What came of a tool call, as text."""
    parts = [part for part in message["content"] if part["type"] == "tool_result"]
    texts = [item.get("text", f"[{item['type']}]") for part in parts for item in part["content"]]
    return " ".join(texts)


def _arguments(args: Any) -> str:
    if isinstance(args, dict):
        return " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items())
    return str(args)
