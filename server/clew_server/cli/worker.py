"""One of the processes of `clew serve --workers N`: `python -m clew_server.cli.worker FD`, where FD leads to its supervisor.

Over that socket come what to serve and the word to stop; over it goes what is served once it is. When it breaks the
supervisor is gone, and the worker ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from contextlib import suppress

import structlog

from clew_server import logs
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
from clew_server.cli.orders import NOW, STOP, Work
from clew_server.cli.running import Stop, explained, run_server
from clew_server.loading import load

_log = structlog.stdlib.get_logger("clew.server")
# How long an orphan may take to end what it does, also where its event loop is stuck.
_LAST_S = 5.0


def main() -> None:
    """Serve what the supervisor says, until it says to stop, is gone, or a SIGTERM comes."""
    # Ctrl-C reaches every process of the terminal; what comes of it the supervisor says.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    supervisor = socket.socket(fileno=int(sys.argv[1]))
    orders = supervisor.makefile("rb")
    first = orders.readline()
    if not first:
        return
    work = Work.read(first)
    logs.set_up(work.settings.log_format, work.settings.log_level, worker=work.number)

    def ready(server: Server, stop: Stop) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=heed, args=(loop, stop), daemon=True, name="clew-orders").start()
        supervisor.sendall(Announcement.of(server).line())

    def heed(loop: asyncio.AbstractEventLoop, stop: Stop) -> None:
        # The loop is closed where the worker has ended by itself.
        with suppress(RuntimeError):
            with suppress(OSError):
                for order in orders:
                    loop.call_soon_threadsafe({STOP: stop.gracefully, NOW: stop.now}[order])
            _log.error("the supervisor is gone")
            loop.call_soon_threadsafe(stop.now)
        threading.Event().wait(_LAST_S)
        os._exit(1)

    with explained():
        run_server(load(work.targets), work.settings, ready)


if __name__ == "__main__":
    main()
