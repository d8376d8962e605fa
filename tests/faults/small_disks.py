"""A file system with hardly any room, to be filled and freed again."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.scenarios.world import Handle


def can_mount() -> bool:
    """Whether this user may mount a file system."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


needs_mount = pytest.mark.skipif(
    not can_mount(), reason="mounting a small file system takes rights that this user has not"
)


@contextmanager
def small_disk(home: Path, size: str = "3m") -> Iterator[Path]:
    """A file system of 3 MB, or of another size as `mount` has it."""
    folder = home / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path, leaving: int) -> Path:
    """Write a file over all room but a little."""
    filler = folder / "filler"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    try:
        filler.write_bytes(b"x" * max(0, free - leaving))
    except OSError as error:
        # Others write too.
        if error.errno != errno.ENOSPC:
            raise
    return filler


async def look_at(thread: Handle) -> None:
    """Read all of a thread; no read may be refused."""
    await thread.history()
    await thread.messages()
    if await thread.history():
        await thread.info()
