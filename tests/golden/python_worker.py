"""The worker of the Python client that fault tests kill: see README.md here."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import secrets
from dataclasses import replace
from pathlib import Path

from clew import Client, current_call
from tests.faults.ledger import Entry, Ledger


def work(target: str, ledger: Path) -> None:
    """Run `fetch` and `charge` until the process is asked to stop."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    worker = Client(target).worker()
    book, most_s = Ledger(ledger), float(os.environ.get("CLEW_FAULTS_WORK_S", "0.01"))

    async def enter() -> str:
        call = current_call()
        start = Entry("started", call.tool, call.run_id, call.tool_call_id, call.idempotency_key, os.getpid())
        book.append(start)
        await asyncio.sleep(random.uniform(0, most_s))
        end = replace(start, phase="done", token=secrets.token_hex(8))
        book.append(end)
        return end.token

    worker.tool(enter, name="fetch", parameters={"type": "object"})
    worker.tool(enter, name="charge", parameters={"type": "object"}, once=True)
    worker.main()
