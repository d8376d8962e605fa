"""What a test notes of what was done."""

from __future__ import annotations

from typing import Any


def noted(did: list[Any], what: Any, value: Any = None) -> Any:
    """Note it, and give the value."""
    did.append(what)
    return value
