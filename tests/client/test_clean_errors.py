"""What a caller's log shows of an error: what went wrong and where it was asked for, and nothing of the transport below."""

from __future__ import annotations

import ast
import asyncio
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

import clew
from clew import ClewError, Client, Limits, Thread
from tests.client.scripted import ScriptedServer, broken, refuses, streams
from tests.client.telling import started, written

PACKAGE = Path(clew.__file__).parent

missing = refuses(grpc.StatusCode.NOT_FOUND, "THREAD_NOT_FOUND")


async def stream_missing(_request: Any, context: Any) -> Any:
    await missing(context)
    yield


async def stream_breaks(_request: Any, context: Any) -> Any:
    await broken(context)
    yield


async def read(client: Client, thread: Thread) -> None:
    await thread.messages()


async def send(client: Client, thread: Thread) -> None:
    await thread.send("hi")


async def watch(client: Client, thread: Thread) -> None:
    async for _ in thread.watch():
        pass


async def watch_the_inbox(client: Client, thread: Thread) -> None:
    async for _ in client.approvals.watch():
        pass


async def approve_all(client: Client, thread: Thread) -> None:
    await thread.approve()


async def cancel(client: Client, thread: Thread) -> None:
    await thread.cancel()


async def send_nan(client: Client, thread: Thread) -> None:
    await thread.send("hi", state={"rate": float("nan")})


async def send_half_a_surrogate(client: Client, thread: Thread) -> None:
    await thread.send("\ud800")


async def send_a_part_without_text(client: Client, thread: Thread) -> None:
    await thread.send([{"type": "text"}])


async def send_with_no_limit(client: Client, thread: Thread) -> None:
    await thread.send("hi", limits=Limits(steps="many"))  # type: ignore[arg-type]


async def send_with_no_time(client: Client, thread: Thread) -> None:
    await thread.send("hi", busy_timeout="soon")  # type: ignore[arg-type]


async def decide_nothing_clear(client: Client, thread: Thread) -> None:
    await thread.decide({"u.a4.1": 7})


async def decide_with_an_unclear_value(client: Client, thread: Thread) -> None:
    await thread.decide({"u.a4.1": {"reject": 7}})


async def cache_under_no_text(client: Client, thread: Thread) -> None:
    await client.cache.put("rates", "\ud800", 1)


WAYS = [
    read, send, watch, watch_the_inbox, approve_all, cancel,
    send_nan, send_half_a_surrogate, send_a_part_without_text, send_with_no_limit, send_with_no_time,
    decide_nothing_clear, decide_with_an_unclear_value, cache_under_no_text,
]  # fmt: skip


def refuse_all(server: ScriptedServer) -> None:
    for name in ("ListMessages", "ListApprovals", "GetThread", "CancelRun"):
        server.on(name, missing)
    for name in ("Send", "Decide", "Watch", "WatchApprovals"):
        server.on(name, stream_missing)


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def is_clean(error: BaseException) -> bool:
    return error.__cause__ is None and (error.__context__ is None or error.__suppress_context__)


@pytest.mark.parametrize("way", WAYS)
async def test_a_refusal_stands_alone(
    server: ScriptedServer, client: Client, way: Callable[[Client, Thread], Awaitable[None]]
) -> None:
    refuse_all(server)
    with pytest.raises(ClewError) as raised:
        await way(client, client.app("support").thread("t-1"))
    assert is_clean(raised.value)
    assert "grpc" not in shown(raised.value).replace("refusals.py", "")


async def test_a_stream_that_cannot_be_joined_again_says_so_alone(server: ScriptedServer) -> None:
    server.on("Send", streams([started(1), written(1, source="INPUT")], broken))
    server.on("Watch", stream_breaks)
    async with Client(server.target, rejoin_timeout=0) as client:
        with pytest.raises(ClewError) as raised:
            await client.app("support").thread("t-1").send("hi")
    assert is_clean(raised.value)


async def test_the_blocking_form_is_as_clean(server: ScriptedServer) -> None:
    refuse_all(server)

    def ask() -> list[ClewError]:
        found = []
        with Client(server.target) as client:
            thread = client.app("support").thread("t-1")
            for verb in (thread.messages_sync, lambda: thread.send_sync("hi"), lambda: list(thread.watch_sync())):
                with pytest.raises(ClewError) as raised:
                    verb()
                found.append(raised.value)
        return found

    assert all(map(is_clean, await asyncio.to_thread(ask)))


def test_no_place_chains_what_it_handles() -> None:
    chained = [
        f"{path.name}:{node.lineno}"
        for path in PACKAGE.glob("*.py")
        for handler in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler)
        if isinstance(node, ast.Raise) and node.exc is not None and not is_alone(node)
    ]
    assert chained == []


def is_alone(node: ast.Raise) -> bool:
    return isinstance(node.cause, ast.Constant) and node.cause.value is None
