"""How a command works on a database itself, with no server: which one, how far it is, and what becomes of a refusal."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from clew_server.cli.output import console, print_error

if TYPE_CHECKING:
    from clew_engine import ClewError, Storage

T = TypeVar("T")
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--storage",
        envvar="CLEW_STORAGE",
        metavar="URL",
        help="The database: sqlite://FILE, postgresql://…. Without it: the file of your own that `clew serve` takes.",
    ),
]

# By the arguments of a Storage that they are.
_OPTIONS = {"url": "--storage", "timeout": "--timeout"}


def on_database(
    url: str | None, work: Callable[[Storage], Awaitable[T]], *, read_only: bool = False, as_json: bool = False
) -> T:
    """Do the work on the database; what is refused ends the command with one line and exit code 1.

    A SQLite file that is only read may be in use by its server.
    """
    import asyncio  # noqa: PLC0415  help needs neither

    from clew_engine import ClewError, Storage  # noqa: PLC0415
    from clew_storage import for_reading  # noqa: PLC0415

    async def opened() -> T:
        storage = Storage(for_reading(url) if read_only else url)
        try:
            return await work(storage)
        finally:
            await storage.aclose()

    try:
        return asyncio.run(opened())
    except ClewError as error:
        refuse(error, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def refuse(error: ClewError, *, as_json: bool) -> NoReturn:
    """End the command with one line and exit code 1; with 2, as what was not understood, where an option of the command is what is wrong."""
    field = error.metadata["field"] if error.code == "argument_invalid" else ""
    if field in _OPTIONS:
        raise typer.BadParameter(error.message.removeprefix(f"{field}: "), param_hint=_OPTIONS[field]) from None
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
