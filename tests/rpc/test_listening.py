"""Where a server listens, who may call it there, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme

from clew.v1.app_service_pb2 import ListAppsRequest
from clew.v1.approval_service_pb2 import WatchApprovalsRequest
from clew_engine.errors import StorageUnavailableError
from clew_server.app import Server
from clew_server.listening import ServeError, write_port
from clew_server.settings import Settings, is_loopback
from tests.rpc.agents import echo, support
from tests.support.serving import Served, serving, stubs_on


def told(**settings: Any) -> Settings:
    return Settings.read({"port": 0, "storage": "memory://", "grace": 0.5, **settings})


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def tls(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tls")
    issued = authority.issue_cert("localhost", "127.0.0.1")
    cert, key, ca = folder / "cert.pem", folder / "key.pem", folder / "ca.pem"
    cert.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    authority.cert_pem.write_to_path(ca)
    return {"cert": cert, "key": key, "ca": ca}


def test_servers_that_are_told_the_same_file_do_not_meet_on_the_way_to_it(tmp_path: Path) -> None:
    # One of them was killed there, and left this.
    (tmp_path / "port.part").mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda port: write_port(tmp_path / "port", port), range(200)))
    assert int((tmp_path / "port").read_text()) in range(200)
    assert {each.name for each in tmp_path.iterdir()} == {"port", "port.part"}


@pytest.mark.parametrize("where", ["none/port", "folder", "/"])
def test_a_port_that_cannot_be_written_is_told_by_the_name_of_its_file(tmp_path: Path, where: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ServeError, match=f"cannot be written to {tmp_path / where}: .*; name another file"):
        write_port(tmp_path / where, 1)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_reflection_is_off_where_others_can_ask_unless_it_is_asked_for() -> None:
    assert told().with_reflection
    assert not told(host="0.0.0.0").with_reflection
    assert told(host="0.0.0.0", reflection=True).with_reflection


async def test_a_port_that_is_taken_is_said(served: Served) -> None:
    with pytest.raises(ServeError, match="taken"):
        await Server([support()], told(port=served.server.port)).start()


async def test_an_address_that_others_reach_needs_tls_or_a_word() -> None:
    with pytest.raises(ServeError, match="insecure-public"):
        await Server([support()], told(host="0.0.0.0")).start()
    async with serving([support()], host="0.0.0.0", insecure_public=True) as served:
        assert served.server.port


def test_what_only_this_machine_reaches() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))


async def test_a_database_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="folder"):
        await Server([support()], told(storage=f"sqlite://{tmp_path}")).start()


async def test_a_unix_socket_serves_and_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "clew.sock"
    async with serving([support()], socket=path) as served:
        assert served.target == f"unix:{path}"
        assert (await served.apps.ListApps(ListAppsRequest())).apps
        with pytest.raises(ServeError, match="another server"):
            await Server([support()], told(socket=path)).start()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "old.sock"))
    async with serving([support()], socket=tmp_path / "old.sock") as served:
        assert (await served.apps.ListApps(ListAppsRequest())).apps
    (tmp_path / "file").write_text("")
    with pytest.raises(ServeError, match="another kind"):
        await Server([support()], told(socket=tmp_path / "file")).start()


async def test_tls_is_served_and_plain_callers_are_not(tls: dict[str, Path]) -> None:
    server = await Server([support()], told(tls_cert=tls["cert"], tls_key=tls["key"])).start()
    try:
        trusting = grpc.ssl_channel_credentials(tls["ca"].read_bytes())
        async with grpc.aio.secure_channel(f"localhost:{server.port}", trusting) as channel:
            assert (await stubs_on(channel).apps.ListApps(ListAppsRequest())).apps
        async with grpc.aio.insecure_channel(f"localhost:{server.port}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stubs_on(channel).apps.ListApps(ListAppsRequest(), timeout=5)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    finally:
        await server.stop(0)


async def test_mtls_serves_only_those_with_a_certificate(tls: dict[str, Path], authority: trustme.CA) -> None:
    settings = told(tls_cert=tls["cert"], tls_key=tls["key"], tls_client_ca=tls["ca"])
    server = await Server([support()], settings).start()
    stranger, known = trustme.CA().issue_cert("ada@example.org"), authority.issue_cert("ada@example.org")
    try:
        for issued, served in ((known, True), (stranger, False), (None, False)):
            pair = {}
            if issued is not None:
                pair = {
                    "private_key": issued.private_key_pem.bytes(),
                    "certificate_chain": issued.cert_chain_pems[0].bytes(),
                }
            credentials = grpc.ssl_channel_credentials(tls["ca"].read_bytes(), **pair)
            async with grpc.aio.secure_channel(f"localhost:{server.port}", credentials) as channel:
                call = stubs_on(channel).apps.ListApps(ListAppsRequest(), timeout=5)
                if served:
                    assert (await call).apps
                else:
                    with pytest.raises(grpc.aio.AioRpcError):
                        await call
    finally:
        await server.stop(0)


async def test_a_certificate_that_is_none_is_said(tls: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ServeError, match="cannot be read"):
        await Server([support()], told(tls_cert=tmp_path / "nope", tls_key=tls["key"])).start()
    (tmp_path / "junk").write_text("junk")
    with pytest.raises(ServeError, match="PEM"):
        await Server([support()], told(tls_cert=tmp_path / "junk", tls_key=tls["key"])).start()


async def test_a_key_of_another_certificate_is_said(tls: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(other)
    with pytest.raises(ServeError, match=r"other\.pem is not the key of the certificate in"):
        await Server([support()], told(tls_cert=tls["cert"], tls_key=other)).start()


@pytest.mark.parametrize("broken", ["tls_cert", "tls_key", "tls_client_ca"])
async def test_a_pem_file_with_nonsense_in_it_is_said(tls: dict[str, Path], tmp_path: Path, broken: str) -> None:
    (tmp_path / "bad.pem").write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    files = {"tls_cert": tls["cert"], "tls_key": tls["key"], "tls_client_ca": tls["ca"], broken: tmp_path / "bad.pem"}
    with pytest.raises(ServeError, match=r"bad\.pem.*PEM"):
        await Server([support()], told(**files)).start()


@pytest.mark.parametrize("half", [{"tls_cert": "x"}, {"tls_key": "x"}, {"tls_client_ca": "x"}])
def test_half_of_tls_is_no_setting(half: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="TLS"):
        told(**half)


async def watched_with_pings(target: str, seconds: float) -> None:
    """Read a quiet stream while pinging once a second."""
    options = (
        ("grpc.keepalive_time_ms", 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    )
    async with grpc.aio.insecure_channel(target, options=options) as channel:
        inbox = stubs_on(channel).approvals.WatchApprovals(WatchApprovalsRequest())
        await inbox.read()
        async with asyncio.timeout(seconds):
            await inbox.read()


async def test_a_caller_may_ask_whether_the_server_is_there_but_not_all_the_time() -> None:
    async with serving([echo()], ping_interval=0.5) as patient, serving([echo()], ping_interval=60.0) as strict:
        pinging = watched_with_pings(patient.target, 5), watched_with_pings(strict.target, 5)
        allowed, sent_away = await asyncio.gather(*pinging, return_exceptions=True)
    assert isinstance(allowed, TimeoutError)
    assert isinstance(sent_away, grpc.aio.AioRpcError)
    assert sent_away.details() == "Too many pings"
