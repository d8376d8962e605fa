"""The machine that figures are from."""

from __future__ import annotations

import os
import platform
import sqlite3
from pathlib import Path

from bench.databases import NoDatabaseError, postgres_version


def describe(folder: Path) -> list[tuple[str, str]]:
    """Names and values, for a table; `folder` is what the real disk is measured in."""
    return [
        ("CPU", f"{_cpu()}, {os.cpu_count()} cores"),
        ("kernel", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ("file system of the real disk", _file_system(folder)),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("SQLite", sqlite3.sqlite_version),
        ("Postgres", _postgres()),
        ("load before the first round", f"{os.getloadavg()[0]:.1f}"),
    ]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _postgres() -> str:
    try:
        return postgres_version()
    except NoDatabaseError as error:
        return f"none: {error}"


def _file_system(folder: Path) -> str:
    """The kind of the longest mount point above the folder."""
    try:
        mounts = [line.split(" ") for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return "unknown"
    above = [(len(fields[1]), fields[2]) for fields in mounts if folder.resolve().is_relative_to(fields[1])]
    return max(above)[1] if above else "unknown"
