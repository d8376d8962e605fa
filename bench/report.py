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

`make bench` measures for about half an hour, prints a table and writes `build/bench.json`; `make bench QUICK=1` does the same with fewer rounds, within
5 minutes; `make bench ARGS=--readme` also writes this page. The first run installs the peers that Clew is compared with, which takes
some minutes more.

**The turn**: a user message, a model step that asks for two tools, two no-op tools, a last model step. {text} bytes of new text, {events} events,
5 checkpoints, 4 waits for the disk. The model answers at once. Durability is `synchronous=FULL` and `synchronous_commit=on` in every figure, and the
path is the default one of `Agent` and `clew serve`.

## How to read it

- A value is the median over the rounds; beside it are the smallest and the largest. Machines wander, so a difference below the spread says nothing.
- In each round the floor, Clew in process, Clew over gRPC and the peers take their turns one after the other, and a ratio is taken within a round. The
  server and each peer are processes of their own, and idle while others are measured.
- *Floor*: a bare loop that makes only the writes such a turn needs (5 records, 4 waits, group commit), and nothing else: on a SQLite file with one
  writer, on Postgres with two connections that each write whatever waits in one statement.
- *1 ms disk*: every fsync takes 1 ms, by a small library that is preloaded into all processes, Postgres included, on a file system in memory: what
  changes from run to run is then the program and not the disk. *Real disk*: the one that the checkout lies on. Postgres is a server of the run's own;
  it never runs as root, so where root runs this in a folder that only root can reach, a row says that it was not measured there.
- *Threads* are conversations that take turns side by side, in one process. Each round has new ones.
- *CPU a turn* is that of the process which takes the turns, over gRPC of the server; that of Postgres is in none of them.
- *fsyncs a turn* are all that the process makes, and so are known on SQLite alone. A turn waits for four; at one thread the rest is SQLite writing its
  log back to the file, about three fsyncs for every 1,000 pages.
- *First event* is the time from the call to its first message. That one says that the run has started, and so follows a commit. At 32 threads all of
  them send at once, and it includes the wait for the others on the same cores. The client of the gRPC rounds takes its share of these cores too.
- *Event loop's lag*: how much later than asked the server's loop came back to a model that waits for 3 ms a hundred times, while 32 threads take turns.
- *So many threads*: a database of them, each with a user and metadata, every fourth with messages. *Open watches*: of 100 threads, over ten connections.
- *Goal*: the bound that the design sets; where there is none the field is empty.

## Peers

The same texts and tools with a model that answers at once, in process: none of them has an RPC between, also where Clew over gRPC is held against it.

| peer | how it takes the turn |
| --- | --- |
| LangGraph | a model and a node for tools over its list of messages; its SQLite or Postgres saver, `durability="sync"`; each call is a task of its own |
| DBOS | a workflow of four steps a turn. It knows no conversations, so what was said before costs it nothing. Where Python's SQLite is older than DBOS needs (3.42), one from a wheel |
| 10xgraph | a model and a node for tools, its checkpoint after every step. On SQLite with `synchronous=FULL`, which is not its default; on Postgres with the Redis that it needs, which is the `redis-server` of the machine |

Each has an environment of its own below `.deps/peers`, made on first use with pip from the pinned requirements in `bench/peers`, on `python3.12` or the
Python that `PEER_PYTHON` names; without either, on the one that runs this. One that cannot be installed, does not start or fails has a row that says why, and the
goals that need it have rows without a value. LangGraph and 10xgraph get slower with the length of a thread: in a full run all take equally many turns on
a thread. In a quick run the peers take fewer, which is in their favour, and none on the real disk.

## Figures of {date}, {run}

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


def write_readme(path: Path, figures: Sequence[Figure], machine: Sequence[tuple[str, str]], run: str) -> None:
    """`bench/README.md`; `run` says which run the figures are from."""
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
        run=run,
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
