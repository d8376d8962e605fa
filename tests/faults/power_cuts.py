"""Disks that lose what was not synced when the power goes: a recording one, and a real file system that is shut down under the process."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import struct
import subprocess
from pathlib import Path
from typing import Protocol

from tests.faults.process import Process

SHIM = Path(__file__).parent / "shim.c"
_SECTOR = 512
# EXT4_IOC_SHUTDOWN, and its flag that leaves the file system's own log unflushed.
_SHUTDOWN, _NO_LOG_FLUSH = 0x8004587D, 2


class Disk(Protocol):
    """A folder for a database, and how to cut its power."""

    folder: Path
    environment: dict[str, str]

    async def cut(self, process: Process, dice: random.Random) -> None:
        """The power goes, and comes back; the process is dead."""
        ...

    def remove(self) -> None:
        """The test is over."""
        ...


class RecordedDisk:
    """Keeps every file as it was at its last sync; a cut leaves that, and of what was written since any sectors or none."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "disk"
        self.folder.mkdir()
        self.environment = {"LD_PRELOAD": str(built_shim(home)), "CLEW_FAULTS_DISK": str(self.folder / "clew.db")}

    async def cut(self, process: Process, dice: random.Random) -> None:
        """See `Disk`."""
        await process.kill()
        for name in ("clew.db", "clew.db-wal"):
            path, durable = self.folder / name, self.folder / f"{name}.durable"
            kept = durable.read_bytes() if durable.exists() else b""
            if path.exists():
                survived = survivors(kept, path.read_bytes(), dice)
                path.write_bytes(survived)
                durable.write_bytes(survived)
        (self.folder / "clew.db-shm").unlink(missing_ok=True)

    def remove(self) -> None:
        """See `Disk`."""


def survivors(durable: bytes, written: bytes, dice: random.Random) -> bytes:
    """What a disk may hold of a file: each sector as it was synced or as it was written since."""
    share = dice.choice((0.0, 0.0, 0.5, 0.9))
    length = (
        len(durable) if share == 0.0 else dice.randint(min(len(durable), len(written)), max(len(durable), len(written)))
    )
    kept = bytearray(durable.ljust(length, b"\0")[:length])
    for at in range(0, length, _SECTOR):
        if dice.random() < share:
            sector = written[at : at + _SECTOR][: length - at]
            kept[at : at + len(sector)] = sector
    return bytes(kept)


def built_shim(home: Path) -> Path:
    """The recording library. Raises FileNotFoundError where there is no C compiler."""
    built = home / "shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(built), str(SHIM), "-ldl"], check=True)
    return built


class RealDisk:
    """An ext4 file system in a file, mounted; needs the rights to do so."""

    def __init__(self, home: Path, size: int = 32 << 20) -> None:
        self._image = home / "image"
        self._mounted = home / "mounted"
        self._mounted.mkdir()
        self._image.touch()
        os.truncate(self._image, size)
        subprocess.run(["mkfs.ext4", "-q", str(self._image)], check=True)
        self.mount()
        self.folder = self._mounted / "data"
        self.folder.mkdir()
        self.environment: dict[str, str] = {}

    async def cut(self, process: Process, dice: random.Random) -> None:
        """See `Disk`."""
        # Stopped first: what it says after the cut would be said of a disk that is gone.
        process.signal(signal.SIGSTOP)
        self.shut_down()
        await process.kill()
        self.remove()
        self.mount()

    def shut_down(self) -> None:
        """From now on nothing reaches the disk; it has what was synced, and whatever else had got there."""
        handle = os.open(self._mounted, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(handle)

    def remove(self) -> None:
        """See `Disk`."""
        if self._mounted.is_mount():
            subprocess.run(["umount", str(self._mounted)], check=True)

    def mount(self) -> None:
        """The power is back."""
        subprocess.run(["mount", "-o", "loop", str(self._image), str(self._mounted)], check=True)
