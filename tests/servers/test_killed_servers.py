"""Servers that are killed again and again: their runs go on by themselves, on a file as on a database that is shared."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.faults import figures
from tests.faults.ledger import Ledger
from tests.faults.plans import WORK_S
from tests.faults.served_process import ServedProcess
from tests.servers.conftest import LEASE_S
from tests.support.postgres import in_schema

ENVIRONMENT: dict[str, Any] = {"CLEW_RECOVER": "auto", WORK_S: "0.5"}


async def one_dies(dies: ServedProcess, goes_on: ServedProcess, thread_id: str) -> None:
    """Kill a server in the middle of a call, and see through another, or through the same one that is back, how the run ends."""
    run = dies.thread(thread_id).stream("tag|fetch|charge")
    await run.until("tool_call_started")
    await dies.kill()
    await run.gone()
    await dies.hang_up()
    await dies.start()
    turn = await goes_on.thread(thread_id).watch().turn()
    assert turn.status in ("completed", "suspended"), "a charge of which nobody knows what became of it is asked about"
    (last, *_) = await goes_on.thread(thread_id).history()
    assert last["attempt"] == 2


def ran_twice(folder: Path) -> list[str]:
    """Calls that were run again although their result was known, or must not be."""
    entries = Ledger(folder / "ledger").entries()
    started = Counter((each.key, each.tool) for each in entries if each.phase == "started")
    return [tool for (_, tool), count in started.items() if count > (1 if tool == "charge" else 2)]


async def test_on_a_file_the_server_that_comes_back_goes_on(tmp_path: Path) -> None:
    server = ServedProcess(tmp_path, **ENVIRONMENT)
    await server.start()
    for number in range(figures.times(2, 50)):
        await one_dies(server, server, f"t{number}")
    assert ran_twice(tmp_path) == []
    await server.kill()
    await server.hang_up()


async def test_on_postgres_the_servers_that_live_go_on(tmp_path: Path, postgres_dsn: str) -> None:
    servers = figures.times(2, 3)
    url = in_schema(postgres_dsn, lease_s=LEASE_S)
    group = [ServedProcess(tmp_path, url, **ENVIRONMENT) for _ in range(servers)]
    for number, server in enumerate(group):
        server.name = f"socket-of-{number}"
        await server.start()
    for number in range(figures.times(1, 25)):
        await one_dies(group[number % servers], group[(number + 1) % servers], f"t{number}")
    assert ran_twice(tmp_path) == []
    for server in group:
        await server.kill()
        await server.hang_up()
