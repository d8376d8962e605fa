"""What commands print: tables for people, JSON for programs, one line for an error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# A pipe has no width: a row stays on one line, whatever reads it.
_PIPE_WIDTH = 10_000
_STATUS_STYLES = {
    "completed": "green",
    "suspended": "yellow",
    "pending": "yellow",
    "failed": "red",
    "interrupted": "red",
    "in_progress": "cyan",
    "running": "cyan",
}
# Control characters of a model or a tool must not move the cursor of whoever reads them.
_SHOWN = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\N{REPLACEMENT CHARACTER}"),
}


def console(*, stderr: bool = False) -> Console:
    """Where to print; plain and without line breaks of its own where it is no terminal."""
    from rich.console import Console  # noqa: PLC0415  for those who print

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _PIPE_WIDTH)


def say(text: str) -> None:
    """One line of text."""
    sys.stdout.write(visible(text) + "\n")
    sys.stdout.flush()


def visible(text: str) -> str:
    """Text of others with its control characters made visible; line ends and tabs stay."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def one_line(value: Any, limit: int) -> str:
    """A value in one short line, for people: text as it is, everything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = visible(" ".join(text.split()))
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def moment(milliseconds: int | None) -> str:
    """A time as the user's clock shows it."""
    if not milliseconds:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def status_text(status: str) -> Any:
    """A status in its colour."""
    from rich.text import Text  # noqa: PLC0415

    return Text(status or "-", style=_STATUS_STYLES.get(status, ""))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str) -> None:
    """Rows under headings. A column whose name ends with `>` holds numbers; `empty` is said where there is no row."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(visible(str(cell))) for cell in row))
    if table.row_count:
        _print_trimmed(table)
    else:
        console(stderr=True).print(empty, style="dim")


def print_fields(fields: Mapping[str, Any]) -> None:
    """One thing, a field a line; fields without a value are left out."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in fields.items():
        if value not in ("", None, {}):
            table.add_row(name, value if isinstance(value, Text) else Text(visible(str(value))))
    _print_trimmed(table)


def _print_trimmed(table: Table) -> None:
    """Without the blanks that fill a table's right side up."""
    out = console()
    with out.capture() as captured:
        out.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
    sys.stdout.flush()


def print_json(value: Any) -> None:
    """One JSON value on one line."""
    sys.stdout.write(json.dumps(plain(value), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def plain(value: Any) -> Any:
    """Records as JSON values; bytes are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items() if not isinstance(item, bytes)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


class Told(Protocol):
    """An error with a code, of the client or of the engine."""

    @property
    def code(self) -> str:
        """What kind of error it is."""
        ...

    @property
    def message(self) -> str:
        """What went wrong and what to do next."""
        ...

    @property
    def metadata(self) -> Mapping[str, str]:
        """What it is about."""
        ...


def print_error(error: Told, *, as_json: bool = False) -> None:
    """What went wrong and what to do next, on stderr."""
    if as_json:
        body = {"code": error.code, "message": error.message, "metadata": dict(error.metadata)}
        sys.stderr.write(json.dumps({"error": body}, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"clew: {one_line(error.message, 2000)} ({error.code})\n")
    sys.stderr.flush()
