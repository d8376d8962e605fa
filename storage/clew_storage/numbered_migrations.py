"""Numbered steps that bring a database from one format to the next, as files of a backend: `0001_name.sql`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from clew_storage.errors import StorageRefused


@dataclass(frozen=True, slots=True)
class Migration:
    """One step; its version is the format that it leads to."""

    version: int
    name: str
    sql: str


def migrations_of(package: str) -> tuple[Migration, ...]:
    """Every step that a package holds, in order."""
    found = (entry for entry in files(package).iterdir() if entry.name.endswith(".sql"))
    steps = []
    for entry in sorted(found, key=lambda entry: entry.name):
        number, _, name = entry.name.removesuffix(".sql").partition("_")
        steps.append(Migration(int(number), name, entry.read_text(encoding="utf-8")))
    return tuple(steps)


def refuse_unknown(version: int, known: Sequence[Migration]) -> None:
    """Raise `StorageRefused` for a format that this program does not know."""
    newest = known[-1].version
    if version > newest:
        raise StorageRefused(
            f"the database has format {version} and this program knows formats up to {newest}; use the newer version of Clew"
        )
