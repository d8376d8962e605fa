"""Writes an archive: a header, threads with a hash each, and an end with the hash of it all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

from clew_storage.archives.part_lines import FORMAT, line_of, line_of_part
from clew_storage.thread_parts import Part

Selection = Mapping[str, Any]


class Output(Protocol):
    """Where the bytes go."""

    def write(self, data: bytes, /) -> Any:
        """Take some."""


class ArchiveWriter:
    """Makes the lines at once and keeps them until `flush`, which alone may block."""

    def __init__(self, output: Output, selection: Selection) -> None:
        self._output = output
        self._all = hashlib.sha256()
        self._thread = hashlib.sha256()
        self._pending = bytearray()
        self._parts = 0
        self.threads = 0
        self.size = 0
        self._put(line_of({"clew_archive": FORMAT, "selection": dict(selection)}))

    @property
    def pending(self) -> int:
        """Bytes that wait to be flushed."""
        return len(self._pending)

    @property
    def sha256(self) -> str:
        """Of all lines so far."""
        return self._all.hexdigest()

    def put(self, part: Part) -> None:
        """Add the next part of the thread."""
        self.put_line(line_of_part(part))

    def put_line(self, line: bytes) -> None:
        """Add the next part as it stands in another archive."""
        self._thread.update(line)
        self._parts += 1
        self._put(line)

    def end_thread(self) -> None:
        """The thread is whole."""
        end = {"parts": self._parts, "sha256": self._thread.hexdigest(), "archive_sha256": self.sha256}
        self._put(line_of({"end": end}))
        self._thread, self._parts = hashlib.sha256(), 0
        self.threads += 1

    def end(self) -> None:
        """The archive is whole."""
        self._put(line_of({"end_of_archive": {"threads": self.threads, "sha256": self.sha256}}))

    def flush(self) -> None:
        """Write what is pending."""
        self._output.write(bytes(self._pending))
        self._pending.clear()

    def _put(self, line: bytes) -> None:
        self._all.update(line)
        self._pending += line
        self.size += len(line)
