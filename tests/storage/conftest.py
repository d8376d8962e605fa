"""A Postgres server for the tests of this folder, started by the first that asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.postgres import some_dsn


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    with some_dsn() as dsn:
        yield dsn
