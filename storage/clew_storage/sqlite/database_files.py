"""What can be said of a database file before SQLite opens it, so that a wrong one is refused and left as it is."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from clew_storage.errors import StorageRefused

_HEADER = b"SQLite format 3\x00"
_ROOM = 1 << 20
_MOUNTS = Path("/proc/mounts")
# File systems whose locks or write order cannot be relied on from several machines.
_NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs",
    "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "pvfs2", "smb3", "smbfs",
}  # fmt: skip


def check_file(path: Path, *, read_only: bool, may_make: bool, allow_network_fs: bool) -> None:
    """Raise `StorageRefused`, with what to do, for a file that cannot be this storage's. It may be missing where it may be made, or empty."""
    if not may_make and not path.exists():
        raise StorageRefused(
            f"{path} does not exist; name the file of a database that is there, or make one: clew migrate --storage sqlite://{path}"
        )
    if not path.parent.is_dir():
        raise StorageRefused(f"the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise StorageRefused(f"{path} is a folder; name a file in it: sqlite://{path / 'clew.db'}")
    if path.exists() and not path.is_file():
        raise StorageRefused(f"{path} is no regular file (a device, a socket or a pipe); name a file: sqlite://PATH")
    if not allow_network_fs and (kind := network_file_system(path)):
        raise StorageRefused(
            f"{path} lies on a network file system ({kind}), where locks do not keep a second server out; "
            "use a local disk, or add ?allow_network_fs=1 if only one machine uses it"
        )
    if path.exists():
        _check_contents(path, read_only=read_only)


def _check_contents(path: Path, *, read_only: bool) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(_HEADER))
    except OSError as error:
        raise StorageRefused(f"{path} cannot be read ({error.strerror})") from error
    writable = os.access(path, os.W_OK) and path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if not read_only and not writable:
        raise StorageRefused(f"{path} is read-only; make it writable, or open it with ?mode=ro")
    if not read_only and path.stat().st_nlink > 1:
        raise StorageRefused(
            f"{path} has another name too (a hard link), under which a second server could open it; keep one of them"
        )
    if header and header != _HEADER:
        raise StorageRefused(f"{path} is not a SQLite database; name another file")
    if read_only and not header:
        raise StorageRefused(f"{path} is empty, and mode=ro writes no format into it")


def create_file(path: Path) -> None:
    """Make a missing file, readable for its owner alone, and make its name durable."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageRefused(f"{path} cannot be made ({error.strerror})") from error
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def has_room(path: Path) -> bool:
    """Whether the disk has space for more than a write or two."""
    return shutil.disk_usage(path.parent).free >= _ROOM


def network_file_system(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of network file system that the path lies on; None for a local one, and where the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = path.resolve()
    best, kind = -1, ""
    for line in lines:
        fields = line.split(" ")
        # Blanks in a mount point are written as octal escapes.
        mounted = Path(fields[1].replace("\\040", " "))
        # Of two mounts on one point the later one hides the earlier.
        if place.is_relative_to(mounted) and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), fields[2]
    return kind if kind in _NETWORK else None
