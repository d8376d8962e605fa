"""How much of each fault test is run, and the figures that it leaves in `build/faults.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# "" in `make test`; "quick": every kind once, in small numbers; "full".
FORM = os.environ.get("CLEW_FAULTS", "")
FULL = FORM == "full"
REPORT = Path(__file__).parents[2] / "build" / "faults.json"
PROMISES = {
    1: "what was acknowledged survives kill -9, and finished calls are not run again",
    2: "what was acknowledged survives a power cut",
    3: "a finished tool call is never started again",
    4: "a once tool runs at most once",
    5: "one writer a thread, no fork",
    6: "versions are gapless, operations linearizable",
    7: "every backend equals the model",
    8: "every mutation has one effect a request id",
    9: "an approval fires once, for what was shown",
    10: "an acknowledged decision is never lost",
    11: "waiting is first come first served",
    12: "delete is final",
    13: "recovery needs no one",
    14: "synchronous replication loses nothing",
    15: "a full disk is refused honestly",
    19: "nothing grows",
    20: "rolling upgrade both ways",
}


@dataclass(frozen=True)
class Figure:
    """One line of the table: how often something was tried, and how often each thing went wrong in it.

    `worst_s` is the longest that it took, where that is measured. `variants` are the broken variants of the product that the same
    check has to catch.
    """

    row: int
    what: str
    tried: int
    lost: int = 0
    reruns: int = 0
    wedged: int = 0
    other: int = 0
    worst_s: float | None = None
    variants: tuple[str, ...] = ()


figures: list[Figure] = []
caught: set[str] = set()


def times(short: int, full: int, least: int = 1) -> int:
    """How often, by the form; the quick one is half of the short one, but `least`, where every kind is to be met."""
    if FORM == "quick":
        return max(least, short // 2)
    return full if FULL else short


def progress(what: str, done: int, total: int) -> None:
    """Say how far the full form has come, which takes long."""
    if FULL:
        print(f"{what}: {done} of {total}", flush=True)


def record(figure: Figure) -> None:
    """Keep a figure for the table."""
    figures.append(figure)


def catch(variant: str) -> None:
    """The check found the harm that this broken variant does."""
    caught.add(variant)


def told() -> dict[str, Any]:
    """What this process has, for the one that makes the table."""
    return {"figures": [asdict(figure) for figure in figures], "caught": sorted(caught)}


def take(told: dict[str, Any]) -> None:
    """Take over what another process has."""
    for each in told["figures"]:
        record(Figure(**{**each, "variants": tuple(each["variants"])}))
    for variant in told["caught"]:
        catch(variant)


def table() -> list[str]:
    """The figures as lines, also written to `build/faults.json`."""
    if not figures:
        return []
    rows = sorted(figures, key=lambda each: each.row)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps([entry(each) for each in rows], indent=1) + "\n")
    width = max(len(each.what) for each in rows)
    head = f"{'row':>4} {'what':<{width}} {'tried':>6} {'lost':>5} {'reruns':>6} {'wedged':>6} {'other':>5} {'worst s':>7}  broken variants"
    return [head, *(line(each, width) for each in rows)]


def line(figure: Figure, width: int) -> str:
    """A line of the table."""
    counts = f"{figure.tried:>6} {figure.lost:>5} {figure.reruns:>6} {figure.wedged:>6} {figure.other:>5}"
    worst = "" if figure.worst_s is None else f"{figure.worst_s:.2f}"
    seen = ", ".join(_with_outcome(figure.variants))
    return f"{figure.row:>4} {figure.what:<{width}} {counts} {worst:>7}  {seen}".rstrip()


def entry(figure: Figure) -> dict[str, Any]:
    """What `build/faults.json` says of a figure."""
    return {
        "promise": f"{figure.row}: {PROMISES.get(figure.row, figure.what)}",
        "cycles": figure.tried,
        "violations": figure.lost + figure.reruns + figure.wedged + figure.other,
        "broken_variant_caught": bool(figure.variants) and set(figure.variants) <= caught,
        "form": FORM or "short",
        **asdict(figure),
    }


def _with_outcome(variants: Iterable[str]) -> Iterable[str]:
    return (f"{variant}: {'caught' if variant in caught else 'not run'}" for variant in variants)
