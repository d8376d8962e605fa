"""Strict JSON: what every backend can keep exactly, and nothing else. Bytes are kept as sent, never encoded anew."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

MAX_DEPTH = 64
# Possessive, and a string without an end is one too (it would be tried anew from each quote in it): no text takes longer than its length.
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonError(ValueError):
    """Why a text is not JSON that can be kept."""


def parse_strict(text: bytes | str) -> Any:
    """The value of a JSON text. Raises JsonError on NaN, infinities, numbers over a double, duplicate keys, lone surrogates, depth over 64."""
    decoded = _checked(text)
    try:
        value, end = _decoder(decoded).raw_decode(decoded, _skip(decoded, 0))
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
    try:
        parts = _parts(decoded)
    except (ValueError, RecursionError) as error:
        raise JsonError(_why(error)) from None
    if _SURROGATE.search(decoded):
        parse_strict(decoded)
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


def _parts(text: str) -> dict[str, bytes]:
    parts: dict[str, bytes] = {}
    decoder = _decoder(text)
    place = _skip(text, 0)
    if text[place : place + 1] != "{":
        raise JsonError("a JSON object is needed")
    place = _skip(text, place + 1)
    more = text[place : place + 1] != "}"
    while more:
        key, place = _key(text, place)
        if key in parts:
            raise JsonError(f"the key {key!r} stands twice")
        start = _skip(text, place)
        _, end = decoder.raw_decode(text, start)
        parts[key] = text[start:end].encode()
        place = _skip(text, end)
        mark = text[place : place + 1]
        if mark not in (",", "}"):
            raise JsonError(f"a comma or the object's end is needed at character {place}")
        more = mark == ","
        place = _skip(text, place + 1) if more else place
    if _skip(text, place + 1) != len(text):
        raise JsonError("more text after the value")
    return parts


def _key(text: str, place: int) -> tuple[str, int]:
    """A key and the place after its colon."""
    if text[place : place + 1] != '"':
        raise JsonError(f"a key in double quotes is needed at character {place}")
    key, end = _PLAIN.raw_decode(text, place)
    end = _skip(text, end)
    if text[end : end + 1] != ":":
        raise JsonError(f"a colon is needed at character {end}")
    return key, end + 1


def _checked(text: bytes | str) -> str:
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        decoded.encode()
    except UnicodeError:
        raise JsonError("not UTF-8 text") from None
    if decoded.count("[") + decoded.count("{") > MAX_DEPTH and _is_deep(decoded):
        raise JsonError(f"nested more than {MAX_DEPTH} deep")
    return decoded


def _is_deep(text: str) -> bool:
    """Whether brackets are nested too deep: each round takes the innermost layer away. What does not pair is left to the parser."""
    marks = _STRINGS.sub("", text).encode().translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        fewer = marks.replace(b"[]", b"")
        if not fewer or fewer == marks:
            return False
        marks = fewer
    return True


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


_CAREFUL = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_number, parse_int=_integer, parse_constant=_constant)
# Where no number can overflow, none is looked at twice.
_PLAIN = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)
_HUGE = re.compile(r"[0-9]{300}|[eE]\+?0*[1-9][0-9]{2}")


def _decoder(text: str) -> json.JSONDecoder:
    return _CAREFUL if _HUGE.search(text) else _PLAIN


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
