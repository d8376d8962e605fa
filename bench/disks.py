"""The disks that are measured on: a controlled one, where every fsync takes 1 ms, and the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.goals import CONTROLLED, REAL

_SOURCE = Path(__file__).with_name("fsync_shim.c")
_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Disk:
    """Where databases lie, and the environment in which processes that use them run."""

    name: str
    folder: Path
    environment: Mapping[str, str]


def build_shim(folder: Path) -> Path | None:
    """The compiled shim; None where there is no compiler or no preloading."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        return None
    shim = folder / "fsync_shim.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", shim, _SOURCE, "-ldl"], check=True)
    return shim


@contextmanager
def a_folder(place: Path | None) -> Iterator[Path]:
    """A folder that is swept at the end. All may pass through it: Postgres does not run as root."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as name:
        folder = Path(name)
        folder.chmod(0o711)
        yield folder


@contextmanager
def open_disks(build: Path) -> Iterator[tuple[Disk | None, Disk]]:
    """The controlled disk (None where it cannot be had) and the real one; both are swept at the end."""
    build.mkdir(parents=True, exist_ok=True)
    with a_folder(build) as real, a_folder(None) as programs:
        shim = build_shim(programs)
        preload = {"LD_PRELOAD": str(shim)} if shim else {}
        real_disk = Disk(REAL, real, preload)
        if shim is None:
            yield None, real_disk
            return
        memory = _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else None
        with a_folder(memory) as controlled:
            yield Disk(CONTROLLED, controlled, preload | {"BENCH_FSYNC_US": "1000"}), real_disk
