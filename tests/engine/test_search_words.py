"""The one normaliser: what is found by what, whatever the case, the accents and the script."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_engine.search_words import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, WORLD!", {"hello", "world"}),
        ("Ça où naïve Åse", {"ca", "ou", "naive", "ase"}),
        ("straße STRASSE", {"strasse"}),
        ("İstanbul", {"istanbul"}),
        ("ﬁne ①②", {"fine", "12"}),
        ("東京タワー", {"東", "京", "タ", "ワ", "ー"}),
        ("ﾀﾜｰ", {"タ", "ワ", "ー"}),
        ("がか", {"か"}),
        ("한국어", {"한", "국", "어"}),
        ("ㅋㅋ", {"ᄏ"}),
        ('100% a_b O\'Neil "quoted" x*', {"100", "a", "b", "o", "neil", "quoted", "x"}),
        ("A\x00B", {"a", "b"}),
        ("10.5", {"10", "5"}),
        ("%", set()),
        ("・、 🧶", set()),
        ("", set()),
    ],
)
def test_words(text: str, words: set[str]) -> None:
    assert words_of(text) == words


def test_texts_are_apart() -> None:
    assert words_of("one", "two") == {"one", "two"}


@given(st.text())
def test_a_text_is_found_by_all_its_words_and_by_what_looks_the_same(text: str) -> None:
    words = words_of(text)
    assert words_of(" ".join(words)) == words
    assert words_of(unicodedata.normalize("NFC", text)) == words_of(unicodedata.normalize("NFD", text)) == words
    assert all(word.isalnum() for word in words)


def test_no_character_is_folded_to_what_is_folded_again() -> None:
    for number in range(sys.maxunicode + 1):
        if not 0xD800 <= number < 0xE000:
            words = words_of(chr(number))
            assert words_of(*words) == words
