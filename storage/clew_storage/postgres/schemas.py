"""The schema that a storage lives in. Queries name it by `clew`, which stands for whatever it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from clew_storage.errors import StorageRefused

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_QUALIFIER = re.compile(r"\bclew\.(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema's name: small letters, digits and underscores. No query relies on a search path."""

    name: str = "clew"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name.startswith("pg_"):
            raise StorageRefused(
                f"{self.name!r} is no name for a schema here; use small letters, digits and underscores"
            )

    def sql(self, text: str) -> str:
        """The query in this schema."""
        return _qualified(self.name, text)


@lru_cache(maxsize=1024)
def _qualified(name: str, text: str) -> str:
    # In quotes, since a word of SQL's (`user`, `order`, `trim`) is a name like any other.
    return _QUALIFIER.sub(f'"{name}".', text).replace("CREATE SCHEMA clew", f'CREATE SCHEMA "{name}"')
