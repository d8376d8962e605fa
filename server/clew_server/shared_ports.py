"""A TCP port that several processes listen on (SO_REUSEPORT), taken for them before any of them starts."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from clew_server.listening import ServeError
from clew_server.settings import Settings


@contextmanager
def shared_port(settings: Settings) -> Iterator[int]:
    """The port (for 0: one that is free), kept for this process's workers in this block. Raises ServeError where it cannot be had."""
    if settings.socket is not None:
        raise ServeError(
            "several workers cannot share a Unix socket: leave --socket out and listen on a port (--port 0 takes any free one), or take one worker"
        )
    if sys.platform != "linux":
        raise ServeError("only Linux spreads connections over several workers; take one (--workers 1)")
    address = f"{settings.host}:{settings.port}"
    with ExitStack() as kept:
        try:
            family, _, _, _, where = socket.getaddrinfo(
                settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            taken = kept.enter_context(socket.socket(family, socket.SOCK_STREAM))
            # Bound alone first, which fails beside anyone who listens there; only then it is open to be shared. It never listens, so it
            # is given no connection.
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(where)
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            host, port = taken.getsockname()[:2]
            # Of two supervisors that start at this moment one has the name; it goes with its process.
            named = kept.enter_context(socket.socket(socket.AF_UNIX))
            named.bind(f"\0clew serve {host} {port}")
        except OSError as error:
            raise ServeError(
                f"cannot listen on {address}: it is taken by another process, or not an address of this machine; "
                "choose another with --port (0 takes any free one) or --host"
            ) from error
        yield port
