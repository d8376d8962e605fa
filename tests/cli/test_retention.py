from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, OfflineModel, Storage
from clew_server.cli.retention import _UNITS
from tests.cli.conftest import Cli, run_clew, unframed

WEEK_MS = 7 * 86_400_000


def seeded(url: str, *threads: tuple[str, int, int]) -> None:
    """Threads of the app `support`: an id, how many turns, and how many weeks ago."""

    async def seed() -> None:
        now = [0]
        async with Storage(url, clock=lambda: now[0]) as storage:
            agent = Agent("support", model=OfflineModel(), storage=storage)
            for name, turns, weeks in threads:
                now[0] = time.time_ns() // 1_000_000 - weeks * WEEK_MS - 60_000
                for number in range(turns):
                    await agent.thread(name).send(f"turn {number}")

    asyncio.run(seed())


def read(url: str, work: Callable[[Storage], Awaitable[Any]]) -> Any:
    """Something read from a database that nobody serves."""

    async def opened() -> Any:
        async with Storage(url) as storage:
            return await work(storage)

    return asyncio.run(opened())


def ids(url: str) -> list[str]:
    """The threads that are there."""

    async def listed(storage: Storage) -> list[str]:
        return sorted([info.thread_id for info in await storage.threads.list(100)])

    found: list[str] = read(url, listed)
    return found


def retention(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_clew("retention", "--storage", url, *arguments)


def told(url: str, *arguments: str) -> list[dict[str, Any]]:
    done = retention(url, *arguments, "--json")
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'clew.db'}"


def test_what_is_old_goes_and_a_dry_run_tells_exactly_that(url: str) -> None:
    seeded(url, ("old", 1, 9), ("older", 2, 20), ("long", 9, 1), ("young", 1, 0))
    arguments = ("--older-than", "30d", "--keep-last", "5")
    dry = told(url, *arguments, "--dry-run")
    assert ids(url) == ["long", "old", "older", "young"]
    done = told(url, *arguments)
    assert [each | {"dry_run": False} for each in dry] == done
    assert [(each["action"], each["thread_id"], each["oldest_version"], each["checkpoints"]) for each in done] == [
        ("delete", "old", 0, 2), ("delete", "older", 0, 4), ("trim", "long", 14, 13),
    ]  # fmt: skip
    assert ids(url) == ["long", "young"]
    assert told(url, *arguments) == []


def test_people_are_shown_a_table_and_the_sum(url: str) -> None:
    seeded(url, ("old", 1, 9), ("young", 1, 0))
    dry = retention(url, "--older-than", "4w", "--dry-run")
    assert dry.returncode == 0, dry
    head, row, total = dry.stdout.splitlines()
    assert head.split() == ["thread", "app", "user", "status", "updated", "what", "checkpoints"]
    assert row.split()[:3] == ["old", "support", "completed"]
    assert "to be deleted" in row
    assert total == "1 would be deleted, 0 would be trimmed, 2 checkpoints"
    assert retention(url, "--older-than", "4w").stdout.splitlines()[-1] == "1 deleted, 0 trimmed, 2 checkpoints"
    again = retention(url, "--older-than", "4w")
    assert (again.returncode, again.stdout) == (0, "")
    assert "nothing is old" in again.stderr


def test_app_user_and_status_narrow_what_goes(url: str) -> None:
    seeded(url, ("old", 1, 9))
    assert told(url, "--older-than", "1d", "--app", "other", "--dry-run") == []
    assert told(url, "--older-than", "1d", "--status", "failed", "--interrupted", "--dry-run") == []
    assert told(url, "--older-than", "1d", "--user", "ada", "--dry-run") == []
    assert len(told(url, "--older-than", "1d", "--app", "support", "--app", "other", "--dry-run")) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say what may go"),
        (("--older-than", "30"), "is no age"),
        (("--older-than", "1d", "--status", "suspended"), "never"),
        (("--keep-last", "0"), "equal to 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(url: str, arguments: tuple[str, ...], said: str) -> None:
    done = retention(url, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_file_that_is_served_is_its_servers_own(cli: Cli) -> None:
    done = retention(f"sqlite://{cli.database}", "--older-than", "1d", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "storage_unavailable"
    assert f"process {cli.pid}" in error["message"]
    assert "retention_days" in error["message"]


def test_on_postgres_threads_go_while_a_server_is_at_work(postgres_dsn: str) -> None:
    from tests.support.postgres import in_schema  # noqa: PLC0415 - the module is told of the schema when it is called

    url = in_schema(postgres_dsn)

    async def both() -> tuple[list[str], list[str]]:
        async with Storage(url) as storage:
            agent = Agent("support", model=OfflineModel(), storage=storage)
            await agent.thread("t").send("hello")
            dry = await asyncio.to_thread(told, url, "--older-than", "0s", "--dry-run")
            await agent.thread("u").send("hello")
            done = await asyncio.to_thread(told, url, "--older-than", "0s")
            assert await storage.threads.list() == []
            return [each["thread_id"] for each in dry], [each["thread_id"] for each in done]

    assert asyncio.run(both()) == (["t"], ["t", "u"])


def test_the_help_names_every_unit_and_what_no_age_does() -> None:
    words = unframed(run_clew("retention", "--help").stdout)
    *units, last = _UNITS
    assert f"in {', '.join(units)} or {last}" in words
    assert "With 0s whatever is at rest goes" in words
