"""Reads an archive from its beginning to its end, and lets nothing pass that is not what was written."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from clew_storage.archives.fields import Fields
from clew_storage.archives.part_lines import FORMAT, key_of_line, line_of, part_of_line
from clew_storage.errors import DataCorrupt
from clew_storage.records import ThreadKey
from clew_storage.thread_parts import Part, ThreadPart, in_order

# A line holds a checkpoint with its messages. What is longer was not written by a writer of archives.
_LONGEST_LINE = 256 << 20
# As a writer begins the first line.
_BEGINNING = b'{"clew_archive":'
# As gzip begins a file.
_COMPRESSED = b"\x1f\x8b"
# What of a thread is kept in memory while its hash is found out; the rest waits on the disk.
_IN_MEMORY = 1 << 20


class ArchiveCut(DataCorrupt):
    """An archive ends before its end, as one does whose export was stopped."""


class ArchivedThread:
    """One whole thread whose hash is right. Its parts can be gone through again and again, until it is closed."""

    def __init__(self, name: str, first_line: int, key: ThreadKey, spool: IO[bytes]) -> None:
        self.key = key
        self._name = name
        self._first_line = first_line
        self._spool = spool

    @property
    def head(self) -> ThreadPart:
        """Its first part."""
        first = next(iter(self))
        assert isinstance(first, ThreadPart)
        return first

    def close(self) -> None:
        """Let it go."""
        self._spool.close()

    def lines(self) -> Iterator[bytes]:
        """The parts as they stand in the file."""
        self._spool.seek(0)
        # Not `yield from`, which closes the file when the reading is left in the middle.
        for line in self._spool:  # noqa: UP028
            yield line

    def __iter__(self) -> Iterator[Part]:
        """Raises `DataCorrupt` for what was never a thread, whatever its hash."""
        number = self._first_line
        parts = in_order(part_of_line(line, self.key) for line in self.lines())
        while True:
            try:
                part = next(parts, None)
            except DataCorrupt as error:
                raise DataCorrupt(f"{self._name}, line {number}: {error}") from error
            if part is None:
                return
            yield part
            number += 1


class ArchiveReader:
    """The threads of an archive, one after the other. Raises `DataCorrupt` with the place, and `ArchiveCut` where it ends too soon."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._line = 0
        self._threads = 0
        self._size = 0
        self._all = hashlib.sha256()
        self.selection: dict[str, Any] = {}
        self._read_header()

    @property
    def threads(self) -> int:
        """How many whole threads were read."""
        return self._threads

    @property
    def size(self) -> int:
        """Bytes of all lines read so far."""
        return self._size

    @property
    def sha256(self) -> str:
        """Of all lines read so far."""
        return self._all.hexdigest()

    def __iter__(self) -> Iterator[ArchivedThread]:
        while not (line := self._next_line()).startswith(b'{"end_of_archive"'):
            spool = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - it goes on with the thread
            try:
                thread = self._read_thread(line, spool)
            except BaseException:
                spool.close()
                raise
            yield thread
        self._expect(line, {"end_of_archive": {"threads": self._threads, "sha256": self.sha256}}, "threads are missing")
        self._all.update(line)
        rest = self._read_line()
        if rest is None:
            raise self._cut()
        if rest:
            raise self._damaged("there is more after the end of the archive")

    def _read_header(self) -> None:
        line = self._next_line()
        try:
            fields = Fields.of_line(line)
            version, self.selection = fields.number("clew_archive"), dict(fields.mapping("selection"))
        except (DataCorrupt, KeyError, TypeError):
            raise self._other_file(line) from None
        if version != FORMAT:
            raise self._damaged(f"the archive has format {version}, and this program reads {FORMAT}; use a newer clew")
        self._all.update(line)

    def _read_thread(self, line: bytes, spool: IO[bytes]) -> ArchivedThread:
        first = self._line
        try:
            key = key_of_line(Fields.of_line(line))
        except DataCorrupt as error:
            raise self._damaged(str(error)) from error
        digest = hashlib.sha256()
        parts = 0
        while not line.startswith(b'{"end"'):
            if parts and line.startswith((b'{"thread"', b'{"end_of_archive"')):
                raise self._damaged(f"thread {key.thread_id!r}, which begins in line {first}, has no end")
            digest.update(line)
            self._all.update(line)
            spool.write(line)
            parts += 1
            line = self._next_line()
        end = {"parts": parts, "sha256": digest.hexdigest(), "archive_sha256": self.sha256}
        self._expect(
            line, {"end": end}, f"thread {key.thread_id!r}, lines {first} to {self._line}, or what is before it"
        )
        self._all.update(line)
        self._threads += 1
        return ArchivedThread(self._name, first, key, spool)

    def _expect(self, line: bytes, values: dict[str, Any], what: str) -> None:
        if line != line_of(values):
            raise self._damaged(f"{what}: this is not what was written (the hashes differ)")

    def _next_line(self) -> bytes:
        line = self._read_line() or b""
        self._line += 1
        self._size += len(line)
        if not line.endswith(b"\n"):
            if len(line) == _LONGEST_LINE:
                raise self._damaged("the line is longer than any of an archive")
            raise self._cut() if self._line > 1 else self._cut_at_the_beginning(line)
        return line

    def _read_line(self) -> bytes | None:
        """A line as it is; empty at the end, and None where compressed bytes break off."""
        try:
            return self._stream.readline(_LONGEST_LINE)
        except EOFError:
            return None
        except (zlib.error, gzip.BadGzipFile) as error:
            # Where in a line it breaks is not known, nor what the line would have been.
            place = f"{self._name}, after line {self._line}" if self._line else self._name
            raise DataCorrupt(f"{place}: it cannot be decompressed ({error})") from error

    def _cut(self) -> ArchiveCut:
        return ArchiveCut(
            f"{self._name} ends in line {self._line}, after {self._threads} whole threads: it was cut off, or its export was "
            "stopped; go on with `clew export --resume`, or make a new one"
        )

    def _cut_at_the_beginning(self, line: bytes) -> DataCorrupt:
        """What ends in the first line may be an archive, nothing at all, or somebody's file that an export must not take for its own."""
        if not line:
            return ArchiveCut(
                f"{self._name} ends before the first line of an archive: name a file that `clew export` wrote, or make one"
            )
        if line.startswith(_BEGINNING) or _BEGINNING.startswith(line):
            return self._cut()
        return self._other_file(line)

    def _other_file(self, line: bytes) -> DataCorrupt:
        if line.startswith(_COMPRESSED):
            return self._damaged(
                "it is compressed by gzip; unpack a stream on its way (`gunzip -c`), and name a file so that it ends with .gz"
            )
        return self._damaged(
            "it is no archive of clew, whose first line says `clew_archive`; name a file that `clew export` wrote"
        )

    def _damaged(self, what: str) -> DataCorrupt:
        return DataCorrupt(f"{self._name}, line {self._line}: {what}")
