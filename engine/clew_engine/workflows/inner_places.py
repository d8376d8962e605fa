"""Places of nodes within workflows that are nodes themselves: `outer/0.inner`, with the number of the inner step. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# A node of a workflow inside, or a static pause at one: what follows the path of the workflow.
INSIDE = re.compile(r"/(\d+)(\.| before | after )([^/:@]+)")


def lost_places(nodes: Mapping[str, Any], recorded: Iterable[str], asked: Iterable[str]) -> list[str]:
    """The paths, without numbers, of inner nodes that a graph does not have (any more).

    `recorded` are places of nodes, and `asked` subjects, in which the name of a step may follow that of its node.
    """
    lost = [_lost(nodes, place, surely=True) for place in recorded] + [
        _lost(nodes, place, surely=False) for place in asked
    ]
    return list(dict.fromkeys(path for path in lost if path))


def _lost(nodes: Mapping[str, Any], place: str, *, surely: bool) -> str:
    """The path of the first node on the way to a place that is not there; empty where all are."""
    found = re.match(r"[^/:@]+", place)
    path, end = (found[0], found.end()) if found else ("", 0)
    here: Any = nodes.get(path)
    while step := INSIDE.match(place, end):
        within: Mapping[str, Any] | None = getattr(getattr(here, "program", None), "nodes", None)
        if within is None and not surely:
            # A step of the node's own, whose name looks like a place.
            return ""
        path, end = f"{path}/{step[3]}", step.end()
        if within is None or step[3] not in within:
            return path
        here = within[step[3]]
    return ""
