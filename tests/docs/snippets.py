"""Finds the pieces of code in a page of Markdown."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(page: str, language: str) -> list[str]:
    """The page's pieces in a language, in their order. Raises where there is none: then the page or its test is wrong."""
    found = [code for name, code in _FENCE.findall((ROOT / page).read_text(encoding="utf-8")) if name == language]
    assert found, f"{page} has no {language}"
    return found
