"""`clew workers`: who runs tools for a server's apps."""

from __future__ import annotations

from typing import Annotated

import typer

from clew import WorkerInfo
from clew_server.cli.calls import DEFAULT_TARGET, AsJson, Target, call
from clew_server.cli.output import console, moment, print_json, print_table
from clew_server.cli.tool_marks import ONCE


def workers(
    tool: Annotated[str, typer.Option("--tool", help="Only those that offer this tool.")] = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """List the processes that run tools for a server's apps, at all servers of its database. With --json: one worker a line.

    A tool with a ! runs at most once.

    For example:

      clew workers --tool charge
    """
    found = call(target, lambda client: client.workers.list(tool), as_json=as_json)
    if as_json:
        for worker in found:
            print_json(worker)
        return
    rows = [
        (
            worker.worker_id,
            _tools(worker),
            str(worker.max_calls),
            worker.thread_id,
            _state(worker),
            moment(worker.created_at_ms),
        )
        for worker in found
    ]
    empty = f"no worker offers {tool}" if tool else "no worker is there"
    print_table(("worker", "tools", "calls at a time", "thread", "state", "since"), rows, empty=empty)
    if any(each.once for worker in found for each in worker.tools):
        console(stderr=True).print(f"{ONCE} runs at most once", style="dim")


def _tools(worker: WorkerInfo) -> str:
    return ", ".join(f"{tool.name}{ONCE * tool.once}" for tool in worker.tools)


def _state(worker: WorkerInfo) -> str:
    return "draining" if worker.draining else "working"
