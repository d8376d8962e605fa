"""A state whose arrays grow at their ends: a step that appends copies what is new, and not what is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clew_storage import StateChange
from clew_storage.state_changes import Tail, delta_of, splice


class _Array:
    """An array's bytes and what was appended since. `added` is shared with longer arrays; `count` of its parts are this one's."""

    __slots__ = ("_added", "_count", "base", "size")

    def __init__(self, base: bytes, added: list[bytes], count: int, size: int) -> None:
        self.base = base
        self._added = added
        self._count = count
        self.size = size

    def longer(self, elements: bytes) -> _Array:
        """This one and more."""
        added = self._added if len(self._added) == self._count else self._added[: self._count]
        added.append(elements)
        return _Array(self.base, added, len(added), self.size + len(elements) + 1)

    def joined(self) -> bytes:
        """Its bytes; joined once."""
        if self._count:
            tail = b",".join(filter(None, self._added[: self._count]))
            self.base, self._added, self._count = splice(self.base, Tail(tail)), [], 0
        return self.base


class GrowingState(Mapping[str, bytes]):
    """A state that does not change: `after` makes the next one. A value is joined when it is read."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, bytes | _Array]) -> None:
        self._values = dict(values)

    def after(self, change: StateChange) -> GrowingState:
        """The state after a change, as `clew_storage.state_changes.apply` makes it."""
        made = GrowingState(self._values)
        delta = delta_of(change)
        for key in delta.removed:
            made._values.pop(key, None)
        for key, value in delta.values.items():
            made._values[key] = made._longer(key, value) if isinstance(value, Tail) else value
        return made

    @property
    def size(self) -> int:
        """Bytes of the joined object, or a few more."""
        return 2 + sum(len(key) + 4 + self._length(value) for key, value in self._values.items())

    def start_of(self, key: str) -> bytes | None:
        """The bytes that a value begins with, at least one; nothing is joined for it. None for no such key."""
        value = self._values.get(key)
        return value.base if isinstance(value, _Array) else value

    def __getitem__(self, key: str) -> bytes:
        value = self._values[key]
        return value.joined() if isinstance(value, _Array) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _longer(self, key: str, tail: Tail) -> bytes | _Array:
        before = self._values.get(key)
        if isinstance(before, _Array):
            return before.longer(tail.elements)
        whole = splice(before, tail)
        return _Array(whole, [], 0, len(whole))

    @staticmethod
    def _length(value: bytes | _Array) -> int:
        return value.size if isinstance(value, _Array) else len(value)
