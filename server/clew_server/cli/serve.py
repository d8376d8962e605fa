"""`clew serve`: the agents and workflows of a module or file behind the contract."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clew_server.cli.given_values import not_empty

_TLS = "TLS"
_MORE = "More"


def _text(told: str, *, panel: str | None = None, metavar: str | None = None) -> Any:
    """An option of text, which is not taken for none where it is empty."""
    return typer.Option(help=told, rich_help_panel=panel, metavar=metavar, callback=not_empty)


def serve(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="A file (agents.py), a module (shop.agents), or one of its agents (shop.agents:support).",
        ),
    ],
    storage: Annotated[
        str | None,
        _text(
            "Where threads are kept: sqlite://FILE, postgresql://…, memory://. Without it: a file of your own.",
            metavar="URL",
        ),
    ] = None,
    redis: Annotated[
        str | None, _text("A Redis beside the database, for text across servers and the cache.", metavar="URL")
    ] = None,
    host: Annotated[str | None, _text("The address to listen on: 127.0.0.1 unless you say otherwise.")] = None,
    port: Annotated[
        int | None, typer.Option(help="The port: 50051 unless you say otherwise; 0 takes any free one.")
    ] = None,
    socket: Annotated[Path | None, _text("A Unix socket to listen on instead.")] = None,
    port_file: Annotated[Path | None, _text("Write the port to this file when it is ready.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say what is served in one line of JSON.")] = False,
    tls_cert: Annotated[Path | None, _text("Certificate, PEM.", panel=_TLS)] = None,
    tls_key: Annotated[Path | None, _text("Its key, PEM.", panel=_TLS)] = None,
    tls_client_ca: Annotated[
        Path | None, _text("Serve only clients with a certificate by this authority, PEM.", panel=_TLS)
    ] = None,
    insecure_public: Annotated[
        bool | None,
        typer.Option("--insecure-public", help="Listen beyond this machine without TLS.", rich_help_panel=_TLS),
    ] = None,
    reflection: Annotated[
        bool | None, typer.Option(help="Tell callers the contract; on for this machine alone.", rich_help_panel=_MORE)
    ] = None,
    on_busy: Annotated[
        str | None, _text("What calls do at a busy thread: wait, reject or interrupt.", panel=_MORE)
    ] = None,
    busy_timeout: Annotated[
        float | None, typer.Option(help="How long they wait, in seconds.", rich_help_panel=_MORE)
    ] = None,
    grace: Annotated[
        float | None, typer.Option(help="How long runs may go on after SIGTERM, in seconds.", rich_help_panel=_MORE)
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the address and a database of Postgres.", rich_help_panel=_MORE),
    ] = None,
    recover: Annotated[
        str | None, _text("Runs that died: manual leaves them to a retry, auto takes them up by itself.", panel=_MORE)
    ] = None,
    recover_tries: Annotated[
        int | None,
        typer.Option(help="How many attempts in a row may come to nothing (auto).", rich_help_panel=_MORE),
    ] = None,
    snapshot_key: Annotated[
        list[str] | None,
        _text(
            "Seals snapshots of runs without a thread: 32 bytes in base64; of several the first seals and all open. "
            "Others on this machine see flags: rather set CLEW_SNAPSHOT_KEY.",
            panel=_MORE,
        ),
    ] = None,
    retention_days: Annotated[
        float | None,
        typer.Option(
            help="Delete completed and failed threads that nothing was written to for so many days.",
            rich_help_panel=_MORE,
        ),
    ] = None,
    retention_keep_last: Annotated[
        int | None,
        typer.Option(help="Keep so many checkpoints of a thread, and all its messages.", rich_help_panel=_MORE),
    ] = None,
    log_format: Annotated[str | None, _text("auto, json or console.", panel=_MORE)] = None,
    log_level: Annotated[str | None, _text("debug, info, warning or error.", panel=_MORE)] = None,
    config: Annotated[Path | None, _text("A file of settings; clew.toml where there is one.", panel=_MORE)] = None,
) -> None:
    """Serve agents and workflows over gRPC, until SIGTERM or Ctrl-C. A second one stops at once.

    Every option is also a setting: in the environment (CLEW_PORT=…), or in clew.toml (port = …). Flags go before the environment before the file.
    Settings without an option: redis_prefix, cache_ttl, state_limit, cache_bytes, reader_bytes, heartbeat, stall, call_lease, ping_interval, retention (a table).
    docs/cli.md has all of them.

    For example:

      clew serve examples/support.py

      clew serve shop.agents:support --storage sqlite:///var/lib/clew/shop.db --port 7000
    """
    from clew_server.cli.running import run  # noqa: PLC0415  the server's libraries take a second to import

    flags = {
        "storage": storage,
        "redis": redis,
        "host": host,
        "port": port,
        "socket": socket,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "tls_client_ca": tls_client_ca,
        "insecure_public": insecure_public,
        "reflection": reflection,
        "on_busy": on_busy,
        "busy_timeout": busy_timeout,
        "grace": grace,
        "workers": workers,
        "recover": recover,
        "recover_tries": recover_tries,
        "snapshot_key": snapshot_key or None,
        "retention_days": retention_days,
        "retention_keep_last": retention_keep_last,
        "log_format": log_format,
        "log_level": log_level,
    }
    run(targets, flags, config=config, port_file=port_file, as_json=as_json)
