"""What every promise of the port is tried on: behind PgBouncer a part of them, and with CLEW_FAULTS=full all."""

from __future__ import annotations

import os
from zlib import crc32

import pytest

# Of the promises, whose statements are those of the database itself, one in so many is tried behind the pooler as well.
_ONE_IN = 4


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("CLEW_FAULTS") == "full":
        return
    left_out = {
        item for item in items if "TestBehindPgBouncer" in item.nodeid and crc32(item.nodeid.encode()) % _ONE_IN
    }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
