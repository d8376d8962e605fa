"""Whether what came is what a case says: objects may have more keys than are named, lists are as long as they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any


def differences(expected: Any, found: Any, place: str = "") -> list[str]:
    """What is not as expected, each with its place; nothing where all is.

    `{"match": pattern}` stands for a text, `{"any": true}` for anything that is there, `{"contains": [...]}` for a list that has these in this order.
    """
    if isinstance(expected, Mapping):
        if set(expected) == {"any"}:
            return [] if found not in (None, "", [], {}) else [f"{place}: there is nothing"]
        if set(expected) == {"match"}:
            fits = isinstance(found, str) and re.fullmatch(expected["match"], found, re.DOTALL)
            return [] if fits else [f"{place}: {found!r:.300} does not match {expected['match']!r}"]
        if set(expected) == {"contains"}:
            return _contains(expected["contains"], found, place)
        if not isinstance(found, Mapping):
            return [f"{place}: {found!r:.300} is no object"]
        return [
            difference
            for key, each in expected.items()
            for difference in (
                differences(each, found[key], f"{place}.{key}")
                if key in found
                else [f"{place}.{key}: is not there, but {sorted(found)}"]
            )
        ]
    if isinstance(expected, list):
        if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != len(expected):
            return [f"{place}: {found!r:.600} is no list of {len(expected)}"]
        return [
            difference
            for index, (each, one) in enumerate(zip(expected, found, strict=True))
            for difference in differences(each, one, f"{place}[{index}]")
        ]
    same = type(expected) is type(found) and expected == found
    return [] if same else [f"{place}: {found!r:.300}, not {expected!r:.300}"]


def _contains(expected: Sequence[Any], found: Any, place: str) -> list[str]:
    rest = list(found) if isinstance(found, Sequence) else []
    for each in expected:
        while rest and differences(each, rest[0]):
            rest.pop(0)
        if not rest:
            return [f"{place}: {each!r:.200} is not there (in this order) in {found!r:.900}"]
        rest.pop(0)
    return []
