"""Composed changes equal the changes one by one, and folds keep reads short and bytes few."""

from __future__ import annotations

from functools import reduce
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_storage import DataCorrupt, StateChange
from clew_storage.folds import FULL, Piece, next_merge
from clew_storage.lines import contains, decode_line, encode_line, extend, line_of, truncate
from clew_storage.state_changes import (
    Delta,
    Tail,
    apply,
    apply_delta,
    compose,
    decode_delta,
    delta_of,
    encode_delta,
    splice,
)

KEYS = st.sampled_from(["a", "b", "c", "", "\x00", "ключ"])
VALUES = st.sampled_from([b"1", b"[]", b"[ ]", b" [1, 2] ", b'"["', b"[[1]]", b"null"])
ELEMENTS = st.lists(st.sampled_from([b"1", b"[]", b" 2 ", b'"]"']), max_size=3).map(tuple)
CHANGES = st.builds(
    StateChange,
    replaced=st.dictionaries(KEYS, VALUES, max_size=3),
    appended=st.dictionaries(KEYS, ELEMENTS, max_size=3),
    removed=st.lists(KEYS, max_size=3, unique=True).map(tuple),
)


@given(st.dictionaries(KEYS, VALUES), st.lists(CHANGES, min_size=1, max_size=8), st.randoms())
def test_a_composed_delta_does_what_its_parts_do_in_bytes_and_order(
    state: dict[str, bytes], changes: list[StateChange], random: object
) -> None:
    one_by_one = reduce(apply, changes, state)
    deltas = [delta_of(change) for change in changes]
    while len(deltas) > 1:
        at = random.randrange(len(deltas) - 1)  # type: ignore[attr-defined]
        deltas[at : at + 2] = [decode_delta(encode_delta(compose(deltas[at], deltas[at + 1])))]
    assert list(apply_delta(state, deltas[0]).items()) == list(one_by_one.items())


@given(st.lists(CHANGES, min_size=1, max_size=4))
def test_what_is_encoded_is_decoded(changes: list[StateChange]) -> None:
    delta = reduce(compose, map(delta_of, changes))
    assert decode_delta(encode_delta(delta)) == delta


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_cut_off_change_is_corrupt(cut: int) -> None:
    encoded = encode_delta(Delta(("gone",), {"a": b"12"}))
    with pytest.raises(DataCorrupt):
        apply_delta({}, _whole(decode_delta(encoded[:-cut]), encoded))


def _whole(delta: Delta, encoded: bytes) -> Delta:
    # A cut between two keys leaves a shorter change that is whole in itself; only its row's length would tell.
    if encode_delta(delta) != encoded:
        raise DataCorrupt("cut off")
    return delta


def test_bytes_that_are_no_change_are_corrupt() -> None:
    for garbage in (b"", b"\xff", b"\x01\x05ab", b"\x00\x01a\x07\x00", b"\x01\x01\xff"):
        with pytest.raises(DataCorrupt):
            decode_delta(garbage)


def test_a_tail_goes_before_the_closing_bracket_and_leaves_the_rest() -> None:
    assert splice(b"[1.0 , 2]\n", Tail(b"3")) == b"[1.0 , 2,3]\n"
    assert splice(b"[\n]", Tail(b"3")) == b"[\n3]"
    assert splice(None, Tail(b"")) == b"[]"


@given(st.lists(st.integers(1, 400), min_size=1, max_size=600), st.booleans())
def test_pieces_stay_few_and_bytes_are_written_a_few_times_at_most(sizes: list[int], replacing: bool) -> None:
    pieces: list[Piece] = []
    written = 0
    for count, size in enumerate(sizes, start=1):
        pieces.append(Piece(0, size))
        merge = next_merge(pieces)
        if merge is not None:
            parts = [piece.size for piece in pieces[-merge.count :]]
            merged = Piece(merge.level, max(parts) if replacing else sum(parts))
            pieces[-merge.count :] = [merged]
            written += merged.size
        assert len(pieces) <= 8 * max(1.0, log(count, 8) + 1)
        assert all(piece.level == FULL for piece in pieces[:1] if piece.level > 8)
    assert sum(piece.size for piece in pieces) <= sum(sizes)
    assert written <= (2 + log(len(sizes) + 1, 8)) * sum(sizes)


def test_what_outweighs_the_first_piece_becomes_a_full_copy() -> None:
    assert next_merge([Piece(FULL, 9000), Piece(0, 5000), Piece(0, 3000)]) is None
    merge = next_merge([Piece(FULL, 9000), Piece(0, 5000), Piece(0, 4001)])
    assert merge is not None
    assert (merge.count, merge.level) == (3, FULL)


def test_eight_of_a_level_become_one_of_the_next_at_once_over_levels() -> None:
    pieces = [Piece(FULL, 9000), *[Piece(2, 1)] * 7, *[Piece(1, 1)] * 7, *[Piece(0, 1)] * 8]
    merge = next_merge(pieces)
    assert merge is not None
    assert (merge.count, merge.level) == (22, 3)
    assert next_merge(pieces[:-1]) is None


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_a_line_computed_from_forks_is_the_line_that_was_extended(back: list[int]) -> None:
    lines = {0: ()}
    forks = []
    for version, steps in enumerate(back, start=1):
        parent = max(version - 1 - steps, 1) if version > 1 else 0
        if parent != version - 1:
            forks.append((version, parent))
        lines[version] = extend(lines[parent], version)  # type: ignore[assignment]
    for version, line in lines.items():
        if version:
            assert line_of(version, forks) == line
            assert decode_line(encode_line(line)) == line
            members = [number for number in range(len(back) + 2) if contains(line, number)]
            assert members[-1] == version
            for member in members:
                assert truncate(line, member) == lines[member]
