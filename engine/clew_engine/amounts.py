"""Times and counts that somebody sets: numbers, and none that a clock or the contract cannot hold."""

from __future__ import annotations

from typing import Any

# What a Duration and the counts of the contract hold at most; the first is 10,000 years.
LONGEST_S = 315_576_000_000
# The longest that a question to a person may wait: 100 years, which every calendar can show.
LONGEST_TTL_S = 3_155_760_000
# The longest that other processes are waited for: a day.
LONGEST_WAIT_S = 86_400
MOST_STEPS = (1 << 31) - 1
MOST_TOKENS = (1 << 63) - 1
LONG_ENOUGH = f"a number of seconds over 0 (and at most {LONGEST_TTL_S:,}), or None for ever,"


def is_number(value: Any, *, whole: bool = False) -> bool:
    """Whether it is one, and no switch. A nan and the infinities are numbers too; `is_time` takes none of them."""
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


def is_time(value: Any, most_s: float = LONGEST_S) -> bool:
    """Whether these are seconds, more than none and at most so many."""
    return is_number(value) and 0 < value <= most_s
