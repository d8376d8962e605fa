"""`clew migrate`: bring a database's format up to date, as a step of its own before servers start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clew_server.cli.calls import AsJson
from clew_server.cli.databases import NamedDatabaseUrl, database_of, refuse
from clew_server.cli.output import print_json, say

if TYPE_CHECKING:
    from clew_storage import Backend, FormatChange

HELP = """Make the database where there is none, and run the migrations that it has not had.

`clew serve` does so by itself. A step of its own is for servers whose role may not change the schema (postgresql://…?migrate=0), and for deploys
that want it done before. Any number may run at a time; each waits for its turn. A newer format is refused and left as it is.
It says which file or schema that was, and from which format to which it went.

For example:

  clew migrate --storage postgresql://owner@db/clew

  clew migrate --storage sqlite:///var/lib/clew/shop.db
"""


def migrate(
    storage: NamedDatabaseUrl = None,
    timeout: Annotated[
        float, typer.Option(help="How long to wait for others that migrate or use the file, in seconds: 0 to 86,400.")
    ] = 60.0,
    as_json: AsJson = False,
) -> None:
    """The command."""
    import asyncio  # noqa: PLC0415  help needs neither

    from clew_engine import ClewError, Storage  # noqa: PLC0415

    database = database_of(storage, must_be_named=True)

    async def migrated() -> tuple[Backend, FormatChange]:
        handle = Storage(database.url)
        try:
            return handle.backend, await handle.setup(timeout=timeout)
        finally:
            await handle.aclose()

    try:
        backend, change = asyncio.run(migrated())
    except ClewError as error:
        refuse(error, database, as_json=as_json)
    if as_json:
        print_json({"storage": backend.url, **backend.place, "from": change.before, "to": change.now})
    else:
        say(_told(backend, change))


def _told(backend: Backend, change: FormatChange) -> str:
    where = ", ".join([backend.url, *(f"{kind} {name}" for kind, name in backend.place.items())])
    if not change.now:
        return f"{where} has no format to bring up to date: a database in memory begins anew each time"
    if change.before == change.now:
        return f"{where} is up to date: format {change.now}, as before"
    if not change.before:
        return f"{where} is up to date: made with format {change.now}"
    return f"{where} is up to date: brought from format {change.before} to format {change.now}"
