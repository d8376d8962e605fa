"""A server as a process: it says what it serves, and ends when it is told to."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pydantic
import structlog
import typer

from clew_engine.apps import App
from clew_engine.errors import ArgumentInvalidError, ClewError
from clew_server import logs
from clew_server.app import Server, open_storage
from clew_server.cli.announcement import Announcement
from clew_server.cli.supervisor import GaveUp, supervise
from clew_server.cli.wrong_settings import GivenSettings
from clew_server.listening import ServeError, write_port
from clew_server.loading import LoadError, load
from clew_server.settings import CONFIG_FILE, Settings, SettingsFileError
from clew_storage import StorageError

_log = structlog.stdlib.get_logger("clew.server")
# How long what was cancelled may take to end once the server has stopped.
_LAST_WAIT_S = 1.0
# When the garbage collector looks at its three generations: by default, and here.
_PYTHONS_OWN, _SPARING = gc.get_threshold(), (10_000, 20, 50)
# By the arguments of a Storage that they are.
_SETTINGS = {"url": "storage"}


def run(
    targets: Sequence[str], flags: dict[str, Any], *, config: Path | None, port_file: Path | None, as_json: bool
) -> None:
    """Serve until a signal comes, in this process or in several.

    What is wrong is said on stderr, with exit code 1; with 2, as what was not understood, where it is a setting.
    """
    settings = _settings(flags, config)
    with explained():
        logs.set_up(settings.log_format, settings.log_level)

        def ready(said: Announcement) -> None:
            if port_file is not None:
                write_port(port_file, said.port)
            said.say(as_json=as_json, workers=settings.workers)
            if not settings.is_local and settings.tls_cert is None:
                _log.warning("anyone who can reach this address reads and writes every thread", address=said.address)

        if settings.workers > 1:
            asyncio.run(supervise(targets, settings, ready))
        else:
            run_server(load(targets), settings, lambda server, _: ready(Announcement.of(server)))


@contextmanager
def explained() -> Iterator[None]:
    """What keeps a server from serving is said in words, and ends the process with exit code 1."""
    try:
        yield
    except LoadError as error:
        sys.stderr.write(error.trace)
        _fail(str(error))
    except ClewError as error:
        _fail(error.message)
    except (ServeError, GaveUp, StorageError, OSError) as error:
        _fail(str(error))


class Stop:
    """How a server is told to end: with its grace, and then at once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._under_way: set[asyncio.Task[None]] = set()

    def gracefully(self) -> None:
        """Let runs go on for the grace; said again it changes nothing."""
        if not self._under_way:
            _log.info("stopping")
            self._begin(None)

    def now(self) -> None:
        """Whatever still runs is left to a retry."""
        _log.info("stopping now")
        self._begin(0)

    def signalled(self) -> None:
        """The first signal lets runs go on, the next does not."""
        self.now() if self._under_way else self.gracefully()

    async def done(self) -> None:
        """Wait until what was begun has ended."""
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _begin(self, grace_s: float | None) -> None:
        self._under_way.add(asyncio.ensure_future(self._server.stop(grace_s)))


def run_server(apps: Sequence[App], settings: Settings, ready: Callable[[Server, Stop], None]) -> None:
    """Serve in this process until SIGTERM, or SIGINT where that is not ignored; `ready` is called when it listens."""
    _spare_the_collector()
    _run(_serve(apps, settings, ready))


async def _serve(apps: Sequence[App], settings: Settings, ready: Callable[[Server, Stop], None]) -> None:
    server = await Server(apps, settings).start()
    stop = Stop(server)
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop.signalled)
    ready(server, stop)
    await server.wait()
    await stop.done()
    await _leave_behind()


async def _leave_behind() -> None:
    """End what is still at work. A tool that will not be cancelled does not hold the process: its call is saved as one without a result."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        _, pending = await asyncio.wait(rest, timeout=_LAST_WAIT_S)
        if pending:
            _log.warning("left behind", tasks=len(pending), why="they do not end when they are cancelled")
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def _spare_the_collector() -> None:
    """What is there for good is looked through no more, and what comes and goes less often: a turn makes objects, and hardly a cycle.

    It took a tenth of a turn's time. Whoever has set thresholds of their own keeps them.
    """
    gc.freeze()
    if gc.get_threshold() == _PYTHONS_OWN:
        gc.set_threshold(*_SPARING)


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop  # noqa: PLC0415  not there on Windows
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def _settings(flags: dict[str, Any], config: Path | None) -> Settings:
    given = GivenSettings(flags, config)
    try:
        settings = Settings.read(flags, config)
    except pydantic.ValidationError as error:
        raise typer.BadParameter(given.told(error)) from None
    except SettingsFileError as error:
        raise typer.BadParameter(str(error)) from None
    except OSError as error:
        told = f"{config or CONFIG_FILE} cannot be read: {error.strerror}; name a file of settings (--config)"
        raise typer.BadParameter(told) from None
    _check_urls(settings, given)
    return settings


def _check_urls(settings: Settings, given: GivenSettings) -> None:
    """A URL that names no database is said before apps are loaded, and once for all workers; nothing is opened yet."""
    # The file of the user's own, whose folder would be made, cannot be wrong.
    named = settings if settings.storage is not None else settings.model_copy(update={"storage": "memory://"})
    try:
        open_storage(named)
    except ArgumentInvalidError as error:
        field = error.metadata["field"]
        name = given.name(_SETTINGS.get(field, field))
        raise typer.BadParameter(f"{name}: {error.message.removeprefix(f'{field}: ')}") from None


def _fail(message: str) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"clew: {line}\n")
    raise SystemExit(1)
