"""The blocking form of every verb, and how it ends."""

from __future__ import annotations

import asyncio
import inspect
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import grpc
import pytest

from clew import AppHandle, Client, Thread, ThreadNotFoundError
from clew.blocking import BACKGROUND
from clew.cache import Cache
from clew.inbox import Approvals
from clew.listings import Apps, Threads
from clew.v1 import checkpoint_pb2, thread_pb2, thread_service_pb2
from clew.v1 import run_service_pb2 as pb
from tests.client.scripted import ScriptedServer, for_ever, refuses, replies, streams
from tests.client.telling import started, turn, written

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


class Served:
    """A scripted server on a loop of its own, so that the test's thread may block."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.server = self.call(self._started())

    async def _started(self) -> ScriptedServer:
        server = ScriptedServer()
        await server.start()
        return server

    def call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def stop(self) -> None:
        self.call(self.server.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.stop()


@pytest.fixture
def thread(served: Served) -> Iterator[Thread]:
    with Client(served.server.target) as client:
        yield client.thread("t-1")


@pytest.mark.parametrize("owner", [Thread, AppHandle, Threads, Apps, Approvals, Cache])
def test_every_verb_has_a_blocking_form(owner: type) -> None:
    names = {name for name, _ in inspect.getmembers(owner, callable) if not name.startswith("_")}
    verbs = {name for name in names if not name.endswith("_sync")} - {"thread"}
    assert verbs
    assert {f"{verb}_sync" for verb in verbs} == {name for name in names if name.endswith("_sync")}
    assert all(getattr(owner, f"{verb}_sync").__doc__ == getattr(owner, verb).__doc__ for verb in verbs)


def test_a_verb_shows_what_it_takes_in_each_form() -> None:
    forms = [inspect.signature(verb) for verb in (Thread.stream, Thread.send, Thread.send_sync)]
    assert [list(form.parameters) for form in forms] == [list(forms[0].parameters)] * 3
    assert "on_busy" in forms[0].parameters


def test_send_blocks_until_the_reply(served: Served, thread: Thread) -> None:
    served.server.on("Send", streams(turn()))
    assert thread.send_sync("hi", topic="order").text == "done"
    assert served.server.requests("Send")[0].state_json == b'{"topic":"order"}'


def test_reads_block_too(served: Served, thread: Thread) -> None:
    served.server.on("GetThread", replies(thread_service_pb2.GetThreadResponse(thread=thread_pb2.Thread(version=3))))
    assert thread.info_sync().version == 3


def test_errors_come_out_as_they_are(served: Served, thread: Thread) -> None:
    served.server.on("GetThread", refuses(grpc.StatusCode.NOT_FOUND, "THREAD_NOT_FOUND"))
    with pytest.raises(ThreadNotFoundError):
        thread.info_sync()


def test_a_stream_is_a_plain_iterator(served: Served, thread: Thread) -> None:
    served.server.on("Send", streams(turn()))
    assert [each.type for each in thread.stream_sync("hi")][-1] == "run_completed"


def test_breaking_out_of_the_loop_has_cancelled_the_run(served: Served, thread: Thread) -> None:
    served.server.on("Send", streams([started(1), written(1)], for_ever))
    served.server.on("CancelRun", replies(pb.CancelRunResponse(checkpoint=checkpoint_pb2.Checkpoint(version=2))))
    for each in thread.stream_sync("hi"):
        assert each.type == "run_started"
        break
    assert served.server.names() == ["Send", "CancelRun"]


def test_an_interrupt_cancels_the_run_and_comes_out(served: Served, thread: Thread) -> None:
    served.server.on("Send", streams([started(1), written(1)], for_ever))
    served.server.on("CancelRun", replies(pb.CancelRunResponse(checkpoint=checkpoint_pb2.Checkpoint(version=2))))
    main = threading.get_ident()
    ctrl_c = threading.Thread(target=lambda: signal.pthread_kill(main, signal.SIGINT))

    def read_for_ever() -> None:
        for each in thread.stream_sync("hi"):
            if each.type == "checkpoint_written":
                ctrl_c.start()

    with pytest.raises(KeyboardInterrupt):
        read_for_ever()
    ctrl_c.join()
    assert served.server.names() == ["Send", "CancelRun"]


def test_a_blocking_form_on_the_clients_own_loop_is_refused(served: Served, thread: Thread) -> None:
    async def within() -> None:
        thread.info_sync()

    with pytest.raises(RuntimeError, match="await the other form"):
        BACKGROUND.run(within())


async def test_a_blocking_form_works_where_a_loop_runs_as_in_a_notebook(served: Served) -> None:
    served.server.on("Send", streams(turn()))
    with Client(served.server.target) as client:
        assert client.thread("t-1").send_sync("hi").text == "done"


def test_one_client_serves_several_loops(served: Served) -> None:
    served.server.on("Send", streams(turn()))
    client = Client(served.server.target)

    async def ask() -> str:
        reply = await client.thread("t-1").send("hi")
        await client.close()
        return reply.text

    assert [asyncio.run(ask()), asyncio.run(ask()), client.thread("t-1").send_sync("hi").text] == ["done"] * 3
    client.close_sync()


PROGRAM = """
    import sys
    from clew import Client
    client = Client(sys.argv[1])
    thread = client.thread("t-1")
    events = thread.stream_sync("hi")
    print(next(events).type)
    if len(sys.argv) > 2:
        events = None
        print(thread.send_sync("hi").text)
"""


@pytest.mark.parametrize("more", [[], ["more"]], ids=["with an open stream", "after a reply"])
def test_a_program_that_closes_nothing_ends_in_good_order(served: Served, more: list[str]) -> None:
    served.server.on("Send", streams([started(1), written(1)], for_ever), streams(turn()))
    served.server.on("CancelRun", replies(pb.CancelRunResponse(checkpoint=checkpoint_pb2.Checkpoint(version=2))))
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(PROGRAM), served.server.target, *more]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["run_started", *(["done"] if more else [])]
    assert served.server.names() == ["Send", "CancelRun", *(["Send"] if more else [])]
