"""How a command works on a database itself, with no server: which one, how far it is, and what becomes of a refusal."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from clew_server.cli.given_values import not_empty
from clew_server.cli.output import console, print_error

if TYPE_CHECKING:
    from clew_engine import ClewError, Storage

T = TypeVar("T")


def _database_url(text: str) -> Any:
    return typer.Option("--storage", envvar="CLEW_STORAGE", metavar="URL", help=text, callback=not_empty)


DatabaseUrl = Annotated[
    str | None,
    _database_url(
        "The database: sqlite://FILE, postgresql://…. Without it: `storage` in clew.toml, where there is one, or the file of your own that `clew serve` takes."
    ),
]
NamedDatabaseUrl = Annotated[
    str | None,
    _database_url(
        "The database: postgresql://…, sqlite://FILE. Without it: `storage` in clew.toml; one of them must name it."
    ),
]

# By the arguments of a Storage that they are.
_OPTIONS = {"url": "--storage", "timeout": "--timeout"}


@dataclass(frozen=True, slots=True)
class Database:
    """The URL of one (None: the user's own file), and who named it."""

    url: str | None
    named_by: str


def database_of(url: str | None, *, must_be_named: bool = False) -> Database:
    """What the option or the environment says before what the file of settings does."""
    if url is not None:
        return Database(url, _OPTIONS["url"])
    from clew_server.settings import CONFIG_FILE, SettingsFileError, storage_in  # noqa: PLC0415  help needs it not

    try:
        found = storage_in()
    except SettingsFileError as error:
        raise typer.BadParameter(str(error)) from None
    if found is None and must_be_named:
        raise typer.BadParameter(
            f"say which database: --storage URL, CLEW_STORAGE, or `storage` in {CONFIG_FILE}",
            param_hint=_OPTIONS["url"],
        )
    return Database(found, f"storage in {CONFIG_FILE}")


def on_database(
    url: str | None, work: Callable[[Storage], Awaitable[T]], *, read_only: bool = False, as_json: bool = False
) -> T:
    """Do the work on the database; what is refused ends the command with one line and exit code 1.

    A SQLite file that is only read may be in use by its server.
    """
    import asyncio  # noqa: PLC0415  help needs neither

    from clew_engine import ClewError, Storage  # noqa: PLC0415
    from clew_storage import for_reading  # noqa: PLC0415

    database = database_of(url)

    async def opened() -> T:
        storage = Storage(for_reading(database.url) if read_only else database.url)
        try:
            return await work(storage)
        finally:
            await storage.aclose()

    try:
        return asyncio.run(opened())
    except ClewError as error:
        refuse(error, database, as_json=as_json)


def refuse(error: ClewError, database: Database, *, as_json: bool) -> NoReturn:
    """End the command with one line and exit code 1; with 2, as what was not understood, where an option of the command is what is wrong."""
    field = error.metadata["field"] if error.code == "argument_invalid" else ""
    if field in _OPTIONS:
        hint = database.named_by if field == "url" else _OPTIONS[field]
        raise typer.BadParameter(error.message.removeprefix(f"{field}: "), param_hint=hint) from None
    print_error(error, as_json=as_json)
    raise typer.Exit(1) from None


@contextmanager
def shown_progress(doing: str) -> Generator[Callable[[int, int], None], None, None]:
    """Threads and bytes so far, on a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda _threads, _size: None
        return
    with console(stderr=True).status(f"{doing} …") as status:
        yield lambda threads, size: status.update(f"{doing} … {threads:,} threads, {size_text(size)}")


def size_text(size: int) -> str:
    """Bytes for people."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return f"{size} B"
