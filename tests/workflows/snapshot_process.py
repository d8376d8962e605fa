"""A process of its own for the tests of snapshots: `run` keeps the snapshot and is killed, `resume` goes on from it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from clew_engine import ToolContext, Workflow, WorkflowApp, pause, step, tool
from clew_engine.errors import RunFailedError


def the_app(begins: str, ledger: Path, *, first: bool) -> WorkflowApp:
    """Orders, which the ledger counts, and then pauses or fails."""
    flow = Workflow("ordering")

    @tool
    def place(context: ToolContext) -> str:
        """Place the order."""
        with ledger.open("a") as file:
            file.write(f"{context.idempotency_key}\n")
        return "o-1"

    @flow.node
    async def order(_: Any) -> dict[str, Any]:
        placed = await step("place", place)
        if begins == "pause":
            return {"order": placed, "ended": pause("how does it end?")}
        if first:
            raise ValueError("not in this process")
        return {"order": placed, "ended": "fail"}

    flow.start("order")
    return flow.compile()


def main(verb: str, begins: str, kept: Path, ledger: Path) -> None:
    """Play one of the two parts."""
    app = the_app(begins, ledger, first=verb == "run")
    if verb == "run":
        try:
            snapshot = app.run_sync().snapshot
        except RunFailedError as error:
            snapshot = error.snapshot
        kept.write_text(json.dumps(snapshot))
        os.kill(os.getpid(), signal.SIGKILL)
    snapshot = json.loads(kept.read_text())
    result = app.resume_sync(snapshot, "pause") if begins == "pause" else app.resume_sync(snapshot)
    print(json.dumps(dict(result.state)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
