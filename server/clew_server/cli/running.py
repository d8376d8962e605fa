"""A server as a process: it says what it serves, and ends when it is told to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pydantic
import structlog
import typer
from rich.console import Console

from clew_engine.apps import App
from clew_engine.errors import ClewError
from clew_server import logs
from clew_server.app import Server
from clew_server.listening import ServeError
from clew_server.loading import LoadError, load
from clew_server.settings import Settings, SettingsFileError
from clew_storage import StorageError

_log = structlog.stdlib.get_logger("clew.server")
# How long what was cancelled may take to end once the server has stopped.
_LAST_WAIT_S = 1.0


def run(
    targets: Sequence[str], flags: dict[str, Any], *, config: Path | None, port_file: Path | None, as_json: bool
) -> None:
    """Serve until a signal comes. What is wrong is said on stderr, with exit code 1."""
    try:
        settings = Settings.read(flags, config)
        logs.set_up(settings.log_format, settings.log_level)
        _run(_serve(load(targets), settings, port_file, as_json))
    except pydantic.ValidationError as error:
        _fail("\n".join(_told(each) for each in error.errors()))
    except LoadError as error:
        sys.stderr.write(error.trace)
        _fail(str(error))
    except ClewError as error:
        _fail(error.message)
    except (ServeError, SettingsFileError, StorageError, OSError) as error:
        _fail(str(error))


async def _serve(apps: Sequence[App], settings: Settings, port_file: Path | None, as_json: bool) -> None:
    server = await Server(apps, settings).start()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        _log.info("stopping" if not stopping else "stopping now")
        stopping.add(asyncio.ensure_future(server.stop(0 if stopping else None)))

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if port_file is not None:
        # Whoever waits for the file finds it whole.
        half = port_file.with_name(f"{port_file.name}.part")
        half.write_text(f"{server.port}\n")
        half.replace(port_file)
    _announce(server, as_json)
    if not settings.is_local and settings.tls_cert is None:
        _log.warning("anyone who can reach this address reads and writes every thread", address=server.address)
    await server.wait()
    await asyncio.gather(*stopping, return_exceptions=True)
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


def _announce(server: Server, as_json: bool) -> None:
    settings, url = server.settings, server.storage.backend.url
    infos = server.apps.infos()
    if as_json:
        said = {
            "address": server.address,
            "port": server.port,
            "tls": settings.tls_cert is not None,
            "storage": url,
            "apps": [{"name": info.name, "kind": info.kind, "model": info.model} for info in infos],
            "pid": os.getpid(),
        }
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()
        return
    out = Console(highlight=False, soft_wrap=True)
    security = "mTLS" if settings.tls_client_ca else "TLS" if settings.tls_cert else "no TLS"
    out.print(f"[bold]clew[/] listens on [bold green]{server.address}[/] ({security})", markup=True)
    out.print(f"  storage  {url}", markup=False)
    for info in infos:
        tools = ", ".join(f"{tool.name}{'?' * (tool.name in info.gated)}" for tool in info.tools)
        # A workflow has no model of its own.
        out.print(f"  app      {info.name} ({info.model or info.kind})" + (f": {tools}" if tools else ""), markup=False)
    where = "" if server.port == 50051 else f" --target {server.address}"
    out.print(f"  try      clew chat {infos[0].name}{where}", markup=False)
    sys.stdout.flush()


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        import uvloop  # noqa: PLC0415  not there on Windows
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def _told(error: Any) -> str:
    name = ".".join(map(str, error["loc"]))
    why = str(error["msg"]).removeprefix("Value error, ")
    return f"{name}: {why}" if name else why


def _fail(message: str) -> None:
    for line in message.splitlines():
        sys.stderr.write(f"clew: {line}\n")
    raise typer.Exit(1)
