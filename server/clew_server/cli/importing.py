"""`clew import`: the threads of a file, into a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import AsJson
from clew_server.cli.databases import DatabaseUrl, on_database, shown_progress, size_text
from clew_server.cli.output import print_json

if TYPE_CHECKING:
    from clew_engine import Storage
    from clew_engine.archives import Imported

HELP = """Take the threads of a file that `clew export` wrote into a database.

Each thread comes whole or not at all. A thread that is here already, just as it is in the file, is skipped: an import that was stopped is asked again.
Another one under its id is refused. A file whose hashes are wrong, or that has no end, is refused before anything is written; of `-`, the standard input,
whole threads before the damage are kept. The server of a SQLite file must be stopped for it.

For example:

  clew import --storage postgresql://clew@db/clew shop.jsonl.gz

  clew import --storage postgresql://clew@db/clew shop.jsonl.gz --dry-run
"""


def import_(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What `clew export` wrote, or `-` for the standard input.")
    ],
    storage: DatabaseUrl = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file, say what would be done, do nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The command."""
    import sys  # noqa: PLC0415

    source: Any = sys.stdin.buffer if file == "-" else file

    async def work(database: Storage) -> Imported:
        with shown_progress("importing") as progress:
            return await database.import_(source, dry_run=dry_run, progress=progress)

    done = on_database(storage, work, read_only=dry_run, as_json=as_json)
    if as_json:
        print_json(done)
        return
    verb = "would import" if dry_run else "imported"
    typer.echo(
        f"{verb} {done.imported:,} threads, {done.skipped:,} are here already, {size_text(done.bytes)}, SHA-256 {done.sha256}"
    )
