"""A server whose database goes away and comes back says so: in its log, a line each, and by its health."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from clew.v1.run_service_pb2 import SendRequest, WatchRequest
from clew.v1.thread_service_pb2 import GetThreadRequest, ListThreadsRequest
from clew_server import upkeep
from clew_server.app import SERVICES
from clew_server.readiness import watch
from clew_storage import StorageAway, StorageFull, StorageUnavailable
from tests.rpc.agents import Gate
from tests.support.postgres import KeptServer, a_server, in_schema
from tests.support.serving import events_of, refusal, serving

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture(scope="module")
def database() -> Iterator[KeptServer]:
    """A server of this file's own, for it is stopped."""
    with a_server() as server:
        yield server


class Lines(logging.Handler):
    """Warnings and worse, of whatever logger; one can be waited for."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []
        self._loop = asyncio.get_running_loop()
        self._came = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self._loop.call_soon_threadsafe(self._came.set)

    async def wait_for(self, part: str) -> None:
        """Until a line has it."""
        while not any(part in line for line in self.texts):
            self._came.clear()
            await self._came.wait()

    @property
    def texts(self) -> list[str]:
        return [each.getMessage() for each in self.records]


@contextmanager
def logged() -> Iterator[Lines]:
    """What is logged meanwhile."""
    lines = Lines()
    logging.getLogger().addHandler(lines)
    try:
        yield lines
    finally:
        logging.getLogger().removeHandler(lines)


async def test_it_is_told_once_that_the_database_is_away_and_once_that_it_is_back(
    database: KeptServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is done every ten minutes is done all the time.
    monkeypatch.setattr(upkeep, "_EVERY_S", 0.01)
    gate = Gate()
    url = in_schema(database.dsn, lease_s=1.5, pool_timeout_s=2, patience_s=1)
    async with asyncio.timeout(60), serving([gate.agent], url, recover="auto", retention_days=1) as served:
        with logged() as lines, structlog.testing.capture_logs() as calls:
            run = served.runs.Send(SendRequest(thread_id="t", text="wait"))
            await gate.began.wait()
            # Others' writes on it are looked for all the time.
            watcher = served.runs.Watch(WatchRequest(thread_id="u", follow=True))
            database.tell("stop")
            await lines.wait_for("is away")
            for _ in range(5):
                refused = await refusal(served.threads.GetThread(GetThreadRequest(thread_id="t")))
                assert refused.code is grpc.StatusCode.UNAVAILABLE
            gate.opened.set()
            with pytest.raises(grpc.aio.AioRpcError):
                await events_of(run)
            database.tell("start")
            await lines.wait_for("is back")
            await served.threads.ListThreads(ListThreadsRequest())
            watcher.cancel()
    away, back = (next(text for text in lines.texts if part in text) for part in ("is away", "is back"))
    assert "@127.0.0.1" in away
    others = [text for text in lines.texts if text not in (away, back)]
    assert all("thread t" in text for text in others), others
    assert {each["log_level"] for each in calls} == {"info"}
    assert [each for each in lines.records if each.exc_info or "Traceback" in each.getMessage()] == []


async def test_health_tells_that_the_services_are_not_ready_and_the_process_is_alive(database: KeptServer) -> None:
    async with asyncio.timeout(60), serving([Gate().agent], in_schema(database.dsn)) as served:
        health: Any = health_pb2_grpc.HealthStub(served.channel)
        told = [health.Watch(health_pb2.HealthCheckRequest(service=service)) for service in SERVICES]
        for change, status in ((None, SERVING), ("stop", NOT_SERVING), ("start", SERVING), ("crash", None)):
            if change is not None:
                await asyncio.to_thread(database.tell, change)
            if status is not None:
                assert {(await each.read()).status for each in told} == {status}
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING
        for each in told:
            each.cancel()


class Checked:
    """What is asked whether it is ready, and answers as it is told to."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = asyncio.Condition()

    async def check(self) -> None:
        async with self.asked:
            self.asked.notify_all()
        if self.error is not None:
            raise self.error

    async def becomes(self, error: Exception | None) -> None:
        """Answer with this, and return when that was heard."""
        self.error = error
        for _ in range(2):
            async with self.asked:
                await self.asked.wait()


async def test_a_storage_that_is_full_is_ready_and_one_that_refuses_is_not() -> None:
    storage, told = Checked(), asyncio.Queue[bool]()
    with structlog.testing.capture_logs() as logs:
        watching = asyncio.create_task(watch(storage.check, told.put, every_s=0.001))
        async with asyncio.timeout(20):
            await storage.becomes(StorageFull("the disk is full"))
            assert told.empty()
            await storage.becomes(StorageUnavailable("it is a standby"))
            assert await told.get() is False
            await storage.becomes(None)
            assert await told.get() is True
            await storage.becomes(StorageAway("told by the storage"))
            assert await told.get() is False
            await storage.becomes(None)
            assert await told.get() is True
            await storage.becomes(LookupError("a mistake of ours"))
            assert await told.get() is False
        watching.cancel()
        await asyncio.wait({watching})
    assert [(line["event"], line.get("why")) for line in logs] == [
        ("not ready: calls are refused", "it is a standby"),
        ("ready again", None),
        ("not ready: calls are refused", "LookupError: a mistake of ours"),
    ]


async def test_a_storage_that_does_not_answer_in_time_is_not_ready_until_it_has() -> None:
    answers: list[Exception | None] = [StorageAway("told by the storage"), StorageAway("the same outage"), None]
    told = asyncio.Queue[bool]()

    async def check() -> None:
        # Longer than there is patience for.
        await asyncio.sleep(0.02)
        if answers and (error := answers.pop(0)) is not None:
            raise error

    with structlog.testing.capture_logs() as logs:
        watching = asyncio.create_task(watch(check, told.put, every_s=0.001, patience_s=0.001))
        async with asyncio.timeout(20):
            assert await told.get() is False
            assert await told.get() is True
        watching.cancel()
        await asyncio.wait({watching})
    assert logs[0]["why"] == "the storage has not answered for 0.001 s"
    assert len(logs) == 1


async def test_a_server_that_reads_a_file_beside_its_owner_is_ready(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([Gate().agent], url), serving([Gate().agent], f"{url}?mode=ro") as reader:
        await reader.storage.backend.check()
