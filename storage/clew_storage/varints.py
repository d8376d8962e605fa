"""Unsigned integers in as few bytes as they need: seven bits a byte, the lowest first, the top bit while more follow."""

from __future__ import annotations

from clew_storage.errors import DataCorrupt


def put_varint(out: bytearray, value: int) -> None:
    """Add a number that is not negative."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def put_block(out: bytearray, block: bytes) -> None:
    """Add bytes with their length before them."""
    put_varint(out, len(block))
    out += block


class VarintReader:
    """Reads what was put, in the same order. Raises `DataCorrupt` where the bytes end too soon."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def varint(self) -> int:
        """The next number."""
        value = shift = 0
        while True:
            if self._at >= len(self._data):
                raise DataCorrupt("stored bytes end in the middle of a number")
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def block(self) -> bytes:
        """The next bytes that were put with their length."""
        length = self.varint()
        if self._at + length > len(self._data):
            raise DataCorrupt("stored bytes end in the middle of a block")
        self._at += length
        return self._data[self._at - length : self._at]

    def text(self) -> str:
        """The next block as text."""
        try:
            return self.block().decode()
        except UnicodeDecodeError as error:
            raise DataCorrupt("a stored key is not UTF-8") from error

    @property
    def done(self) -> bool:
        """Whether all was read."""
        return self._at == len(self._data)
