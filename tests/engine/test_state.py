"""State by its parts: keys that are the engine's own, sizes, and the view that authors' code gets."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine.errors import ArgumentInvalidError, StateInvalidError, StateTooLargeError
from clew_engine.state import LazySequence, StateView, check_size, encode_values, parse_state, replacing

VIEW = StateView({"a": b"[1]", "big": b"123456789012345678901234567890"}, [{"role": "user"}], {"step": 1})


def test_no_text_is_no_values() -> None:
    assert parse_state(b"") == {}


@pytest.mark.parametrize("key", ["messages", "_clew"])
def test_the_engines_own_keys_are_refused(key: str) -> None:
    with pytest.raises(ArgumentInvalidError, match=key):
        encode_values({key: 1})
    with pytest.raises(ArgumentInvalidError, match=key):
        parse_state(f'{{"{key}":1}}'.encode())


def test_a_refused_value_is_named() -> None:
    with pytest.raises(StateInvalidError, match=r"state\.'mood'"):
        encode_values({"mood": float("nan")})


@pytest.mark.parametrize("key", ["\ud800", 1, None])
def test_a_key_is_text(key: Any) -> None:
    with pytest.raises(StateInvalidError):
        encode_values({key: 1})


def test_the_size_is_that_of_the_joined_object() -> None:
    values = encode_values({"a": "x" * 90})
    check_size(values, 99)
    with pytest.raises(StateTooLargeError):
        check_size(values, 98)


def test_no_values_are_no_change() -> None:
    assert replacing({}) is None
    change = replacing({"a": b"1"})
    assert change is not None
    assert change.replaced == {"a": b"1"}


def test_a_view_parses_what_is_asked_for_anew_each_time() -> None:
    VIEW["a"].append(2)
    assert VIEW["a"] == [1]
    VIEW["_clew"]["step"] = 7
    assert VIEW["_clew"] == {"step": 1}


def test_a_view_reads_numbers_that_are_larger_than_64_bits() -> None:
    assert VIEW["big"] == 123456789012345678901234567890


def test_a_view_is_a_mapping_that_cannot_be_set() -> None:
    assert list(VIEW) == ["a", "big", "messages", "_clew"]
    assert len(VIEW) == 4
    assert VIEW.get("none") is None
    with pytest.raises(TypeError):
        VIEW["a"] = 1  # type: ignore[index]
    assert repr(VIEW) == "<state: a, big; 1 messages>"


def test_a_lazy_sequence_makes_only_what_is_asked_for() -> None:
    made: list[int] = []

    def make(item: int) -> int:
        made.append(item)
        return item * 10

    lazy = LazySequence(range(1000), make)
    assert (len(lazy), lazy[-1], lazy[1:3]) == (1000, 9990, [10, 20])
    assert made == [999, 1, 2]
