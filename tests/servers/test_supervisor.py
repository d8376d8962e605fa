"""What a supervisor does with workers that die again and again."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
from clew_server.cli.supervisor import GaveUp, supervise
from clew_server.cli.worker_processes import Patience
from clew_server.listening import ServeError
from clew_server.settings import Settings
from clew_server.shared_ports import shared_port
from tests.support.postgres import in_schema

APP = """
import os
from pathlib import Path
from clew_engine import Agent

with Path("starts").open("a") as starts:
    starts.write(f"{os.getpid()}\\n")
if Path("broken").exists():
    os._exit(7)
app = Agent("app")
"""


async def test_workers_that_die_again_and_again_end_it_all(
    tmp_path: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(APP)
    settings = Settings.taken({"workers": 2, "port": 0, "storage": in_schema(postgres_dsn)})

    def starts() -> list[int]:
        return [int(pid) for pid in (tmp_path / "starts").read_text().split()]

    def break_one(_: Announcement) -> None:
        (tmp_path / "broken").touch()
        os.kill(starts()[0], signal.SIGKILL)

    with pytest.raises(GaveUp, match=r"worker 1 ended with exit code 7, as those before it did"):
        await asyncio.wait_for(supervise(["app.py"], settings, break_one, Patience(first_s=0.01, deaths=3)), 300)
    assert len(starts()) == 4, "the two that served, and two that were to take the place of one"


def test_pauses_double_up_to_the_longest() -> None:
    patience = Patience(first_s=1, longest_s=5)
    assert [patience.pause_s(deaths) for deaths in (1, 2, 3, 4, 9)] == [1, 2, 4, 5, 5]


def test_of_two_that_take_a_port_at_once_one_has_it() -> None:
    with (
        shared_port(Settings.taken({"port": 0})) as port,
        pytest.raises(ServeError, match="taken by another process"),
        shared_port(Settings.taken({"port": port})),
    ):
        pass
    with shared_port(Settings.taken({"port": port})) as again:
        assert again == port


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"storage": "sqlite://clew.db"}, "sqlite://clew.db belongs to one process"),
        ({"storage": "memory://"}, "memory:// belongs to one process"),
        ({}, "a SQLite file belongs to one process"),
        ({"storage": "postgresql://nobody@127.0.0.1:1/none", "socket": "s"}, "cannot share a Unix socket"),
        ({"storage": "postgresql://nobody@127.0.0.1:1/none", "host": "192.0.2.1"}, "cannot listen on 192.0.2.1:0"),
    ],
)
async def test_what_workers_cannot_share_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings.taken({"workers": 2, "port": 0, **values})
    with pytest.raises(ServeError, match=re.escape(said)):
        await supervise(["none.py"], settings, lambda _: pytest.fail("it served"))
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing was made


async def test_a_server_and_workers_do_not_share_a_port() -> None:
    one = await Server([Agent("app")], Settings.taken({"port": 0, "storage": "memory://"})).start()
    with pytest.raises(ServeError, match="taken by another process"), shared_port(Settings.taken({"port": one.port})):
        pass
    await one.stop(0)
    with shared_port(Settings.taken({"port": 0})) as port:
        settings = Settings.taken({"port": port, "storage": "memory://", "workers": 2})
        worker = await Server([Agent("app")], settings).start()
        with pytest.raises(ServeError, match="taken by another process"):
            await Server([Agent("app")], Settings.taken({"port": port, "storage": "memory://"})).start()
        await worker.stop(0)


def test_settings_that_are_handed_on_are_the_same_whatever_is_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = Settings.read(
        {"port": 7, "storage": "memory://", "snapshot_key": ["A" * 43 + "="], "tls_cert": "c", "tls_key": "k"}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_PORT", "8")
    monkeypatch.setenv("CLEW_SOCKET", "somewhere")
    (tmp_path / "clew.toml").write_text("not toml")
    assert Settings.taken(given.handed_on()).model_dump() == given.model_dump()
