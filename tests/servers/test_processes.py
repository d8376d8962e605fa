"""Servers as processes of their own, and what is left when one of them is killed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from clew import UnavailableError
from tests.faults.gates import FileGate
from tests.faults.ledger import Ledger
from tests.faults.served_process import CLEW, ServedProcess
from tests.scenarios.world import refused
from tests.servers.conftest import LEASE_S
from tests.servers.served_text import BEGINNING, END
from tests.servers.texts import check_text, pieces, text_of
from tests.support.postgres import in_schema


@pytest.fixture
async def two(tmp_path: Path, postgres_dsn: str) -> AsyncIterator[tuple[ServedProcess, ServedProcess, FileGate]]:
    """Two servers on one database, and the gate at which their tools wait."""
    url = in_schema(postgres_dsn, lease_s=LEASE_S)
    gate = FileGate(tmp_path / "gate")
    servers = [ServedProcess(tmp_path, url), ServedProcess(tmp_path, url)]
    for number, server in enumerate(servers):
        # Both write into one ledger; a socket has its own name.
        server.name = f"socket-of-{number}"
        await server.start(**gate.environment)
    yield servers[0], servers[1], gate
    for server in servers:
        await server.kill()
        await server.hang_up()


async def test_a_run_whose_server_is_killed_is_finished_through_another(
    two: tuple[ServedProcess, ServedProcess, FileGate],
) -> None:
    first, second, gate = two
    run = first.thread("t").stream("tag|fetch|held")
    await gate.reached()
    watch = second.thread("t").watch()
    await watch.until("tool_call_finished")
    assert (await second.thread("t").info())["run"]["state"] == "running"
    await first.kill()
    with refused("thread_interrupted"):
        await watch.turn()
    with pytest.raises(UnavailableError):
        await run.turn()
    gate.open()
    turn = await second.thread("t").retry()
    assert turn.text == "done tag"
    started = [(each.tool, each.key) for each in Ledger(first.ledger_path).entries() if each.phase == "started"]
    assert [tool for tool, _ in started] == ["fetch", "held", "held"]
    assert len(set(started)) == 2, "what was in flight runs again with the same key, and what is recorded not at all"


async def test_a_once_call_in_flight_is_asked_about_by_another_server(
    two: tuple[ServedProcess, ServedProcess, FileGate],
) -> None:
    first, second, gate = two
    run = first.thread("t").stream("tag|held_once")
    await gate.reached()
    await first.kill()
    gate.open()
    with pytest.raises(UnavailableError):
        await run.turn()
    turn = await second.thread("t").retry(busy_timeout=20)
    assert turn.status == "suspended"
    assert [each.tool for each in Ledger(first.ledger_path).entries()] == ["held_once"]


async def test_text_of_one_server_is_watched_on_another_until_its_server_is_killed(
    tmp_path: Path, postgres_dsn: str, redis_url: str
) -> None:
    url, prefix = in_schema(postgres_dsn, lease_s=LEASE_S), uuid4().hex
    gate = FileGate(tmp_path / "gate")
    servers = [ServedProcess(tmp_path, url, CLEW_REDIS=redis_url, CLEW_REDIS_PREFIX=prefix) for _ in range(2)]
    for number, server in enumerate(servers):
        server.name, server.serves = f"socket-of-{number}", "tests.servers.served_text:agent"
        await server.start(**gate.environment)
    first, second = servers
    run = first.thread("t").stream("go on")
    await gate.reached()
    watch = second.thread("t").watch()
    while text_of(watch.seen) != "".join(BEGINNING):
        await watch.until("text_delta", len(pieces(watch.seen)) + 1)
    assert pieces(watch.seen)[0][:2] == ("m2.0", 0)
    await first.kill()
    with refused("thread_interrupted"):
        await watch.turn()
    with pytest.raises(UnavailableError):
        await run.turn()
    gate.open()
    again = second.thread("t").watch(follow=True)
    turn = await second.thread("t").retry(busy_timeout=20)
    assert turn.text == "".join((*BEGINNING, END))
    await again.until("run_completed")
    check_text(again.seen, {"m3.0": turn.text})
    await again.leave()
    async with Redis.from_url(redis_url) as redis:
        assert [name async for name in redis.scan_iter(f"{prefix}*")] == [], "nothing of it stays in Redis"
    for server in servers:
        await server.kill()
        await server.hang_up()


def test_migrate_is_a_step_of_its_own(postgres_dsn: str) -> None:
    url = in_schema(postgres_dsn)

    def clew(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([CLEW, *arguments], capture_output=True, text=True, timeout=60, check=False)

    early = clew("serve", "tests/cli/served_support.py", "--port", "0", "--storage", f"{url}&migrate=0")
    assert early.returncode != 0
    assert "migrate it first" in early.stderr
    made = json.loads(clew("migrate", "--storage", url, "--json").stdout)
    assert made["storage"].startswith("postgresql://")
    assert made["from"] == 0
    assert "is up to date" in clew("migrate", "--storage", url).stdout
    refused_url = clew("migrate", "--storage", "postgresql://nobody@127.0.0.1:1/none?connect_timeout_s=1")
    assert (refused_url.returncode, "Traceback" in refused_url.stderr) == (1, False)
