"""`clew serve --workers`: several processes on one address and one database, kept by one that serves nothing itself."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

import clew
from tests.faults.gates import FileGate
from tests.faults.ledger import Ledger
from tests.scenarios.over_grpc import ClientThread
from tests.scenarios.world import Handle
from tests.servers.conftest import LEASE_S
from tests.servers.served_workers import Workers, command, surroundings, workers
from tests.support.postgres import in_schema

SERVING = health_pb2.HealthCheckResponse.SERVING


@pytest.fixture
async def two(tmp_path: Path, postgres_dsn: str) -> AsyncIterator[tuple[Workers, FileGate]]:
    """Two workers, and the gate at which their tools wait."""
    gate = FileGate(tmp_path / "gate")
    async with workers(tmp_path, in_schema(postgres_dsn, lease_s=LEASE_S), **gate.environment) as both:
        yield both, gate


def thread_of(client: clew.Client, thread_id: str = "t") -> Handle:
    """A thread through one client."""
    nobody: object = None
    return ClientThread(nobody, client.app("plans").thread(thread_id))  # type: ignore[arg-type]


async def closed(*clients: clew.Client) -> None:
    """Let their connections go."""
    for client in clients:
        await client.close()


async def test_calls_go_to_all_workers_and_any_of_them_takes_any_call(two: tuple[Workers, FileGate]) -> None:
    both, gate = two
    assert (both.said["workers"], both.said["pid"]) == (2, both.process.pid)
    clients = await both.one_of_each()
    assert sorted(clients) == sorted(both.pids), "the one that keeps them serves nothing"
    here, there = clients.values()
    # Each says that it is well.
    async with asyncio.timeout(20):
        for _ in range(8):
            options = [("grpc.use_local_subchannel_pool", 1)]
            async with grpc.aio.insecure_channel(both.said["address"], options) as channel:
                check = channel.unary_unary(
                    "/grpc.health.v1.Health/Check",
                    request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                    response_deserializer=health_pb2.HealthCheckResponse.FromString,
                )
                assert (await check(health_pb2.HealthCheckRequest())).status == SERVING
    # A run of one is watched, and cancelled, through the other.
    run = thread_of(here).stream("tag|held")
    await gate.reached()
    watch = thread_of(there).watch()
    await watch.until("tool_call_started")
    assert (await thread_of(there).cancel())["failure_code"] == "cancelled"
    assert [(await each.turn()).failure for each in (run, watch)] == ["cancelled", "cancelled"]
    gate.open()
    # What one asked is approved through the other.
    asked = await thread_of(here, "u").send("tag|refund")
    assert (await thread_of(there, "u").decide({asked.approvals[0]: True})).text == "done tag"
    # What one sealed the other opens.
    snapshot = (await here.app("adding").run({"count": 1})).snapshot
    assert (await there.app("adding").resume(snapshot, 41)).status == "completed"
    assert {line.get("worker") for line in both.logged() if line["event"] == "call"} == {1, 2}
    await closed(here, there)


async def test_callers_of_a_killed_worker_see_their_runs_end_and_another_takes_its_place(
    tmp_path: Path, postgres_dsn: str
) -> None:
    gate = FileGate(tmp_path / "gate")
    url = in_schema(postgres_dsn, lease_s=LEASE_S)
    async with workers(tmp_path, url, "--recover", "auto", "--recover-tries", "1", **gate.environment) as both:
        clients = await both.one_of_each()
        victim, survivor = both.pids
        calls = [thread_of(clients[pid], f"t{pid}").stream("tag|fetch|held") for pid in (victim, survivor)]
        for call in calls:
            await call.until("tool_call_started", 2)
        await gate.reached()
        os.kill(victim, signal.SIGKILL)
        gate.open()
        assert (await calls[1].turn()).text == "done tag"
        turn = await calls[0].turn()
        assert (turn.text, [each.data["attempt"] for each in turn.of("run_started")]) == ("done tag", [1, 2])
        await both.serving(3)
        assert len(both.pids) == 2
        assert victim not in both.pids
        assert [line["why"] for line in both.logged() if line["event"] == "a worker ended"] == ["was killed by SIGKILL"]
        # A run that kills its worker each time: its first attempt, and the one that took it up.
        with pytest.raises(clew.ThreadInterruptedError):
            await clients[survivor].app("deadly").thread("d").send("die")
        await both.serving(5)
        assert [line["event"] for line in both.logged()].count("a worker ended") == 3
        assert await both.pid_behind(clients[victim]) in both.pids
        await closed(*clients.values())
    entries = Ledger(tmp_path / "ledger").entries()
    assert sorted(each.tool for each in entries if each.phase == "started") == ["fetch"] * 2 + ["held"] * 3
    assert len({each.key for each in entries if each.tool == "held"}) == 2, "what was in flight has the same key again"


async def test_nothing_is_left_of_a_supervisor_that_is_killed(two: tuple[Workers, FileGate]) -> None:
    both, gate = two
    client = both.client()
    run = thread_of(client).stream("tag|held")
    await gate.reached()
    pids = both.pids
    os.kill(both.process.pid, signal.SIGKILL)
    await both.ended()
    async with asyncio.timeout(20):
        while any(map(is_there, pids)):  # noqa: ASYNC110 - they are other processes
            await asyncio.sleep(0.05)
    gate.open()
    await run.leave()
    await client.close()


def is_there(pid: int) -> bool:
    """Whether a process is at work: one that waits to be buried is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_ctrl_c_lets_runs_go_on_and_a_second_one_does_not(two: tuple[Workers, FileGate]) -> None:
    both, gate = two
    client = both.client()
    run = thread_of(client).stream("tag|held")
    await gate.reached()
    pids = both.pids
    # As a terminal does it: to all of them.
    os.killpg(both.process.pid, signal.SIGINT)
    async with asyncio.timeout(20):
        while [line["event"] for line in both.logged()].count("stopping") < 3:  # noqa: ASYNC110 - they are other processes
            await asyncio.sleep(0.05)
    assert any(map(is_there, pids)), "the run has its grace"
    os.killpg(both.process.pid, signal.SIGINT)
    assert await both.ended() == 0
    assert not any(map(is_there, pids))
    gate.open()
    await run.leave()
    await client.close()


async def test_an_app_that_does_not_load_is_said_once(tmp_path: Path, postgres_dsn: str) -> None:
    (tmp_path / "bad.py").write_text("1 / 0\n")
    process = await asyncio.create_subprocess_exec(
        *command("--storage", in_schema(postgres_dsn), apps="bad.py"),
        cwd=tmp_path,
        env=surroundings(),
        stderr=asyncio.subprocess.PIPE,
    )
    said = (await process.communicate())[1].decode()
    assert process.returncode == 1
    assert said.count("ZeroDivisionError") == 2, "in the trace, and in the last line"
    assert said.splitlines()[-1] == "clew: bad.py could not be imported: ZeroDivisionError: division by zero"
