"""The schema that a storage lives in. Queries name it by `clew`, which stands for whatever it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from clew_storage.errors import StorageRefused

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Postgres cuts off what is longer, and keeps names that begin so for itself.
_LONGEST = 63
_RESERVED = "pg_"
_QUALIFIER = re.compile(r"\bclew\.(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema's name: small letters, digits and underscores. No query relies on a search path."""

    name: str = "clew"

    def __post_init__(self) -> None:
        if broken := _broken_rule(self.name):
            raise StorageRefused(f"{self.name!r} is no name for a schema here; {broken}")

    def sql(self, text: str) -> str:
        """The query in this schema."""
        return _qualified(self.name, text)


def _broken_rule(name: str) -> str:
    """What is wrong with a name; empty for a good one."""
    if not _NAME.fullmatch(name):
        return "use small letters, digits and underscores, and begin with none of the digits"
    if len(name) > _LONGEST:
        return f"it has {len(name)} characters, and may have {_LONGEST}"
    return f"names that begin with {_RESERVED} are the database's own" if name.startswith(_RESERVED) else ""


@lru_cache(maxsize=1024)
def _qualified(name: str, text: str) -> str:
    # In quotes, since a word of SQL's (`user`, `order`, `trim`) is a name like any other.
    return _QUALIFIER.sub(f'"{name}".', text).replace("CREATE SCHEMA clew", f'CREATE SCHEMA "{name}"')
