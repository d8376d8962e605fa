"""Pages, and sizes within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from clew_engine.errors import ArgumentInvalidError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a listing; `next_token` is empty on the last. `version` is the one that the listing was read at, where there is one."""

    items: Sequence[T]
    next_token: str = ""
    version: int = 0


def page_size(asked: int, default: int, most: int) -> int:
    """The size to use: 0 asks for the default, and more than the most is the most."""
    if asked < 0:
        raise ArgumentInvalidError("page_size", "a size is not negative; 0 asks for the default")
    return min(asked or default, most)


def check_limit(limit: int | None) -> None:
    """Raises ArgumentInvalidError for a limit that leaves nothing to list; None is no limit."""
    if limit is not None and limit < 1:
        raise ArgumentInvalidError("limit", "at least 1, or None for all")


def check_offset(offset: int) -> None:
    """Raises ArgumentInvalidError for an offset before the first."""
    if offset < 0:
        raise ArgumentInvalidError("offset", "not negative; newest_first counts from the end")
