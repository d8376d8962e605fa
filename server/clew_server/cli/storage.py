"""`clew storage`: look at a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import AsJson
from clew_server.cli.databases import DatabaseUrl, on_database, shown_progress, size_text
from clew_server.cli.output import print_fields, print_json, print_table

if TYPE_CHECKING:
    from clew_engine import Storage
    from clew_storage import StorageStats, ThreadSize

storage = typer.Typer(no_args_is_help=True, help="Look at a database.")


@storage.callback()
def _group() -> None:
    """With one command alone, a Typer would be that command."""


@storage.command()
def stats(
    url: DatabaseUrl = None,
    largest: Annotated[int, typer.Option("--largest", "-n", min=0, help="Name that many of the largest threads.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Count threads, and the bytes that they hold, by kind.

    Bytes are those of what was stored (bodies, values, changes of states), not of columns, indexes and free pages: these are in the size of the database.
    Every row is counted and no payload is read. A SQLite file is only read, also while its server runs.

    For example:

      clew storage stats --storage sqlite://shop.db

      clew storage stats --storage postgresql://clew@db/clew --json
    """

    async def work(database: Storage) -> StorageStats:
        with shown_progress("counting"):
            return await database.stats(largest)

    found = on_database(url, work, read_only=True, as_json=as_json)
    if as_json:
        print_json(_plain(found))
        return
    print_fields(
        {
            "threads": f"{found.threads:,}",
            **{_status(status): f"{count:,}" for status, count in found.by_status.items()},
            "database": "" if found.database_bytes is None else size_text(found.database_bytes),
        }
    )
    rows = [
        (kind, f"{amount.rows:,}", size_text(amount.bytes), _share(amount.bytes, found.threads))
        for kind, amount in found.kinds.items()
    ]
    print_table(("kind", "rows>", "bytes>", "a thread>"), rows, empty="")
    if found.largest:
        print_table(("thread", "tenant", "bytes>", "most of it"), map(_largest_row, found.largest), empty="")


def _status(status: str | None) -> str:
    return f"  {status or 'new'}"


def _share(size: int, threads: int) -> str:
    return size_text(size // threads) if threads else ""


def _largest_row(size: ThreadSize) -> tuple[str, str, str, str]:
    most = max(size.kinds.items(), key=lambda each: each[1].bytes, default=None)
    told = f"{most[0]}, {size_text(most[1].bytes)}" if most else ""
    return size.key.thread_id, size.key.tenant, size_text(size.bytes), told


def _plain(found: StorageStats) -> dict[str, Any]:
    def amounts(kinds: Any) -> dict[str, Any]:
        return {str(kind): {"rows": amount.rows, "bytes": amount.bytes} for kind, amount in kinds.items()}

    return {
        "threads": found.threads,
        "by_status": {str(status or "new"): count for status, count in found.by_status.items()},
        "kinds": amounts(found.kinds),
        "largest": [
            {
                "thread_id": size.key.thread_id,
                "tenant": size.key.tenant,
                "bytes": size.bytes,
                "kinds": amounts(size.kinds),
            }
            for size in found.largest
        ],
        "database_bytes": found.database_bytes,
    }
