"""Composed keys: a thread's number and a number within it in one integer.

Rows of one thread lie together in the order of writing, and a row costs no index of its own.
"""

from __future__ import annotations

_BITS = 36
_MASK = (1 << _BITS) - 1


def place(thread_no: int, number: int) -> int:
    """The key of a row."""
    return thread_no << _BITS | number


def number_of(key: int) -> int:
    """The number within the thread."""
    return key & _MASK


def bounds(thread_no: int) -> tuple[int, int]:
    """The first and the last key that a thread can have."""
    return place(thread_no, 0), place(thread_no, _MASK)
