"""Strict JSON: what every backend can keep exactly, and nothing else. Bytes are kept as sent, never encoded anew."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

MAX_DEPTH = 64
# A string that never ends is one token too: tried anew from each quote in it, it would take the square of its length.
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonError(ValueError):
    """Why a text is not JSON that can be kept."""


def parse_strict(text: bytes | str) -> Any:
    """The value of a JSON text. Raises JsonError on NaN, infinities, numbers over a double, duplicate keys, lone surrogates, depth over 64."""
    decoded = _checked(text)
    try:
        value, end = _DECODER.raw_decode(decoded, _skip(decoded, 0))
    except (ValueError, RecursionError) as error:
        raise JsonError(_why(error)) from None
    if _skip(decoded, end) != len(decoded):
        raise JsonError("more text after the value")
    _refuse_lone_surrogates(decoded, value)
    return value


def parse_stored(text: bytes | str) -> Any:
    """The value of a text that was checked when it was stored: integers of any size stay what they are."""
    return json.loads(text)


def split_object(text: bytes | str) -> dict[str, bytes]:
    """A JSON object as its top-level keys with the bytes of each value, as strict as `parse_strict`."""
    decoded = _checked(text)
    place = _skip(decoded, 0)
    if decoded[place : place + 1] != "{":
        raise JsonError("a JSON object is needed")
    whole = parse_strict(decoded)
    parts: dict[str, bytes] = {}
    place = _skip(decoded, place + 1)
    while decoded[place] != "}":
        key, place = _DECODER.raw_decode(decoded, place)
        start = _skip(decoded, _skip(decoded, place) + 1)
        _, end = _DECODER.raw_decode(decoded, start)
        parts[key] = decoded[start:end].encode()
        place = _skip(decoded, end)
        if decoded[place] == ",":
            place = _skip(decoded, place + 1)
    assert len(parts) == len(whole)
    return parts


def join_object(parts: Mapping[str, bytes]) -> bytes:
    """The object that `split_object` took apart, its values byte for byte."""
    return b"{" + b",".join(encode(key) + b":" + value for key, value in parts.items()) + b"}"


def encode(value: Any, *, around: int = 0) -> bytes:
    """Compact JSON of a Python value. Raises JsonError where `parse_strict` would, and on what JSON has no form for.

    `around` is how deep the value will stand in another one.
    """
    try:
        _refuse_deep(value, MAX_DEPTH - around)
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise JsonError("text with a lone surrogate") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise JsonError(_why(error)) from None


def _checked(text: bytes | str) -> str:
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        decoded.encode()
    except UnicodeError:
        raise JsonError("not UTF-8 text") from None
    depth = 0
    for token in _TOKENS.finditer(decoded):
        mark = token[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise JsonError(f"nested more than {MAX_DEPTH} deep")
        elif mark in "]}":
            depth -= 1
    return decoded


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match
    return match.end()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {twice!r} stands twice")
    return value


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JsonError(f"the number {text[:40]} overflows a double")
    return value


def _integer(text: str) -> int:
    if len(text) > 309:
        raise JsonError(f"the number {text[:40]}… overflows a double")
    value = int(text)
    try:
        float(value)
    except OverflowError:
        raise JsonError(f"the number {text[:40]}… overflows a double") from None
    return value


def _constant(name: str) -> Any:
    raise JsonError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_number, parse_int=_integer, parse_constant=_constant)


def _refuse_lone_surrogates(text: str, value: Any) -> None:
    if _SURROGATE.search(text) is None:
        return
    try:
        for leaf in _texts(value):
            leaf.encode()
    except UnicodeEncodeError:
        raise JsonError("text with a lone surrogate") from None


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _refuse_deep(value: Any, left: int) -> None:
    if isinstance(value, dict | list | tuple):
        if left == 0:
            raise JsonError(f"nested more than {MAX_DEPTH} deep")
        for inner in value.values() if isinstance(value, dict) else value:
            _refuse_deep(inner, left - 1)
        if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
            raise JsonError("object keys must be strings")
    elif isinstance(value, int) and not isinstance(value, bool):
        _refuse_huge(value)


def _refuse_huge(value: int) -> None:
    try:
        float(value)
    except OverflowError:
        raise JsonError("a number that overflows a double") from None


def _why(error: BaseException) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)
