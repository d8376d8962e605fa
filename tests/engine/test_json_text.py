"""Strict JSON: what is refused, what is kept to the byte, and that taking apart and joining agree."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_engine.json_text import MAX_DEPTH, JsonError, encode, join_object, parse_strict, split_object

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
spaces = st.sampled_from(["", " ", "\n\t", "  \r\n"])


@given(values)
def test_what_is_encoded_is_parsed_to_the_same(value: Any) -> None:
    assert parse_strict(encode(value)) == value


@given(values)
def test_the_standard_library_reads_it_alike(value: Any) -> None:
    assert parse_strict(json.dumps(value)) == json.loads(json.dumps(value))


@given(st.dictionaries(texts, values, max_size=5), spaces, spaces)
def test_an_object_taken_apart_and_joined_is_the_same(value: dict[str, Any], before: str, between: str) -> None:
    text = json.dumps(value, separators=("," + between, ":" + between))
    parts = split_object(before + text + before)
    assert list(parts) == list(value)
    assert json.loads(join_object(parts)) == value
    assert {key: json.loads(part) for key, part in parts.items()} == value


def test_values_are_kept_byte_for_byte() -> None:
    text = b'{"a" : 1.0 ,"b":[1, 2 ],\n"c": "\\u00e9" , "d":9007199254740993,"e":-0.0,"f":1E400e}'.replace(
        b"1E400e", b"1E2"
    )
    assert split_object(text) == {
        "a": b"1.0",
        "b": b"[1, 2 ]",
        "c": b'"\\u00e9"',
        "d": b"9007199254740993",
        "e": b"-0.0",
        "f": b"1E2",
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NaN", "not JSON"),
        ("[Infinity]", "not JSON"),
        ("-Infinity", "not JSON"),
        ("1e309", "overflows"),
        ("-1e309", "overflows"),
        ("1" + "0" * 309, "overflows"),
        ("1" + "0" * 5000, "overflows"),
        ('{"a":1,"a":1}', "stands twice"),
        ('{"a":1,"\\u0061":1}', "stands twice"),
        ('"\\ud800"', "surrogate"),
        ('"\\udc00\\ud800"', "surrogate"),
        ("1 2", "more text"),
        ("", "."),
        ("'a'", "."),
        ('"a\nb"', "."),
        ("[1,]", "."),
        ("01", "."),
        ("+1", "."),
        (".5", "."),
        ("[" * 65 + "]" * 65, "deep"),
        ("[" * 100_000, "deep"),
    ],
    ids=lambda value: ascii(value)[:16],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(JsonError, match=why):
        parse_strict(text)


def test_a_surrogate_pair_is_a_character() -> None:
    assert parse_strict('"\\ud83e\\uddf5"') == "🧵"


def test_depth_up_to_the_most_is_fine() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert encode(parse_strict(text)) == text.encode()


def test_brackets_inside_text_are_no_depth() -> None:
    assert parse_strict(json.dumps("[" * 1000 + '"')) == "[" * 1000 + '"'


@pytest.mark.timeout(20)
@pytest.mark.parametrize("end", ["", "\\", '"', '\\"'])
def test_a_text_of_quotes_without_an_end_is_refused_in_no_time(end: str) -> None:
    with pytest.raises(JsonError):
        parse_strict("[" + "[]," * 100 + '"' + '\\"' * 1_500_000 + end)


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), 10**309, "\ud800", b"", object(), {1: 2}, {None: 1}, {1}]
)
def test_what_has_no_form_is_refused(value: Any) -> None:
    for wrapped in (value, [value], {"a": value}):
        with pytest.raises(JsonError):
            encode(wrapped)


def test_a_value_that_holds_itself_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(JsonError, match="deep"):
        encode(cycle)


@pytest.mark.parametrize("text", ["[1]", "1", '"a"', "null", "", "{", '{"a"}', "{} {}"])
def test_what_is_no_object_is_not_taken_apart(text: str) -> None:
    with pytest.raises(JsonError):
        split_object(text)
