"""Pages: sizes within bounds, and tokens that fit the listing they came from and no other."""

from __future__ import annotations

import base64

import pytest

from clew_engine.errors import ArgumentInvalidError
from clew_engine.paging import decode_token, encode_token, page_size

LISTING = ("messages", "t")


def test_0_asks_for_the_default_and_more_than_the_most_is_the_most() -> None:
    assert [page_size(asked, 20, 200) for asked in (0, 1, 200, 201, 10**9)] == [20, 1, 200, 200, 200]


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ArgumentInvalidError, match="page_size"):
        page_size(-1, 20, 200)


def test_a_token_gives_its_place_again() -> None:
    token = encode_token(LISTING, (7, "id/with ü"))
    assert decode_token(token, LISTING, (int, str)) == (7, "id/with ü")
    assert token.replace("-", "").replace("_", "").isalnum(), "it stands in a URL as it is"


def test_no_token_is_the_beginning() -> None:
    assert decode_token("", LISTING, (int,)) is None


@pytest.mark.parametrize("other", [("messages", "u"), ("threads", "t"), ("messages", "t", True)])
def test_a_token_of_another_listing_is_refused(other: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        decode_token(encode_token(LISTING, (7,)), other, (int,))


@pytest.mark.parametrize("place", [(-2,), (2**63,), (True,), (1.5,), ("7",), (7, 7), (), (None,)])
def test_a_place_of_another_shape_is_refused(place: tuple[int | str, ...]) -> None:
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        decode_token(encode_token(LISTING, place), LISTING, (int,))


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "é",
        "====",
        "\x00",
        "A" * 10_000,
        "[1,2]",
        *(base64.urlsafe_b64encode(raw).decode() for raw in (b"{}", b"1", b"null", b"[]", b'["a"]', b"[NaN]", b"\xff")),
    ],
    ids=lambda token: ascii(token)[:12],
)
def test_a_forged_token_is_refused(token: str) -> None:
    with pytest.raises(ArgumentInvalidError, match="page_token"):
        decode_token(token, LISTING, (int,))
