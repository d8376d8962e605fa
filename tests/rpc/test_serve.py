"""`clew serve` as a process: what it says, how it ends, and that a kill loses nothing."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import grpc
import pytest

from clew.v1.checkpoint_pb2 import CHECKPOINT_STATUS_IN_PROGRESS
from clew.v1.run_service_pb2 import RetryRequest, SendRequest
from clew.v1.thread_pb2 import RUN_STATE_INTERRUPTED
from clew.v1.thread_service_pb2 import GetThreadRequest
from tests.rpc.serve_process import clew, serve, up_to
from tests.support.serving import events_of, refusal


async def test_a_killed_server_comes_back_on_its_file_and_finishes_without_running_a_finished_tool_again(
    shop: Path,
) -> None:
    async with serve(shop) as server:
        assert server.said["apps"] == [{"name": "shop", "kind": "agent", "model": "offline"}]
        assert server.said["storage"] == "sqlite://clew.db"
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text="go"))
        await up_to(call, "tool_call_started", 2)
        server.signal(signal.SIGKILL)
        assert (await server.ended())[0] == -signal.SIGKILL
        with pytest.raises(grpc.aio.AioRpcError):
            await events_of(call)
    async with serve(shop) as server:
        thread = (await server.stubs.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
        assert thread.status == CHECKPOINT_STATUS_IN_PROGRESS
        assert thread.run.state == RUN_STATE_INTERRUPTED
        refused = await refusal(server.stubs.runs.Send(SendRequest(thread_id="t", text="again")))
        assert refused.reason == "THREAD_INTERRUPTED"
        (shop / "go").touch()
        events = await events_of(server.stubs.runs.Retry(RetryRequest(thread_id="t")))
        assert events[-1].run_completed.reply.text == "Done."
        server.signal(signal.SIGTERM)
        assert (await server.ended())[0] == 0
    ledger = (shop / "ledger").read_text().split()
    assert ledger.count("charged") == 1


async def test_it_ends_in_good_order_and_logs_json_lines(shop: Path) -> None:
    async with serve(shop, "--port-file", "port") as server:
        assert int((shop / "port").read_text()) == server.said["port"]
        await refusal(server.stubs.threads.GetThread(GetThreadRequest(thread_id="nope")))
        server.signal(signal.SIGINT)
        code, errors = await server.ended()
    assert code == 0
    lines = [json.loads(line) for line in errors.splitlines()]
    (line,) = [line for line in lines if line["event"] == "call"]
    assert (line["method"], line["code"], line["thread_id"]) == ("ThreadService/GetThread", "NOT_FOUND", "nope")
    assert lines[-1]["event"] == "stopping"


FLOW = """
from clew_engine import Workflow

flow = Workflow("flow")

@flow.node
def charge(state):
    raise ConnectionError("the bank is down")

flow.start("charge")
flow = flow.compile()
"""


async def test_what_a_node_raises_is_in_the_log_with_its_traceback(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(FLOW)
    async with serve(tmp_path) as server:
        events = await events_of(server.stubs.runs.Send(SendRequest(thread_id="t", app="flow", input_json=b"{}")))
        told = events[-1].run_failed.status.message
        assert told == "node 'charge' failed: ConnectionError: the bank is down"
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    (line,) = [line for line in map(json.loads, errors.splitlines()) if line["level"] == "error"]
    assert "node 'charge' raised on thread t" in line["event"]
    assert 'shop.py", line 8, in charge' in line["event"]


async def test_a_second_signal_stops_at_once(shop: Path) -> None:
    async with serve(shop, "--grace", "600") as server:
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text="go"))
        await up_to(call, "tool_call_started", 2)
        server.signal(signal.SIGTERM)
        errors = server.process.stderr
        assert errors is not None
        while b'"stopping"' not in await errors.readline():
            pass
        server.signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert (await server.ended())[0] == 0


STUBBORN = """
import asyncio, time
from clew_engine import Agent, OfflineModel, tool
from clew_engine.models.offline_rules import when

@tool
def hang() -> str:
    "Never ends."
    while True:
        time.sleep(1)

@tool
async def swallow() -> str:
    "Will not be cancelled."
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass

shop = Agent("shop", model=OfflineModel([when("hang").call("hang"), when("swallow").call("swallow")]), tools=[hang, swallow])
"""


@pytest.mark.parametrize("tool", ["hang", "swallow"])
async def test_a_tool_that_never_ends_does_not_hold_the_server(tmp_path: Path, tool: str) -> None:
    (tmp_path / "shop.py").write_text(STUBBORN)
    async with serve(tmp_path, "--grace", "0.2") as server:
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text=tool))
        await up_to(call, "tool_call_started", 1)
        server.signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert (await server.ended())[0] == 0
    async with serve(tmp_path) as server:
        thread = (await server.stubs.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
        assert thread.run.state == RUN_STATE_INTERRUPTED


async def test_it_says_in_words_what_it_serves(shop: Path) -> None:
    process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "memory://")
    assert process.stdout is not None
    said = [(await process.stdout.readline()).decode() for _ in range(4)]
    process.terminate()
    await process.communicate()
    assert said[0].startswith("clew listens on 127.0.0.1:")
    assert said[1].split() == ["storage", "memory://"]
    assert said[2].split() == ["app", "shop", "(offline):", "charge,", "wait"]


async def test_help_and_version_import_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys, time; from clew_server.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'grpc', 'pydantic', 'clew_engine', 'clew_storage', 'google.protobuf'} & set(sys.modules)\n"
        "print(f'{heavy or None} {time.process_time()}')\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    heavy, seconds = said.decode().splitlines()[-1].split()
    assert heavy == "None"
    assert float(seconds) < 0.5
    process = await clew(tmp_path, "--version")
    said, _ = await process.communicate()
    assert said.decode().startswith("clew 0.")
