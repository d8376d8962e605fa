"""A program that exports or imports and kills itself in the middle: `dying.py export|resume|import URL FILE THREADS`, or `part URL FILE PARTS`.

`resume` dies while it copies the threads that it keeps.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from clew_engine import Storage
from clew_storage.archives import ArchivedThread, ArchiveReader, ArchiveWriter, open_archive
from clew_storage.thread_parts import Part


def die() -> None:
    """As from a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """A thread's parts, at which the program dies after so many."""

    def __init__(self, thread: ArchivedThread, parts: int) -> None:
        self._thread = thread
        self._parts = parts

    def __iter__(self) -> Iterator[Part]:
        yield from islice(self._thread, self._parts)
        die()


async def main(verb: str, url: str, file: str, number: int) -> None:
    async with Storage(url) as storage:
        if verb == "export":
            await storage.export(file, progress=lambda threads, _: die() if threads == number else None)
        elif verb == "resume":
            flush = ArchiveWriter.flush

            def flush_or_die(writer: ArchiveWriter) -> None:
                flush(writer)
                if writer.threads == number:
                    die()

            ArchiveWriter.flush = flush_or_die  # type: ignore[assignment,method-assign]
            await storage.export(file, resume=True)
        elif verb == "import":
            await storage.import_(file, progress=lambda threads, _: die() if threads >= number else None)
        else:
            with closing(open_archive(Path(file))) as stream:
                for thread in ArchiveReader(stream, file):
                    with closing(thread):
                        await storage.backend.archive.import_thread(Dying(thread, number))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
