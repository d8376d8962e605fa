"""The way from SQLite to Postgres that docs/postgres.md tells, walked as it stands there."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clew import Client, Limits, RunFailedError
from tests.docs.snippets import ROOT, snippets
from tests.support.postgres import in_schema

CLEW = str(Path(sys.executable).with_name("clew"))


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[Client]:
    """A server while it is needed; its tools write down that they ran."""
    environment = {**os.environ, "CLEW_LEDGER": str(folder / "ledger")}
    with (
        (folder / "log").open("a") as log,
        subprocess.Popen(
            [*command, "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=log, env=environment
        ) as server,
    ):
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line, (folder / "log").read_text()
        with Client(json.loads(line)["address"]) as client:
            yield client
        server.terminate()
        server.wait(30)


def ran(folder: Path) -> list[str]:
    """The tools that ran, in their order."""
    return [json.loads(line)["tool"] for line in (folder / "ledger").read_text(encoding="utf-8").splitlines()]


def test_what_waits_and_what_failed_on_sqlite_goes_on_on_postgres(postgres_dsn: str, tmp_path: Path) -> None:
    (lines,) = [each for each in snippets("docs/postgres.md", "sh") if "clew export" in each]
    named = {
        "sqlite://shop.db": f"sqlite://{tmp_path}/shop.db",
        "shop.jsonl.gz": str(tmp_path / "shop.jsonl.gz"),
        "postgresql://clew@db/clew": in_schema(postgres_dsn),
        "examples/": f"{ROOT}/examples/",
    }
    for there, here in named.items():
        lines = lines.replace(there, here)
    commands = [[CLEW, *shlex.split(line)[1:]] for line in lines.splitlines()]
    export, take, serve = commands

    support = serve[2]
    with served([CLEW, "serve", support, "--storage", named["sqlite://shop.db"]], tmp_path) as client:
        waiting = client.app("support").thread("ticket-7").send_sync("Please refund order A-1001", request_id="r-1")
        (asked,) = waiting.approvals
        with pytest.raises(RunFailedError, match="limit"):
            client.app("support").thread("ticket-8").send_sync("Please refund order A-1002", limits=Limits(steps=1))
        before = client.app("support").thread("ticket-7").messages_sync()
    for command in (export, take):
        subprocess.run(command, check=True, timeout=60)
    on_sqlite = ran(tmp_path)

    with served(serve, tmp_path) as client:
        first, second = (client.app("support").thread(name) for name in ("ticket-7", "ticket-8"))
        assert first.messages_sync() == before
        assert [each.id for each in client.approvals.list_sync()] == [asked.id]
        # The request is known: it is not begun anew.
        assert first.send_sync("Please refund order A-1001", request_id="r-1").approvals == waiting.approvals
        assert first.approve_sync().status == "completed"
        (again,) = second.retry_sync().approvals
        assert again.tool == "refund"
    assert ran(tmp_path) == [*on_sqlite, "refund"]
    assert on_sqlite == ["look_up_order", "look_up_order"]


def test_the_code_on_the_page_about_archives_runs(tmp_path: Path) -> None:
    program = "\n".join(snippets("docs/archives.md", "python"))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
