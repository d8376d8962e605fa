"""`clew retention`: old threads are deleted, and long ones trimmed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import aclosing, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import AsJson
from clew_server.cli.databases import NamedDatabaseUrl, database_of, refuse
from clew_server.cli.given_values import not_empty

if TYPE_CHECKING:
    from clew_engine import ClewError, Retention, Retired

HELP = """Delete threads that nothing was written to for long, and trim long ones.

Nobody is asked: look at what would go with --dry-run, which lists exactly that. A thread that somebody uses, or that waits for a person, is never
deleted. --keep-last trims those that stay: their messages and the newest checkpoints stay, older checkpoints go. On Postgres servers may be at work
meanwhile. A SQLite file must not be served: its server does the same by itself, where its settings say so (retention_days, retention_keep_last).

For example:

  clew retention --storage postgresql://clew@db/clew --older-than 30d --dry-run

  clew retention --storage sqlite:///var/lib/clew/shop.db --older-than 2w --status completed --keep-last 100
"""
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_AGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhdw])")
_DELETABLE = ("completed", "failed")
_FLAGS = {
    "retention.delete_after": "--older-than",
    "retention.keep_last": "--keep-last",
    "retention.apps": "--app",
    "retention.users": "--user",
}


def retention(
    storage: NamedDatabaseUrl = None,
    older_than: Annotated[
        str,
        typer.Option(
            metavar="AGE",
            help="Delete what nothing was written to for so long, in s, m, h, d or w: 90s, 12h, 30d, 8w. With 0s whatever is at rest goes, however new.",
            callback=not_empty,
        ),
    ] = "",
    status: Annotated[
        str, typer.Option(metavar="LIST", help="Delete only what stands so: completed, failed, or both.")
    ] = ",".join(_DELETABLE),
    interrupted: Annotated[
        bool, typer.Option("--interrupted", help="Also delete threads whose run was cut off by a crash.")
    ] = False,
    app: Annotated[list[str] | None, typer.Option(help="Only this app's; may be repeated.", callback=not_empty)] = None,
    user: Annotated[
        list[str] | None, typer.Option(help="Only this user's; may be repeated.", callback=not_empty)
    ] = None,
    keep_last: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the newest N checkpoints of each thread.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """The command."""
    import asyncio  # noqa: PLC0415  help needs none of it

    from clew_engine import ClewError  # noqa: PLC0415

    if not older_than and keep_last is None:
        raise typer.BadParameter("say what may go: --older-than AGE, --keep-last N, or both")
    policy = _policy(older_than, status, app or [], user or [], keep_last, interrupted=interrupted)
    database = database_of(storage, must_be_named=True)
    try:
        asyncio.run(_retire(database.url, policy, dry_run=dry_run, as_json=as_json))
    except ClewError as error:
        refuse(_told(error), database, as_json=as_json)


def _policy(
    older_than: str, status: str, apps: list[str], users: list[str], keep_last: int | None, *, interrupted: bool
) -> Retention:
    from clew_engine import Retention  # noqa: PLC0415
    from clew_engine.errors import ArgumentInvalidError  # noqa: PLC0415

    wanted = [word.strip() for word in status.split(",") if word.strip()]
    if not wanted:
        raise typer.BadParameter(f"name one of {', '.join(_DELETABLE)}, or both", param_hint="--status")
    if unknown := [word for word in wanted if word not in _DELETABLE]:
        raise typer.BadParameter(
            f"{unknown[0]!r} is none of {', '.join(_DELETABLE)} (those whose run was cancelled count as failed); threads that are suspended or at work are never "
            "deleted, and those whose run was cut off with --interrupted alone",
            param_hint="--status",
        )
    if interrupted:
        wanted.append("interrupted")
    after = dict.fromkeys(wanted, _seconds(older_than)) if older_than else {}
    try:
        return Retention(delete_after=after, keep_last=keep_last, apps=apps, users=users)
    except ArgumentInvalidError as error:
        field = error.metadata["field"]
        raise typer.BadParameter(error.message.removeprefix(f"{field}: "), param_hint=_FLAGS[field]) from None


def _seconds(age: str) -> float:
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise typer.BadParameter(
            f"{age!r} is no age; a number and its unit are (s, m, h, d or w): 90s, 12h, 30d, 8w; 0s is any age",
            param_hint="--older-than",
        )
    return float(found[1]) * _UNITS[found[2]]


async def _retire(url: str | None, policy: Retention, *, dry_run: bool, as_json: bool) -> None:
    from clew_engine import Storage  # noqa: PLC0415
    from clew_server.cli.output import print_json, print_table, say  # noqa: PLC0415
    from clew_storage import for_existing  # noqa: PLC0415

    rows: list[tuple[Any, ...]] = []
    deleted = trimmed = checkpoints = 0
    async with Storage(for_existing(url)) as handle, aclosing(handle.retire(policy, dry_run=dry_run)) as found:
        async for each in _with_progress(found):
            deleted, trimmed = deleted + (not each.oldest_version), trimmed + bool(each.oldest_version)
            checkpoints += each.checkpoints
            if as_json:
                action = "trim" if each.oldest_version else "delete"
                print_json({"action": action, **_fields(each), "dry_run": dry_run})
            else:
                rows.append(_row(each, dry_run=dry_run))
    if as_json:
        return
    columns = ("thread", "app", "user", "status", "updated", "what", "checkpoints>")
    print_table(columns, rows, empty="nothing is old or long enough to go")
    if rows:
        would = "would be " if dry_run else ""
        say(f"{deleted} {would}deleted, {trimmed} {would}trimmed, {checkpoints} checkpoints")


async def _with_progress(found: AsyncIterator[Retired]) -> AsyncIterator[Retired]:
    """What is found, with a count of it on a terminal."""
    from clew_server.cli.output import console  # noqa: PLC0415

    screen, count = console(stderr=True), 0
    with screen.status("looking …") if screen.is_terminal else nullcontext() as shown:
        async for each in found:
            count += 1
            if shown is not None:
                shown.update(f"{count} threads")
            yield each


def _fields(retired: Retired) -> dict[str, Any]:
    from clew_server.cli.output import plain  # noqa: PLC0415

    fields: dict[str, Any] = plain(retired)
    return fields


def _row(retired: Retired, *, dry_run: bool) -> tuple[Any, ...]:
    from clew_server.cli.output import moment, status_text  # noqa: PLC0415

    if retired.oldest_version:
        what = f"{'to be trimmed' if dry_run else 'trimmed'} to version {retired.oldest_version}"
    else:
        what = "to be deleted" if dry_run else "deleted"
    return (
        retired.thread_id,
        retired.app,
        retired.user_id,
        status_text(retired.status),
        moment(retired.updated_at_ms),
        what,
        retired.checkpoints,
    )


def _told(error: ClewError) -> ClewError:
    """The error, with what to do about old threads where a server owns the file."""
    from clew_engine.errors import StorageUnavailableError  # noqa: PLC0415
    from clew_storage import StorageInUse  # noqa: PLC0415

    owned = error.__cause__
    if not isinstance(owned, StorageInUse):
        return error
    owner = f"process {owned.pid}" if owned.pid else "another process"
    return StorageUnavailableError(
        f"{owned.path} is in use by {owner}; a server lets old threads go by itself where its settings say so (retention_days, "
        "retention_keep_last); set them there, or stop it first"
    )
