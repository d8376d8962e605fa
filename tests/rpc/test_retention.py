"""Retention as a server does it by itself, where its settings say so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from clew.v1.checkpoint_service_pb2 import ListCheckpointsRequest
from clew.v1.run_service_pb2 import SendRequest, WatchRequest
from clew.v1.thread_service_pb2 import ListThreadsRequest
from clew_engine import Retention
from clew_server import upkeep
from clew_server.settings import Settings
from tests.rpc.agents import echo
from tests.support.serving import events_of, serving

DAY_S = 86_400.0


async def test_a_server_trims_and_deletes_by_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_EVERY_S", 0.0)
    async with asyncio.timeout(30), serving([echo()], retention_keep_last=1, retention={"completed_days": 1}) as served:
        now = served.storage.now_ms
        for _ in range(3):
            await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
        while len((await served.checkpoints.ListCheckpoints(ListCheckpointsRequest(thread_id="t"))).checkpoints) > 1:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0)
        first, *rest = await events_of(served.runs.Watch(WatchRequest(thread_id="t")))
        assert first.log_trimmed.oldest_version == 6
        assert {event.version for event in rest} == {6}
        served.storage.now_ms = lambda: now() + 2 * int(DAY_S * 1000)
        while (await served.threads.ListThreads(ListThreadsRequest())).threads:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0)


async def test_a_server_without_these_settings_lets_nothing_go(monkeypatch: pytest.MonkeyPatch) -> None:
    swept = asyncio.Event()
    monkeypatch.setattr(upkeep, "_EVERY_S", 0.0)

    async def forget_expired(_: object) -> int:
        swept.set()
        return 0

    monkeypatch.setattr(upkeep, "forget_expired", forget_expired)
    async with serving([echo()]) as served:
        await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
        now = served.storage.now_ms
        served.storage.now_ms = lambda: now() + 365 * int(DAY_S * 1000)
        for _ in range(2):
            swept.clear()
            await asyncio.wait_for(swept.wait(), 10)
        assert len((await served.threads.ListThreads(ListThreadsRequest())).threads) == 1


def test_the_settings_make_the_policy(tmp_path: Path) -> None:
    assert Settings.read({}).retention_policy is None
    flags = Settings.read({"retention_days": 30, "retention_keep_last": 9}).retention_policy
    assert flags == Retention({"completed": 30 * DAY_S, "failed": 30 * DAY_S}, keep_last=9)
    file = tmp_path / "clew.toml"
    file.write_text(
        'retention_days = 7\n[retention]\nfailed_days = 90\ninterrupted_days = 2\nkeep_last = 5\napps = ["support"]\nusers = ["ada"]\n'
    )
    table = Settings.read({}, file).retention_policy
    after = {"completed": 7 * DAY_S, "failed": 90 * DAY_S, "interrupted": 2 * DAY_S}
    assert table == Retention(after, keep_last=5, apps=("support",), users=("ada",))


@pytest.mark.parametrize("wrong", ["suspended_days = 3", "completed_days = 0", "keep_last = 0"])
def test_what_cannot_be_in_the_table_is_refused(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "clew.toml"
    file.write_text(f"[retention]\n{wrong}\n")
    with pytest.raises(ValidationError):
        Settings.read({}, file)


def test_the_environment_names_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_RETENTION_DAYS", "3")
    monkeypatch.setenv("CLEW_RETENTION", '{"interrupted_days": 1}')
    policy = Settings.read({}).retention_policy
    assert policy is not None
    assert policy.delete_after == {"completed": 3 * DAY_S, "failed": 3 * DAY_S, "interrupted": DAY_S}
