"""`clew apps`: what a server runs."""

from __future__ import annotations

from clew_server.cli.calls import DEFAULT_TARGET, AsJson, Target, call
from clew_server.cli.output import console, print_json, print_table
from clew_server.cli.tool_marks import APPROVAL, ONCE, with_marks

_MARKS = {APPROVAL: "waits for approval", ONCE: "runs at most once"}


def apps(as_json: AsJson = False, target: Target = DEFAULT_TARGET) -> None:
    """List the apps that a server runs, with their tools. With --json: one app a line.

    A tool with a ? waits for approval, one with a ! runs at most once.

    For example:

      clew apps --target localhost:50051
    """
    found = call(target, lambda client: client.apps.list(), as_json=as_json)
    if as_json:
        for app in found:
            print_json(app)
        return
    rows = [(app.name, app.kind, app.model, ", ".join(map(with_marks, app.tools)), app.description) for app in found]
    print_table(("app", "kind", "model", "tools", "for"), rows, empty="the server runs no apps")
    marks = {APPROVAL: any(tool.requires_approval for app in found for tool in app.tools)}
    marks[ONCE] = any(tool.once for app in found for tool in app.tools)
    if any(marks.values()):
        told = [f"{mark} {_MARKS[mark]}" for mark, there in marks.items() if there]
        console(stderr=True).print("; ".join(told), style="dim")
