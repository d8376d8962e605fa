"""`clew migrate`: bring a database's format up to date, as a step of its own before servers start."""

from __future__ import annotations

from typing import Annotated

import typer

from clew_server.cli.calls import AsJson

HELP = """Make the database where there is none, and run the migrations that it has not had.

`clew serve` does so by itself. A step of its own is for servers whose role may not change the schema (postgresql://…?migrate=0), and for deploys
that want it done before. Any number may run at a time; each waits for its turn. A newer format is refused and left as it is.

For example:

  clew migrate --storage postgresql://owner@db/clew

  clew migrate --storage sqlite:///var/lib/clew/shop.db
"""


def migrate(
    storage: Annotated[
        str,
        typer.Option(
            envvar="CLEW_STORAGE", metavar="URL", help="What to bring up to date: postgresql://…, sqlite://FILE."
        ),
    ],
    timeout: Annotated[float, typer.Option(help="How long to wait for others, in seconds.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """The command."""
    import asyncio  # noqa: PLC0415  help needs neither
    import json  # noqa: PLC0415

    from clew_engine import ClewError, Storage  # noqa: PLC0415
    from clew_server.cli.databases import refuse  # noqa: PLC0415

    async def migrated() -> str:
        handle = Storage(storage)
        try:
            await handle.setup(timeout=timeout)
        finally:
            await handle.aclose()
        return handle.backend.url

    try:
        url = asyncio.run(migrated())
    except ClewError as error:
        refuse(error, as_json=as_json)
    typer.echo(json.dumps({"storage": url}) if as_json else f"{url} is up to date")
