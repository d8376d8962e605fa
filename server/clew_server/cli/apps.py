"""`clew apps`: what a server runs."""

from __future__ import annotations

from clew_server.cli.calls import DEFAULT_TARGET, AsJson, Target, call
from clew_server.cli.output import console, print_json, print_table

_MARKS = {"?": "waits for approval", "!": "runs at most once"}


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
    rows = []
    for app in found:
        tools = [f"{tool.name}{'?' * tool.requires_approval}{'!' * tool.once}" for tool in app.tools]
        rows.append((app.name, app.kind, app.model, ", ".join(tools), app.description))
    print_table(("app", "kind", "model", "tools", "for"), rows, empty="the server runs no apps")
    marks = {"?": any(tool.requires_approval for app in found for tool in app.tools)}
    marks["!"] = any(tool.once for app in found for tool in app.tools)
    if any(marks.values()):
        told = [f"{mark} {_MARKS[mark]}" for mark, there in marks.items() if there]
        console(stderr=True).print("; ".join(told), style="dim")
