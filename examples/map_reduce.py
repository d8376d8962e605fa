"""Words counted over many documents: nodes side by side take a share each, and a reducer joins what they found.

    python examples/map_reduce.py [FOLDER]

A share that fails does not undo the others: `retry` reads only what is missing.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypedDict

from clew_engine import StateView, Workflow, WorkflowApp, append, step_sync

MAPPERS = 4


class State(TypedDict, total=False):
    """Paths go in, and the most frequent words come out."""

    documents: list[str]
    counted: Annotated[list[dict[str, int]], append]
    top: list[tuple[str, int]]


def count_words(path: str) -> dict[str, int]:
    """The words of one file, each with how often it comes."""
    return dict(Counter(re.findall(r"\w+", Path(path).read_text(encoding="utf-8").lower())))


def workflow() -> WorkflowApp:
    """`map_0` to `map_3` in one step, then `reduce` when all four are done."""
    flow = Workflow("map_reduce", state=State, description="The most frequent words of some documents.")
    for share in range(MAPPERS):

        def map_share(state: StateView, share: int = share) -> State:
            mine = state["documents"][share::MAPPERS]
            # Each document is a step: what was counted before a failure or a crash is not counted again.
            return {"counted": [step_sync(path, count_words, path) for path in mine]}

        flow.node(map_share, name=f"map_{share}")

    @flow.node
    def reduce(state: StateView) -> State:
        total: Counter[str] = Counter()
        for words in state["counted"]:
            total.update(words)
        return {"top": total.most_common(5)}

    mappers = [f"map_{share}" for share in range(MAPPERS)]
    flow.start(*mappers)
    flow.edge(mappers, "reduce")
    return flow.compile()


def top_words(documents: Iterable[Path]) -> list[tuple[str, int]]:
    """The five most frequent words."""
    result = workflow().thread("count").run_sync({"documents": sorted(map(str, documents))})
    return [(word, number) for word, number in result.state["top"]]


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    if not folder.is_dir():
        raise SystemExit(f"{folder} is no folder")
    for word, number in top_words(path for path in folder.iterdir() if path.suffix in (".py", ".md", ".txt")):
        print(f"{number:6} {word}")
