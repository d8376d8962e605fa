"""`clew export`: threads with everything, into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import AsJson
from clew_server.cli.databases import DatabaseUrl, on_database, shown_progress, size_text
from clew_server.cli.given_values import not_empty
from clew_server.cli.threads import StatusChoice

if TYPE_CHECKING:
    from clew_engine import Storage
    from clew_engine.archives import Exported

HELP = """Write threads with everything to a file, which `clew import` takes into any other database.

Nobody waits for it, and nothing is changed: a SQLite file is only read, also while its server runs. A thread that runs meanwhile is written as its last
checkpoint left it. A file whose name ends with .gz is compressed; `-` is the standard output. --resume goes on where an export was stopped.

For example:

  clew export --storage sqlite://shop.db shop.jsonl.gz

  clew export --storage sqlite://shop.db --thread ticket-7 - | less
"""


def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file, or `-` for the standard output.")],
    storage: DatabaseUrl = None,
    thread: Annotated[
        list[str] | None, typer.Option(help="Only this thread; may be given several times.", callback=not_empty)
    ] = None,
    app: Annotated[str, typer.Option(help="Only this app's threads.", callback=not_empty)] = "",
    user: Annotated[str, typer.Option(help="Only this user's.", callback=not_empty)] = "",
    status: Annotated[StatusChoice | None, typer.Option(help="Only those that stand so.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant's.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on behind the last whole thread in the file.")] = False,
    as_json: AsJson = False,
) -> None:
    """The command."""
    import sys  # noqa: PLC0415

    to: Any = sys.stdout.buffer if file == "-" else file

    async def work(database: Storage) -> Exported:
        with shown_progress("exporting") as progress:
            return await database.export(
                to,
                threads=thread or (),
                tenant=tenant,
                app=app,
                user_id=user or None,
                status=status.value if status else "",
                resume=resume,
                progress=progress,
            )

    done = on_database(storage, work, read_only=True, as_json=as_json)
    before = f", {done.resumed:,} of them before" if done.resumed else ""
    told = f"exported {done.threads:,} threads{before}, {size_text(done.bytes)}, SHA-256 {done.sha256}"
    # The standard output may be the archive itself.
    typer.echo(_json(done) if as_json else told, err=file == "-")


def _json(done: Exported) -> str:
    import json  # noqa: PLC0415
    from dataclasses import asdict  # noqa: PLC0415

    return json.dumps(asdict(done))
