"""Where a server listens: the address, its credentials, and what is wrong with either."""

from __future__ import annotations

import contextlib
import secrets
import socket
import ssl
from pathlib import Path

import grpc

from clew_server.settings import Settings


class ServeError(Exception):
    """Why a server cannot serve, in words for whoever started it."""


def listen(server: grpc.aio.Server, settings: Settings) -> tuple[str, int]:
    """Bind the server; the address as a client dials it, and the port (0 for a Unix socket). Raises ServeError."""
    credentials = _credentials(settings)
    if not settings.is_local and credentials is None and not settings.insecure_public:
        raise ServeError(
            f"{settings.host} can be reached from elsewhere, and without TLS anyone there reads and writes every thread; "
            "set --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure-public"
        )
    if settings.socket is not None:
        _check_socket(settings.socket)
        address = f"unix:{settings.socket.absolute()}"
        _bind(server, address, credentials)
        return address, 0
    host = f"[{settings.host}]" if ":" in settings.host and not settings.host.startswith("[") else settings.host
    port = _bind(server, f"{host}:{settings.port}", credentials)
    return f"{host}:{port}", port


def write_port(path: Path, port: int) -> None:
    """Whoever waits for the file finds it whole, also where several servers write it: the last one's port is in it. Raises ServeError."""
    half = path.parent / f".clew-port-{secrets.token_hex(8)}"
    try:
        with half.open("x", encoding="utf-8") as file:
            file.write(f"{port}\n")
        half.replace(path)
    except OSError as error:
        raise ServeError(
            f"the port cannot be written to {path}: {error.strerror}; name another file with --port-file"
        ) from error
    finally:
        # Gone already where it took its place.
        with contextlib.suppress(OSError):
            half.unlink()


def _bind(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    try:
        if credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise ServeError(
            f"cannot listen on {address}: it is taken by another process, or not an address of this machine; "
            "choose another with --port (0 takes any free one) or --host"
        ) from error


def _check_socket(path: Path) -> None:
    """GRPC takes a socket's place without a word, also from a server that is alive."""
    if not path.exists():
        if not path.parent.is_dir():
            raise ServeError(f"cannot listen on {path}: there is no folder {path.parent}")
        return
    if not path.is_socket():
        raise ServeError(f"cannot listen on {path}: there is a file of another kind")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink()
        else:
            raise ServeError(f"cannot listen on {path}: another server does")


def _credentials(settings: Settings) -> grpc.ServerCredentials | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    pair = (_read(settings.tls_key), _read(settings.tls_cert))
    authority = None if settings.tls_client_ca is None else _read(settings.tls_client_ca)
    _check_pair(settings.tls_cert, settings.tls_key)
    _check_authority(settings.tls_client_ca)
    return grpc.ssl_server_credentials([pair], root_certificates=authority, require_client_auth=authority is not None)


def _check_pair(cert: Path, key: Path) -> None:
    """For gRPC a pair that does not fit is a port that it cannot have."""
    try:
        # A key with a password would be asked for; gRPC takes none.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ServeError(f"{key} is not the key of the certificate in {cert}") from error
        raise ServeError(
            f"{cert} and {key} are not a certificate and its key, in PEM and without a password: {error.reason or error}"
        ) from error


def _check_authority(path: Path | None) -> None:
    try:
        if path is not None:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(path)
    except ssl.SSLError as error:
        raise ServeError(f"{path} holds no certificate in PEM: {error.reason or error}") from error


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ServeError(f"{path} cannot be read: {error.strerror}") from error
    if b"-----BEGIN " not in content:
        raise ServeError(f"{path} is not a PEM file")
    return content
