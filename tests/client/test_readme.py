"""The programs of the client's README run as they stand."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

from clew.v1 import approval_service_pb2, checkpoint_pb2, thread_pb2, thread_service_pb2
from tests.client.scripted import ScriptedServer, replies, streams
from tests.client.telling import approval, delta, started, suspended, turn, written

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


async def run(program: str, server: ScriptedServer, folder: Path) -> str:
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-W", "error", "-c", program.replace("localhost:50051", server.target)],
        cwd=folder,
        env={**os.environ, "CLEW_TARGET": server.target},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


async def test_the_first_program_streams_and_approves(server: ScriptedServer, tmp_path: Path) -> None:
    pause = [delta(1, "m2.1", 0, "One moment. "), suspended(2, approval("u.a2.1"))]
    server.on("Send", streams([started(1), written(1), *pause]))
    thread = thread_pb2.Thread(status=checkpoint_pb2.CHECKPOINT_STATUS_SUSPENDED)
    server.on("GetThread", replies(thread_service_pb2.GetThreadResponse(thread=thread)))
    server.on(
        "ListApprovals", replies(approval_service_pb2.ListApprovalsResponse(approvals=[approval("u.a2.1")], version=2))
    )
    server.on("Decide", streams(turn(3, "Refunded.")))
    assert await run(PROGRAMS[0], server, tmp_path) == "One moment. waiting for: ['refund']\nRefunded.\n"


async def test_the_blocking_program_prints_the_answer(server: ScriptedServer, tmp_path: Path) -> None:
    server.on("Send", streams(turn(1, "On its way.")))
    assert await run(PROGRAMS[1], server, tmp_path) == "On its way.\n"


async def test_the_worker_offers_its_tool(server: ScriptedServer, tmp_path: Path) -> None:
    # A stream that ends has drained.
    server.on("Work", streams([]))
    assert await run(PROGRAMS[2], server, tmp_path) == ""
    (tool,) = next(request.tools for name, request in server.asked if name == "Work")
    assert (tool.name, tool.once, tool.timeout.seconds) == ("charge", True, 30)
    assert tool.description == "Charge the card of an order."


async def test_the_others_are_programs_too(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    assert len(PROGRAMS) == 5
    for program in PROGRAMS[3:]:
        assert await run(program, server, tmp_path) == ""
