"""What `export` and `import_` of a Storage take and give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from clew_engine.errors import ArgumentInvalidError, StorageFullError
from clew_engine.field_rules import word_of
from clew_engine.ids import check_id
from clew_storage import Status, ThreadFilter

ArchiveFile: TypeAlias = str | Path | BinaryIO
# Told again and again, with the whole threads and the bytes of their lines so far.
Progress: TypeAlias = Callable[[int, int], None]
_DISK_FULL = 28


@dataclass(frozen=True, slots=True)
class Exported:
    """What an archive has: `threads` of which `resumed` were in it before, `bytes` of its lines (before they are compressed), and their hash."""

    threads: int
    resumed: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an archive's threads: `imported` (with `dry_run`: would be), or `skipped` since they were here already, just as they are."""

    imported: int
    skipped: int
    bytes: int
    sha256: str
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """Which threads to export; None and empty mean any."""

    tenant: str | None
    threads: tuple[str, ...]
    where: ThreadFilter

    def told(self) -> dict[str, Any]:
        """As it stands in the archive."""
        wanted = {
            "tenant": self.tenant,
            "threads": list(self.threads) or None,
            "app": self.where.app,
            "user_id": self.where.user_id,
            "status": self.where.status and self.where.status.value,
        }
        return {name: value for name, value in wanted.items() if value is not None}


def selection_of(
    tenant: str | None, threads: tuple[str, ...], app: str, user_id: str | int | None, status: str
) -> Selection:
    """What a caller asked for. Raises ArgumentInvalidError and IdInvalidError."""
    where = ThreadFilter(
        user_id=None if user_id is None else str(user_id) or None,
        app=app or None,
        status=word_of(Status, status, "status"),
    )
    if threads and where != ThreadFilter():
        raise ArgumentInvalidError("threads", "threads are named, or chosen by app, user and status, and not both")
    return Selection(tenant, tuple(sorted({check_id(each, "threads") for each in threads})), where)


def file_error(path: object, error: OSError) -> ArgumentInvalidError | StorageFullError:
    """What a caller is told of a file that cannot be used."""
    if error.errno == _DISK_FULL:
        return StorageFullError(
            f"the disk is full under {path}; make room, and go on with the same export (`--resume`, resume=True)"
        )
    if isinstance(error, FileExistsError):
        return ArgumentInvalidError(
            "file", f"{path} exists; name another file, or go on with it where an export was stopped (--resume)"
        )
    return ArgumentInvalidError("file", f"{path} cannot be used ({error.strerror or error}); name another file")
