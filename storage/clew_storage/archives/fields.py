"""The fields of a JSON object, each of the type that is due. Bytes are text where they are UTF-8, and base64 where they are not."""

from __future__ import annotations

from base64 import b64decode, b64encode
from enum import Enum
from typing import Any, TypeVar

import orjson

from clew_storage.errors import DataCorrupt

W = TypeVar("W", bound=Enum)
Payload = str | dict[str, str]


def put_payload(payload: bytes) -> Payload:
    """Bytes as JSON has room for them; every byte comes back."""
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(payload).decode()}


def get_payload(value: Any) -> bytes:
    """The bytes."""
    if isinstance(value, str):
        return value.encode()
    return b64decode(Fields(value).text("base64"), validate=True)


class Fields:
    """One JSON object. Every getter raises `TypeError`, `ValueError` or `KeyError` for what is not as it must be."""

    __slots__ = ("_values",)

    def __init__(self, values: Any) -> None:
        if not isinstance(values, dict):
            raise TypeError(f"an object is due, not {type(values).__name__}")
        self._values = values

    @classmethod
    def of_line(cls, line: bytes) -> Fields:
        """A line of a file. Raises `DataCorrupt` for what is no JSON object."""
        try:
            return cls(orjson.loads(line))
        except (TypeError, ValueError) as error:
            raise DataCorrupt(f"it is no line of an archive ({error})") from error

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def is_null(self, name: str) -> bool:
        """Whether it is null."""
        return self._values[name] is None

    def fields(self, name: str) -> Fields:
        """An object."""
        return Fields(self._values[name])

    def mapping(self, name: str) -> dict[str, Any]:
        """An object as it is."""
        return _of(dict, name, self._values[name])

    def text(self, name: str) -> str:
        """Text."""
        return _of(str, name, self._values[name])

    def number(self, name: str) -> int:
        """A whole number."""
        return _of(int, name, self._values[name])

    def number_or_none(self, name: str) -> int | None:
        """A whole number, or null."""
        return None if self._values[name] is None else self.number(name)

    def payload(self, name: str) -> bytes:
        """Bytes."""
        return get_payload(self._values[name])

    def payload_or_none(self, name: str) -> bytes | None:
        """Bytes, or null."""
        return None if self._values[name] is None else self.payload(name)

    def word(self, name: str, words: type[W]) -> W:
        """One of several words."""
        return words(self._values[name])

    def rows(self, name: str) -> list[Any]:
        """A list."""
        return _of(list, name, self._values[name])


T = TypeVar("T")


def _of(kind: type[T], name: str, value: Any) -> T:
    # True is a whole number in Python.
    if type(value) is not kind:
        raise TypeError(f"{name} is to be of the kind {kind.__name__}")
    return value
