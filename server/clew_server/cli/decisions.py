"""Asks a person what to do with the approvals that a run waits for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clew_server.cli.lines import Lines
from clew_server.cli.output import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

    from clew import Approval

_MENUS = {
    "tool_call": "[a]pprove, [r]eject, [e]dit, [l]ater? ",
    "tool_outcome": "[g]ive the result, run [a]gain, [f]ail it, [l]ater? ",
    "pause": "[v]alue, [r]eject, [l]ater? ",
}


def ask_all(approvals: Sequence[Approval], lines: Lines, console: Console) -> tuple[dict[str, Any], bool]:
    """The answers by approval id, and whether any was put off."""
    answers: dict[str, Any] = {}
    for approval in approvals:
        show(approval, console)
        answer = _ask(approval, lines, console)
        if answer is not None:
            answers[approval.id] = answer
    return answers, len(answers) < len(approvals)


def show(approval: Approval, console: Console) -> None:
    """What is asked, with every argument in full: what is shown is what runs."""
    if approval.kind == "pause":
        console.print(f"? {visible(str(approval.prompt))}", style="bold yellow", markup=False)
        return
    if approval.kind == "tool_outcome":
        console.print(f"? {approval.tool} was started, and nobody knows whether it took effect", style="bold yellow")
    else:
        console.print(f"? {approval.tool} waits for your approval", style="bold yellow")
    arguments = approval.arguments
    for name, value in arguments.items() if isinstance(arguments, dict) else [("arguments", arguments)]:
        console.print(f"    {name}: {visible(json.dumps(value, ensure_ascii=False))}", markup=False)


def _ask(approval: Approval, lines: Lines, console: Console) -> Any:
    """One answer as `decide` takes it; None for later."""
    read = {"tool_call": _about_call, "tool_outcome": _about_outcome, "pause": _about_pause}[approval.kind]
    while True:
        line = lines.ask(_MENUS[approval.kind])
        if line is None:
            return None
        word, _, rest = line.strip().partition(" ")
        if word.lower() in ("l", "later"):
            return None
        try:
            answer = read(word.lower(), rest.strip(), approval, lines)
        except ValueError as error:
            console.print(f"  not JSON: {error}", style="red", markup=False)
            continue
        if answer is not None:
            return answer
        console.print(f"  {one_line(line, 40)!r} is none of these", style="red", markup=False)


def _about_call(word: str, rest: str, approval: Approval, lines: Lines) -> Any:
    match word:
        case "a" | "approve" | "y" | "yes":
            return True
        case "r" | "reject" | "n" | "no":
            return {"reject": rest or lines.ask("why (for the model)? ") or ""}
        case "e" | "edit":
            text = rest or lines.ask("arguments: ", approval.arguments_json) or approval.arguments_json
            return {"arguments": json.loads(text)}
        case _:
            return None


def _about_outcome(word: str, rest: str, approval: Approval, lines: Lines) -> Any:
    del approval
    match word:
        case "a" | "again":
            return {"run_again": True}
        case "g" | "give":
            return {"result": json.loads(rest or lines.ask("its result (JSON): ") or "null")}
        case "f" | "fail":
            return {"fail": rest or lines.ask("why (for the model)? ") or ""}
        case _:
            return None


def _about_pause(word: str, rest: str, approval: Approval, lines: Lines) -> Any:
    del approval
    match word:
        case "v" | "value":
            return {"value": json.loads(rest or lines.ask("value (JSON): ") or "null")}
        case "r" | "reject" | "n" | "no":
            return {"reject": rest or lines.ask("why? ") or ""}
        case _:
            return None
