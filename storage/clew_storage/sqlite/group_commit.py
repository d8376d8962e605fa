"""Group commit: whatever waits to be written shares one transaction and one fsync, and a refusal touches nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from clew_storage.errors import StorageError, StorageFull, StorageUnavailable
from clew_storage.sqlite.connections import Connection
from clew_storage.sqlite.failures import is_full, is_io_error, translate

T = TypeVar("T")
Step = Callable[[sqlite3.Connection], T]
# One commit holds the connection's thread; more than this many wait for the next one.
_MOST_TOGETHER = 256


@dataclass(frozen=True, slots=True)
class _Job:
    """`future` is what the caller waits for; it is done where the caller was cancelled and has given the answer up."""

    prepare: Callable[[], Step[Any]]
    committed: Callable[[Any], None] | None
    future: asyncio.Future[Any]

    def succeed(self, outcome: Any) -> None:
        if self.committed is not None:
            self.committed(outcome)
        if not self.future.done():
            self.future.set_result(outcome)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            # A caller that is cancelled in this very moment never asks for it, and asyncio is not to report that.
            self.future.exception()


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


class GroupCommit:
    """The one writer of a database. `has_room` tells whether the disk has space for more than a write or two."""

    def __init__(self, connection: Connection, has_room: Callable[[], bool]) -> None:
        self._connection = connection
        self._has_room = has_room
        self._jobs: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._stopped: StorageUnavailable | None = None
        self._full = False
        self._task = asyncio.create_task(self._serve(), name="clew-sqlite-writer")
        self.commits = 0

    async def write(self, step: Step[T]) -> T:
        """Run the step in a transaction and return what it returned once that is durable."""
        return await self.write_prepared(lambda: step)

    async def write_prepared(
        self, prepare: Callable[[], Step[T]], *, committed: Callable[[T], None] | None = None
    ) -> T:
        """As `write`; `prepare` makes the step when its transaction begins, `committed` runs before anyone else is told.

        Both run on the event loop, so that what they see of the leases belongs to the transaction. A caller that is
        cancelled gives up the answer and not the write.
        """
        if self._stopped is not None:
            raise self._stopped
        job = _Job(prepare, committed, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._wake.set()
        return cast("T", await job.future)

    async def check(self) -> None:
        """Raise what a write would raise now."""
        if self._full and not self._has_room():
            raise StorageFull("the disk is full; writes are refused")
        # After a full disk only a real write tells whether there is space again.
        probe = "UPDATE ownership SET generation = generation" if self._full else "SELECT 1"
        await self.write(lambda connection: connection.execute(probe).fetchall())

    async def close(self) -> None:
        """Finish what is queued and take nothing more."""
        self._stopped = self._stopped or StorageUnavailable("the storage is not open")
        self._wake.set()
        # The event loop of a task that is done may be gone.
        if not self._task.done():
            await asyncio.wait((self._task,))

    def take_over(self) -> None:
        """Serve in the running event loop, after the one before is gone and with it whoever waited there."""
        self._jobs.clear()
        self._wake = asyncio.Event()
        self._task = asyncio.create_task(self._serve(), name="clew-sqlite-writer")

    async def _serve(self) -> None:
        while self._jobs or self._stopped is None:
            if not self._jobs:
                self._wake.clear()
                await self._wake.wait()
                continue
            batch = [self._jobs.popleft() for _ in range(min(len(self._jobs), _MOST_TOGETHER))]
            await self._commit(batch)

    async def _commit(self, batch: Sequence[_Job]) -> None:
        steps = [job.prepare() for job in batch]
        try:
            outcomes = await self._connection.run(partial(_commit_together, steps=steps))
        except sqlite3.Error as error:
            outcomes = [_Failed(translate(error)) for _ in batch]
            if is_io_error(error):
                self._stop(translate(error))
        except Exception as error:  # noqa: BLE001 - those who wait must learn of it, and those behind them be served
            outcomes = [_Failed(error) for _ in batch]
        self.commits += 1
        self._full = any(isinstance(out, _Failed) and isinstance(out.error, StorageFull) for out in outcomes)
        for job, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, _Failed):
                job.fail(outcome.error)
            else:
                job.succeed(outcome)

    def _stop(self, error: StorageError) -> None:
        """After an I/O error nobody knows what is on the disk: a retry could acknowledge what a crash would lose."""
        self._stopped = StorageUnavailable(str(error))
        while self._jobs:
            self._jobs.popleft().fail(self._stopped)


class Refusing:
    """Stands where the writer would, in a database that was opened for reading."""

    def __init__(self, refusal: StorageUnavailable) -> None:
        self._refusal = refusal

    async def write(self, step: Step[T]) -> T:
        """Refuse."""
        raise self._refusal

    async def write_prepared(
        self, prepare: Callable[[], Step[T]], *, committed: Callable[[T], None] | None = None
    ) -> T:
        """Refuse."""
        raise self._refusal

    async def check(self) -> None:
        """Nothing would be written."""


def _commit_together(connection: sqlite3.Connection, steps: Sequence[Step[Any]]) -> list[Any]:
    """Run the steps in one transaction. When they do not fit on the disk together, each gets a chance of its own."""
    try:
        return _transaction(connection, steps)
    except sqlite3.Error as error:
        if not is_full(error) or len(steps) == 1:
            raise
    return [_alone(connection, step) for step in steps]


def _alone(connection: sqlite3.Connection, step: Step[Any]) -> Any:
    try:
        return _transaction(connection, [step])[0]
    except sqlite3.Error as error:
        if is_full(error):
            return _Failed(translate(error))
        raise


def _transaction(connection: sqlite3.Connection, steps: Sequence[Step[Any]]) -> list[Any]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        outcomes = [_guarded(connection, step) for step in steps]
        connection.execute("COMMIT")
    except BaseException:
        # SQLite itself may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return outcomes


def _guarded(connection: sqlite3.Connection, step: Step[Any]) -> Any:
    connection.execute("SAVEPOINT step")
    try:
        outcome = step(connection)
    except Exception as error:
        if isinstance(error, sqlite3.Error) and (is_full(error) or is_io_error(error)):
            raise
        connection.execute("ROLLBACK TO step")
        outcome = _Failed(translate(error) if isinstance(error, sqlite3.Error) else error)
    connection.execute("RELEASE step")
    return outcome
