"""Postgres's and the network's errors in the port's words."""

from __future__ import annotations

import asyncpg
from asyncpg.exceptions import InternalClientError, TargetServerAttributeNotMatched

from clew_storage.errors import DataCorrupt, StorageError, StorageFull, StorageRefused, StorageUnavailable

# What asyncpg, the event loop and the system raise of themselves.
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, InternalClientError, OSError, TimeoutError)

_FULL = {"53100"}
_CORRUPT_CLASSES = {"XX", "23"}
_UNFIT_CLASS = "22"
_DISCONNECTED_CLASSES = {"08"}
_DISCONNECTED = {"57P01", "57P02", "57P03", "57P05", "25P03"}
# Another transaction was in the way: the same statement may go through now.
_IN_THE_WAY = {"40001", "40P01"}
_LOCKED = "55P03"
_MISSING = {"3F000", "42P01", "42883"}
_NO_CREATE = "for database"
# asyncpg's words for a server that answers no to TLS.
_NO_TLS = "rejected SSL upgrade"
_UNKNOWN_ROLE = "28000"
_WRONG_PASSWORD = "28P01"  # noqa: S105 - a code
_NOT_ALLOWED = {"42501", _UNKNOWN_ROLE, _WRONG_PASSWORD}
_NO_DATABASE = "3D000"
_READ_ONLY = "25006"
# PgBouncer's words for a login at the database that failed, which it does not try again for a while.
_LOGIN_WAITS = "server_login_retry"
_TOO_MANY = "53300"
# What a setting of the URL is that is none: the database's code, and the words of PgBouncer, which has one code for everything.
_NO_SETTING = "42704"
_NO_SETTING_SAID = "unsupported startup parameter"


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, and with it the knowledge of what became of a statement."""
    if isinstance(error, asyncpg.PostgresError):
        code = _code(error)
        return code[:2] in _DISCONNECTED_CLASSES or code in _DISCONNECTED
    return isinstance(error, (asyncpg.InterfaceError, InternalClientError, OSError, TimeoutError))


def is_over(error: BaseException) -> bool:
    """Whether the connection is of no use any more: lost, or to a database that has become a standby."""
    return is_lost(error) or (isinstance(error, asyncpg.PostgresError) and _code(error) == _READ_ONLY)


def is_in_the_way(error: BaseException) -> bool:
    """Whether nothing was done because of another transaction, and trying again is all there is to do."""
    return isinstance(error, asyncpg.PostgresError) and _code(error) in _IN_THE_WAY


def translate(error: BaseException) -> StorageError:
    """The port's error for a driver's; the message names no password and no SQL."""
    if isinstance(error, asyncpg.PostgresError):
        return _of_the_database(error)
    if isinstance(error, TimeoutError):
        return StorageUnavailable("the database did not answer in time; check that it is reachable, then try again")
    if isinstance(error, TargetServerAttributeNotMatched):
        return StorageUnavailable(
            "none of the hosts in the URL takes writes (they are standbys); promote one, or name the primary"
        )
    if isinstance(error, OSError) and _NO_TLS in str(error):
        return StorageRefused(
            "the database has no TLS, which sslmode in the URL asks for; turn it on at the server, or change sslmode"
        )
    if isinstance(error, OSError):
        told = error.strerror or "the connection was refused or broken"
        return StorageUnavailable(f"the database cannot be reached ({told}); start it or check the URL, then try again")
    return StorageUnavailable("the connection to the database broke; it is made anew with the next call")


class AnswerLost(StorageUnavailable):
    """The database went away with the answer: what was asked was done whole, or not at all."""


def unknown() -> AnswerLost:
    """The database went away with the answer and did not come back in time."""
    return AnswerLost(
        "the database went away before it said whether this was saved; read the thread again, or repeat the request with the "
        "same request id"
    )


def _of_the_database(error: asyncpg.PostgresError) -> StorageError:  # noqa: C901, PLR0911 - one a kind
    code = _code(error)
    if code in _FULL:
        return StorageFull("the database's disk is full; nothing was written, make room and try again")
    if code[:2] in _CORRUPT_CLASSES:
        return DataCorrupt(f"the database is damaged, or holds rows that Clew did not write: {error}")
    if code[:2] == _UNFIT_CLASS:
        return StorageUnavailable(f"the database cannot hold a value of this call: {error}")
    if code == _LOCKED:
        return StorageUnavailable(
            "another session of the database did not give up a lock in time that this call needs; try again, or look for that "
            "session in pg_locks"
        )
    if code in _NOT_ALLOWED:
        return _of_the_role(code, error)
    if code == _NO_SETTING or str(error).startswith(_NO_SETTING_SAID):
        return StorageRefused(
            f"a setting in the URL is neither one of the storage nor of the database: {error}; correct it or leave it out"
        )
    if code == _NO_DATABASE:
        return StorageRefused(f"{error}; create it, or name another one in the URL")
    if code in _MISSING:
        return StorageRefused(
            f"the schema lacks what Clew needs: {error}; open the storage anew with a role that may migrate"
        )
    if code == _READ_ONLY:
        return StorageUnavailable(
            "the database takes no writes (it is a standby, or read-only); connect to the primary"
        )
    if code == _TOO_MANY:
        return StorageUnavailable("the database has no connection left; raise max_connections or lower pool_size")
    if _LOGIN_WAITS in str(error):
        return StorageUnavailable(
            "the pooler does not get through to the database, and tries again when its server_login_retry is over; start the database, "
            "then try again"
        )
    if code in _DISCONNECTED or code[:2] in _DISCONNECTED_CLASSES:
        return StorageUnavailable(f"the database ended the connection: {error}; try again in a moment")
    return StorageUnavailable(f"the database failed at this call: {error}")


def _of_the_role(code: str, error: asyncpg.PostgresError) -> StorageRefused:
    if code == _UNKNOWN_ROLE:
        return StorageRefused(
            f"the database does not let this role in: {error}; create the role if there is none, or let it in (pg_hba.conf)"
        )
    if code == _WRONG_PASSWORD:
        return StorageRefused(f"the database does not let this role in: {error}; correct the password in the URL")
    # A role that may not even connect is told with the same words, and a detail.
    if _NO_CREATE in str(error) and not error.detail:
        return StorageRefused(
            f"the schema cannot be made: {error}; grant the role CREATE on the database, or have the schema made for it "
            "(docs/postgres.md)"
        )
    return StorageRefused(
        f"the database refuses this role: {error}; to serve, grant it the rights of the runtime role, to migrate, use the role that owns the "
        "schema (docs/postgres.md, Two roles)"
    )


def _code(error: asyncpg.PostgresError) -> str:
    return getattr(error, "sqlstate", None) or ""
