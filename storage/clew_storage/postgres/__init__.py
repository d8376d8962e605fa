"""Storage in Postgres, which any number of servers share."""

from clew_storage.postgres.backend import PostgresBackend
from clew_storage.postgres.settings import PostgresSettings

__all__ = ["PostgresBackend", "PostgresSettings"]
