"""Pages: sizes within bounds."""

from __future__ import annotations

import pytest

from clew_engine.errors import ArgumentInvalidError
from clew_engine.paging import page_size


def test_0_asks_for_the_default_and_more_than_the_most_is_the_most() -> None:
    assert [page_size(asked, 20, 200) for asked in (0, 1, 200, 201, 10**9)] == [20, 1, 200, 200, 200]


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ArgumentInvalidError, match="page_size"):
        page_size(-1, 20, 200)
