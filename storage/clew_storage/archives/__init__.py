"""Threads as files: what an archive is made of, how its lines read, and who writes and reads them (docs/archives.md)."""

from clew_storage.archives.files import OutputFile, open_archive, remove_left
from clew_storage.archives.readers import ArchiveCut, ArchivedThread, ArchiveReader
from clew_storage.archives.resuming import CheckOrigin, Resumed, resume
from clew_storage.archives.writers import ArchiveWriter, Output

__all__ = [
    "ArchiveCut",
    "ArchiveReader",
    "ArchiveWriter",
    "ArchivedThread",
    "CheckOrigin",
    "Output",
    "OutputFile",
    "Resumed",
    "open_archive",
    "remove_left",
    "resume",
]
