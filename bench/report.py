"""What a run is shown as: a table on the terminal, and the README."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.figures import Figure
from bench.text import TEXT_BYTES
from bench.turn import EVENTS

_README = """# Benchmarks

`make bench` measures, prints a table and writes `build/bench.json`; `make bench QUICK=1` does the same with fewer rounds, within
5 minutes; `make bench ARGS=--readme` also writes this page.

**The turn**: a user message, a model step that asks for two tools, two no-op tools, a last model step. {text} bytes of new text, {events} events,
5 checkpoints, 4 waits for the disk. The model answers at once. Durability is `synchronous=FULL` in every figure, and the path is the default one of
`Agent` and `clew serve`.

## How to read it

- A value is the median over the rounds; beside it are the smallest and the largest. Machines wander, so a difference below the spread says nothing.
- *Floor*: a bare loop that makes only the writes such a turn needs (5 records, 4 waits, group commit) on a SQLite file, and nothing else. Its rounds
  and the measured ones take turns, and a ratio is taken within a round.
- *1 ms disk*: every fsync takes 1 ms, by a small preloaded library, on a file system in memory: what changes from run to run is then the program and not
  the disk. *Real disk*: the one that the checkout lies on. In process and over gRPC are measured in processes of their own; the client of the gRPC rounds
  is another process than the server and takes its share of the same cores.
- *Threads* are conversations that take turns side by side, in one process.
- *fsyncs a turn* are all that the process makes. A turn waits for four; at one thread the rest is SQLite writing its log back to the file, about three
  fsyncs for every 1,000 pages.
- *First event* is the time from the call to its first message. That one says that the run has started, and so follows a commit. At 32 threads all of
  them send at once, and it includes the wait for the others on the same cores.
- *Goal*: the bound that the design sets; where there is none the field is empty.

## Figures of {date}

{machine}

{figures}
"""


def print_table(figures: Sequence[Figure], title: str) -> None:
    """The figures on the terminal."""
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("figure", overflow="fold")
    for name in ("median", "unit", "smallest", "largest", "goal"):
        table.add_column(name, justify="left" if name == "unit" else "right", no_wrap=True)
    table.add_column("met")
    for figure in figures:
        style = {True: "green", False: "red", None: ""}[figure.met]
        spread = map(shown, figure.spread or ())
        table.add_row(
            figure.name,
            shown(figure.value),
            figure.unit,
            next(spread, ""),
            next(spread, ""),
            _goal(figure),
            _met(figure),
            style=style,
        )
    Console(width=None if Console().is_terminal else 140).print(table)


def write_readme(path: Path, figures: Sequence[Figure], machine: Sequence[tuple[str, str]]) -> None:
    """`bench/README.md`."""
    rows = ["| figure | median | unit | smallest to largest | goal | met |", "| --- | ---: | --- | ---: | ---: | --- |"]
    for figure in figures:
        spread = " to ".join(map(shown, figure.spread or ())) if len(figure.values) > 1 else ""
        rows.append(
            f"| {figure.name} | {shown(figure.value)} | {figure.unit} | {spread} | {_goal(figure)} | {_met(figure)} |"
        )
    text = _README.format(
        text=f"{TEXT_BYTES:,}",
        events=EVENTS,
        date=datetime.now(UTC).date().isoformat(),
        machine="\n".join(f"- {name}: {value}" for name, value in machine),
        figures="\n".join(rows),
    )
    path.write_text(text, encoding="utf-8")


def shown(value: float | None) -> str:
    """With the digits that mean something."""
    if value is None:
        return "not measured"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"


def _goal(figure: Figure) -> str:
    return "" if figure.goal is None else str(figure.goal)


def _met(figure: Figure) -> str:
    return {True: "yes", False: "no", None: ""}[figure.met]
