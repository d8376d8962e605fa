"""Backends on Postgres, each on a schema of its own."""

from __future__ import annotations

from clew_storage.postgres import PostgresBackend
from tests.support.postgres import in_schema


async def opened(dsn: str, **options: object) -> PostgresBackend:
    backend = PostgresBackend.of_url(in_schema(dsn, None, **options))
    await backend.open()
    return backend
