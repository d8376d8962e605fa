"""How a client reaches its server: targets, tokens, certificates, limits."""

from __future__ import annotations

import itertools

import grpc
import pytest
import trustme

from clew import Client, ExhaustedError, Tls, UnavailableError
from clew.v1 import thread_pb2, thread_service_pb2
from tests.client.scripted import ScriptedServer, replies, streams
from tests.client.telling import turn

THREAD = thread_service_pb2.GetThreadResponse(thread=thread_pb2.Thread(version=3))


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_TARGET", "clew.example.org:443")
    assert Client().settings.target == "clew.example.org:443"
    assert Client("localhost:1").settings.target == "localhost:1"
    monkeypatch.delenv("CLEW_TARGET")
    assert Client().settings.target == "localhost:50051"


async def test_a_token_goes_with_every_call(server: ScriptedServer) -> None:
    server.on("GetThread", replies(THREAD))
    server.on("Send", streams(turn()))
    async with Client(server.target, token="secret") as client:
        await client.thread("t-1").info()
        await client.thread("t-1").send("hi")
    assert [metadata["authorization"] for metadata in server.metadata] == ["Bearer secret", "Bearer secret"]


async def test_a_token_that_changes_is_asked_for_each_time(server: ScriptedServer) -> None:
    server.on("GetThread", replies(THREAD))
    numbers = itertools.count(1)
    async with Client(server.target, token=lambda: f"token-{next(numbers)}") as client:
        await client.thread("t-1").info()
        await client.thread("t-1").info()
    assert [metadata["authorization"] for metadata in server.metadata] == ["Bearer token-1", "Bearer token-2"]


async def test_without_a_token_none_is_sent(server: ScriptedServer, client: Client) -> None:
    server.on("GetThread", replies(THREAD))
    await client.thread("t-1").info()
    assert "authorization" not in server.metadata[0]


async def test_both_sides_may_show_a_certificate() -> None:
    authority = trustme.CA()
    root = authority.cert_pem.bytes()
    shown, own = authority.issue_cert("localhost", "127.0.0.1"), authority.issue_cert("ada@example.org")
    key, chain = shown.private_key_pem.bytes(), b"".join(pem.bytes() for pem in shown.cert_chain_pems)
    server = ScriptedServer()
    await server.start(grpc.ssl_server_credentials([(key, chain)], root, require_client_auth=True))
    server.on("GetThread", replies(THREAD))
    certificate = b"".join(pem.bytes() for pem in own.cert_chain_pems)
    known = Tls(root, own.private_key_pem.bytes(), certificate)
    async with Client(server.target, tls=known) as client:
        assert (await client.thread("t-1").info()).version == 3
    async with Client(server.target, tls=Tls(root), connect_timeout=0.1, timeout=2) as client:
        with pytest.raises(UnavailableError):
            await client.thread("t-1").info()
    await server.stop()


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(ValueError, match="come together"):
        Tls(client_certificate=b"x")


async def test_a_client_does_not_wait_for_the_backoff_of_another(server: ScriptedServer) -> None:
    server.on("GetThread", replies(THREAD))
    await server.stop()
    backoffs = ("initial", "min", "max")
    options = (("grpc.enable_retries", 0), *((f"grpc.{each}_reconnect_backoff_ms", 60_000) for each in backoffs))
    async with Client(server.target, options=options, connect_timeout=0) as early:
        with pytest.raises(UnavailableError):
            await early.thread("t-1").info()
        await server.start()
        async with Client(server.target, options=options, connect_timeout=0) as late:
            assert (await late.thread("t-1").info()).version == 3


async def test_a_message_over_the_limit_is_refused_before_it_is_sent(server: ScriptedServer, client: Client) -> None:
    with pytest.raises(ExhaustedError):
        await client.thread("t-1").send("x" * (9 << 20))
    assert server.asked == []


async def test_a_client_can_be_used_again_after_it_was_closed(server: ScriptedServer, client: Client) -> None:
    server.on("GetThread", replies(THREAD))
    await client.thread("t-1").info()
    await client.close()
    assert (await client.thread("t-1").info()).version == 3
