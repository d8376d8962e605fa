"""Pages: sizes within bounds, and tokens that only fit the listing they came from."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson

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


def encode_token(listing: Sequence[object], place: Sequence[int | str]) -> str:
    """A token for the place after which the next page begins; `listing` is what was asked for."""
    return base64.urlsafe_b64encode(orjson.dumps([_seal(listing), *place])).decode().rstrip("=")


def decode_token(token: str, listing: Sequence[object], kinds: Sequence[type]) -> tuple[int | str, ...] | None:
    """The place, or None for an empty token. Raises ArgumentInvalidError for one that is not of this very listing."""
    if not token:
        return None
    seal, place = _opened(token)
    if seal != _seal(listing) or [type(part) for part in place] != list(kinds):
        raise ArgumentInvalidError("page_token", "the token is of another listing; ask with the same filters and order")
    if any(isinstance(part, int) and not -1 <= part < 2**62 for part in place):
        raise ArgumentInvalidError("page_token", "take the next_page_token of the page before, unchanged")
    return tuple(place)


def check_token(token: str) -> None:
    """Raises ArgumentInvalidError for what is no token of any listing; empty is none."""
    if token:
        _opened(token)


def _opened(token: str) -> tuple[object, list[int | str]]:
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        seal, *place = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError):
        raise ArgumentInvalidError("page_token", "take the next_page_token of the page before, unchanged") from None
    if not place:
        raise ArgumentInvalidError("page_token", "take the next_page_token of the page before, unchanged")
    return seal, place


def _seal(listing: Sequence[object]) -> int:
    return binascii.crc32(orjson.dumps([str(part) for part in listing]))
