"""How a command calls a server: which one, and what becomes of a refusal."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from clew_server.cli.given_values import not_empty
from clew_server.cli.output import print_error

if TYPE_CHECKING:
    from clew import ClewError, Client

T = TypeVar("T")

DEFAULT_TARGET = "localhost:50051"
Target = Annotated[
    str, typer.Option("--target", "-t", envvar="CLEW_TARGET", metavar="HOST:PORT", help="The server to talk to.")
]
Actor = Annotated[str, typer.Option(metavar="NAME", envvar="CLEW_ACTOR", help="On whose behalf.", callback=not_empty)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def call(target: str, work: Callable[[Client], Awaitable[T]], *, as_json: bool = False) -> T:
    """Do the work with a client; what a server refuses ends the command with one line and exit code 1."""
    import asyncio  # noqa: PLC0415  half a second of imports, for commands that need a server

    from clew import ClewError  # noqa: PLC0415

    async def connected() -> T:
        async with connect(target) as client:
            return await work(client)

    try:
        return asyncio.run(connected())
    except ClewError as error:
        refuse(error, target, as_json=as_json)


def connect(target: str) -> Client:
    """A client of the server.

    Where the server speaks TLS the environment names PEM files: CLEW_CA (or `system` for the system's authorities), and CLEW_CLIENT_CERT with
    CLEW_CLIENT_KEY where it asks for a certificate of ours.
    """
    from clew import Client, Tls  # noqa: PLC0415

    def pem(name: str) -> bytes | None:
        path = os.environ.get(name)
        try:
            return Path(path).read_bytes() if path else None
        except OSError as error:
            raise typer.BadParameter(f"{path} cannot be read: {error.strerror}", param_hint=name) from None

    own = [name for name in ("CLEW_CLIENT_CERT", "CLEW_CLIENT_KEY") if os.environ.get(name)]
    authority = os.environ.get("CLEW_CA")
    if len(own) == 1:
        (other,) = {"CLEW_CLIENT_CERT", "CLEW_CLIENT_KEY"} - {*own}
        raise typer.BadParameter(
            f"a certificate of ours and its key come together: set {other}, too", param_hint=own[0]
        )
    if own and not authority:
        raise typer.BadParameter(
            "without CLEW_CA nothing is encrypted, and nobody asks for a certificate: name the server's authority, or CLEW_CA=system",
            param_hint=own[0],
        )
    if not authority:
        return Client(target)
    roots = None if authority == "system" else pem("CLEW_CA")
    return Client(target, tls=Tls(roots, pem("CLEW_CLIENT_KEY"), pem("CLEW_CLIENT_CERT")))


def refuse(error: ClewError, target: str, *, as_json: bool = False) -> NoReturn:
    """End the command with an error."""
    if error.code == "unavailable":
        error.message = f"no server can be reached at {target}; start one with `clew serve`, or name another with --target; {_tls()}"
    print_error(error, as_json=as_json)
    raise typer.Exit(1) from None


def _tls() -> str:
    """The other reason why nobody answers: the two sides do not agree on TLS, which the transport does not tell."""
    if os.environ.get("CLEW_CA"):
        return "CLEW_CA asks for TLS: the server may not speak it, or not trust CLEW_CLIENT_CERT, or have a certificate by another authority"
    return "if it speaks TLS, name its authority with CLEW_CA=FILE, or CLEW_CA=system"
