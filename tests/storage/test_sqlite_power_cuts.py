"""Power cuts: a file system that is cut off from its disk in the middle of writing, and mounted again.

ext4 on a loop device is shut down by the ioctl that its own crash tests use: what was not flushed is gone. The same
cycles with `synchronous=NORMAL` must lose something, or the test would see nothing.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from clew_storage import open_storage
from clew_storage.conformance.examples import KEY, UID

FULL = os.environ.get("CLEW_FAULTS") == "full"
CYCLES = 200 if FULL else 3
PROCESS = Path(__file__).parent / "writing_process.py"
# EXT4_IOC_SHUTDOWN with the flag that flushes nothing.
SHUTDOWN, WITHOUT_FLUSH = 0x8004587D, (2).to_bytes(4, "little")

pytestmark = pytest.mark.timeout(0 if FULL else 120)


class Disk:
    """A loop-mounted ext4 of 64 MB."""

    def __init__(self, folder: Path) -> None:
        self._image = folder / "disk.img"
        self.mounted = folder / "mounted"
        self.mounted.mkdir()
        with self._image.open("wb") as image:
            image.truncate(64 << 20)
        self._run("mkfs.ext4", "-q", str(self._image))

    @contextmanager
    def mount(self) -> Iterator[Path]:
        self._run("mount", "-o", "loop", str(self._image), str(self.mounted))
        try:
            yield self.mounted
        finally:
            self._run("umount", str(self.mounted))

    def cut(self) -> None:
        handle = os.open(self.mounted, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, SHUTDOWN, WITHOUT_FLUSH)
        finally:
            os.close(handle)

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    try:
        disk = Disk(tmp_path)
        with disk.mount():
            disk.cut()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a file system cannot be mounted and cut off here")
    return disk


def write_and_cut(disk: Disk, synchronous: str, after: int) -> int:
    """Let a process write until it has told of so many versions, and cut the power; the last acknowledged before."""
    told: dict[int, int] = {}
    with disk.mount() as folder:
        command = [sys.executable, str(PROCESS), str(folder / "clew.db"), synchronous]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
            assert writer.stdout is not None
            lines = (_version_and_time(line) for line in writer.stdout)
            told.update(islice(lines, after))
            began = time.monotonic_ns()
            disk.cut()
            # The writer goes on until the disk answers no more. An fsync that is under way while the file system shuts
            # down may still return success; the power of a machine does not come back to say so.
            told.update(lines)
    return max(version for version, at in told.items() if at < began)


def _version_and_time(line: str) -> tuple[int, int]:
    version, at = line.split()
    return int(version), int(at)


async def stored(folder: Path) -> int:
    """The head after the cut, once all that leads to it was read."""
    backend = open_storage(f"sqlite://{folder}/clew.db")
    await backend.open()
    head = await backend.threads.get_head(KEY)
    last = head.thread.head_version if head else 0
    if last:
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=1 << 30, max_bytes=1 << 40)
        assert [entry.checkpoint.version for entry in log] == list(range(1, last + 1))
        assert len(await backend.messages.list_messages(KEY)) == last
        assert await backend.threads.get_state(KEY, version=None) is not None
    await backend.close()
    return last


async def test_what_was_acknowledged_survives_a_power_cut(disk: Disk) -> None:
    for cycle in range(CYCLES):
        acknowledged = write_and_cut(disk, "FULL", 1 + cycle * 7 % 50)
        with disk.mount() as folder:
            assert await stored(folder) >= acknowledged


async def test_the_same_cuts_without_full_synchronisation_lose_what_was_acknowledged(disk: Disk) -> None:
    lost = 0
    for cycle in range(3):
        acknowledged = write_and_cut(disk, "NORMAL", 20 + cycle)
        with disk.mount() as folder:
            lost += acknowledged - await stored(folder)
    assert lost > 0
