"""`clew serve --workers N`: a process that serves nothing itself, and keeps N that do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence

import structlog

from clew_server.cli.announcement import Announcement
from clew_server.cli.orders import NOW, STOP, Work
from clew_server.cli.worker_processes import Patience, WorkerDied, WorkerProcess
from clew_server.listening import ServeError
from clew_server.sealing import KEY_BYTES
from clew_server.settings import Settings
from clew_server.shared_ports import shared_port
from clew_storage import open_storage

_log = structlog.stdlib.get_logger("clew.server")
# What a worker is given to end beyond its grace, before it is killed.
_MARGIN_S = 10.0


class GaveUp(Exception):  # noqa: N818 - an end, in words for whoever started it
    """Why the workers could not be kept."""


async def supervise(
    targets: Sequence[str],
    settings: Settings,
    ready: Callable[[Announcement], None],
    patience: Patience | None = None,
) -> None:
    """Serve in `settings.workers` processes until SIGTERM or SIGINT; `ready` is called once, when all serve.

    Raises ServeError for what cannot be served so, GaveUp for workers that die again and again, and SystemExit with a worker's code
    where it did not start and has said why.
    """
    _check_storage(settings)
    with shared_port(settings) as port:
        # A snapshot that one of them sealed comes back to any of them.
        keys = settings.snapshot_key or (os.urandom(KEY_BYTES),)
        theirs = settings.model_copy(update={"port": port, "snapshot_key": keys})
        numbers = range(1, settings.workers + 1)
        workers = [WorkerProcess(Work(number, targets, theirs), patience or Patience()) for number in numbers]
        await _Supervisor(workers, settings).run(ready)


class _Supervisor:
    def __init__(self, workers: Sequence[WorkerProcess], settings: Settings) -> None:
        self._workers = workers
        self._settings = settings
        self._stopping = False

    async def run(self, ready: Callable[[Announcement], None]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled)
        try:
            said = await self._start()
            if said is not None:
                self._warn(said)
                ready(said)
                await self._keep()
        finally:
            self._kill()

    async def _start(self) -> Announcement | None:
        """None where it was told to stop before all served."""
        first, *others = self._workers
        try:
            # Alone, so that what is wrong is said once, and one migrates the database.
            said = await first.start()
            await asyncio.gather(*(worker.start() for worker in others))
        except WorkerDied as died:
            if self._stopping:
                return None
            if died.code > 0:
                raise SystemExit(died.code) from None
            raise GaveUp(f"{died} before it served") from None
        return said

    async def _keep(self) -> None:
        keeping = [asyncio.create_task(worker.keep()) for worker in self._workers]
        await asyncio.wait(keeping, return_when=asyncio.FIRST_EXCEPTION)
        died = next((task.exception() for task in keeping if task.done() and task.exception()), None)
        if died is None:
            return
        _log.error("stopping", why=str(died))
        self._tell(STOP, self._settings.grace + _MARGIN_S)
        await asyncio.wait(keeping)
        raise GaveUp(f"{died}, as those before it did; what it said is above, and the other workers were stopped")

    def _signalled(self) -> None:
        if self._stopping:
            _log.info("stopping now")
            self._tell(NOW, _MARGIN_S)
        else:
            _log.info("stopping")
            self._tell(STOP, self._settings.grace + _MARGIN_S)

    def _tell(self, order: bytes, patience_s: float) -> None:
        self._stopping = True
        for worker in self._workers:
            worker.tell(order)
        asyncio.get_running_loop().call_later(patience_s, self._kill)

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()

    def _warn(self, said: Announcement) -> None:
        if not self._settings.snapshot_key and any(app["kind"] == "workflow" for app in said.apps):
            _log.info("snapshots of runs without a thread will not outlive these workers: no snapshot_key is set")


def _check_storage(settings: Settings) -> None:
    url = settings.storage
    if url is None or not open_storage(url).shared:
        raise ServeError(
            f"{settings.workers} workers need a database that they can share, and {url or 'a SQLite file'} belongs to one process: "
            "name one of Postgres (--storage postgresql://…, docs/postgres.md), or take one worker"
        )
