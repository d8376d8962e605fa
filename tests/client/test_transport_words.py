"""What a caller reads where the transport fails: our words, with the target and what to do next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from clew import ClewError, Client, DeadlineExceededError, UnavailableError
from tests.client.scripted import ScriptedServer

RAW = ("Deadline Exceeded", "failed to connect", "last error", "ipv4:", "ipv6:", "Stream removed", "Socket closed")


def check(error: ClewError, target: str) -> None:
    assert target in str(error)
    assert not [words for words in RAW if words in str(error)]
    assert error.metadata["target"] == target
    assert error.metadata["transport"]


CALLS: list[Callable[[Client], Awaitable[Any]]] = [
    lambda client: client.thread("t").info(),
    lambda client: client.thread("t").send("hi"),
    lambda client: client.thread("t").approve(),
    lambda client: anext(aiter(client.approvals.watch())),
]


@pytest.mark.parametrize("call", CALLS)
async def test_where_nobody_listens_the_target_is_named(call: Callable[[Client], Awaitable[Any]]) -> None:
    async with Client("localhost:1", connect_timeout=0.1) as client:
        with pytest.raises(UnavailableError) as raised:
            await call(client)
    check(raised.value, "localhost:1")
    assert "both sides speak TLS" in str(raised.value)


async def test_a_timeout_where_nobody_listens_says_so() -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(DeadlineExceededError, match="no server answers at localhost:1") as raised:
            await client.thread("t").send("hi", timeout=0.05)
        assert "both sides speak TLS" in str(raised.value)


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (grpc.StatusCode.UNKNOWN, "Stream removed (Deadline Exceeded)", "deadline_exceeded"),
        (grpc.StatusCode.UNKNOWN, "Stream removed", "unknown"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", "deadline_exceeded"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max (9 vs. 4)", "resource_exhausted"),
        (grpc.StatusCode.UNIMPLEMENTED, "Method not found!", "unimplemented"),
        (grpc.StatusCode.UNAUTHENTICATED, "", "unauthenticated"),
        (grpc.StatusCode.FAILED_PRECONDITION, "proxy", "failed_precondition"),
    ],
)
async def test_a_status_of_the_transport_is_told_in_our_words(
    server: ScriptedServer, client: Client, status: grpc.StatusCode, text: str, code: str
) -> None:
    async def refuse(_request: object, context: Any) -> None:
        await context.abort(status, text)

    server.on("GetThread", refuse)
    with pytest.raises(ClewError) as raised:
        await client.thread("t").info()
    check(raised.value, server.target)
    assert raised.value.code == code
    assert not text or text not in str(raised.value)


async def test_a_send_that_gets_no_answer_in_time_says_so(server: ScriptedServer, client: Client) -> None:
    async def silent(_request: object, context: Any) -> Any:
        await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")
        yield

    server.on("Send", silent)
    with pytest.raises(DeadlineExceededError) as raised:
        await client.thread("t").send("hi", timeout=1)
    check(raised.value, server.target)
    assert "it is busy, or stopping" in str(raised.value)
    assert "same request id" in str(raised.value)
