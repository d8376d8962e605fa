"""Gathered appends: whatever waits to be written goes out in one statement, and a refusal touches nothing else."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from clew_storage.errors import StorageError, StorageFull, StorageUnavailable
from clew_storage.postgres.appends import Outcome, TombstoneWent, append_all, find_written
from clew_storage.postgres.connections import Connections, StandingConnection
from clew_storage.postgres.failures import DRIVER_ERRORS, is_in_the_way, is_lost, translate, unknown
from clew_storage.postgres.preparation import go_on, needs_reading, prepare, read_and_prepare
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.states import Pieces, PiecesInMind
from clew_storage.postgres.write_columns import Prepared
from clew_storage.records import ThreadKey, Write, Written

# More than this many wait for the next statement.
_MOST_TOGETHER = 256
_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class _Job:
    """`future` is what the caller waits for; it is done where the caller was cancelled and has given the answer up."""

    write: Write
    future: asyncio.Future[Written]

    def succeed(self, written: Written) -> None:
        if not self.future.done():
            self.future.set_result(written)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            # A caller that is cancelled in this very moment never asks for it, and asyncio is not to report that.
            self.future.exception()


@dataclass(slots=True)
class _Group:
    """Writes of one thread, each on the one before. `pieces` are those of the state once all are in."""

    jobs: list[_Job]
    prepared: list[Prepared]
    pieces: Pieces | None = None

    @property
    def key(self) -> ThreadKey:
        return self.jobs[0].write.key


class GroupCommit:
    """The one writer of a storage. `patience_s`: how long writes are looked for whose answer was lost."""

    def __init__(self, connections: Connections, schema: Schema, server: str, patience_s: float) -> None:
        self._connections = connections
        self._connection = StandingConnection(connections)
        self._schema = schema
        self._server = server
        self._patience_s = patience_s
        self._minded = PiecesInMind()
        self._jobs: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._stopped: StorageUnavailable | None = None
        self._task = asyncio.create_task(self._serve(), name="clew-postgres-writer")
        self.statements = 0
        self.full = False

    async def append(self, write: Write) -> Written:
        """Write it, together with whatever else waits. A caller that is cancelled gives up the answer and not the write."""
        if self._stopped is not None:
            raise self._stopped
        job = _Job(write, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._wake.set()
        return await job.future

    async def check(self, probe: str) -> None:
        """Raise what a write would raise now."""
        if self._stopped is not None:
            raise self._stopped
        await self._connections.run(lambda connection: connection.execute(probe))
        self.full = False

    async def close(self) -> None:
        """Finish what is queued and take nothing more."""
        self._stopped = StorageUnavailable("the storage is not open")
        self._wake.set()
        await asyncio.wait((self._task,))
        await self._connection.close()

    async def _serve(self) -> None:
        while self._jobs or self._stopped is None:
            if not self._jobs:
                self._wake.clear()
                await self._wake.wait()
                continue
            gathered = self._gather()
            try:
                await self._commit(gathered)
            except Exception as error:  # noqa: BLE001 - those who wait must learn of it, and those behind them be served
                for group in gathered:
                    self._fail(group, error)

    def _gather(self) -> list[_Group]:
        """What goes out together: of a thread its first write, and those on it that bring nothing to be judged by."""
        groups: dict[ThreadKey, _Group] = {}
        behind: deque[_Job] = deque()
        held_back: set[ThreadKey] = set()
        for _ in range(min(len(self._jobs), _MOST_TOGETHER)):
            job = self._jobs.popleft()
            key = job.write.key
            group = groups.get(key)
            if group is None and key not in held_back:
                groups[key] = _Group([job], [])
            elif group is not None and key not in held_back and _follows(group.jobs[-1].write, job.write):
                group.jobs.append(job)
            else:
                # Later writes of the thread keep their order behind it.
                held_back.add(key)
                behind.append(job)
        self._jobs.extendleft(reversed(behind))
        return list(groups.values())

    async def _commit(self, groups: list[_Group]) -> None:
        ready = [group for group in groups if await self._prepare(group)]
        if not ready:
            return
        outcomes = await self._write([group.prepared for group in ready])
        self.full = any(isinstance(outcome, StorageFull) for outcome in outcomes)
        for group, outcome in zip(ready, outcomes, strict=True):
            self._settle(group, outcome)

    async def _prepare(self, group: _Group) -> bool:
        """Find out what the writes need to know; False where that failed, and they with it."""
        first = group.jobs[0].write
        try:
            if needs_reading(first, self._minded):
                prepared, pieces = await self._connections.run(
                    lambda connection: read_and_prepare(connection, self._schema, first)
                )
            else:
                prepared, pieces = prepare(first, self._minded)
            group.prepared.append(prepared)
            for job in group.jobs[1:]:
                if job.write.state is not None and pieces is None:
                    break
                prepared, pieces = go_on(job.write, pieces)
                group.prepared.append(prepared)
        except Exception as error:  # noqa: BLE001 - theirs alone
            self._fail(group, error)
            return False
        # What is behind an unknown state has to be read for, once what is before it is in.
        self._put_back(group.jobs[len(group.prepared) :])
        del group.jobs[len(group.prepared) :]
        group.pieces = pieces
        return True

    def _put_back(self, jobs: Sequence[_Job]) -> None:
        self._jobs.extendleft(reversed(jobs))

    async def _write(self, groups: Sequence[Sequence[Prepared]], *, again: bool = False) -> list[Outcome | Exception]:
        """Append them; `again`: they may be in the database already."""
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return await self._once(groups, again=again)
            except StorageError as error:
                # No connection was to be had, so that nothing was done this time.
                if not again:
                    return [error for _ in groups]
                if time.monotonic() > deadline:
                    return [unknown() for _ in groups]
            except Exception as error:  # noqa: BLE001 - whoever it belongs to learns of it
                if isinstance(error, DRIVER_ERRORS) and (is_lost(error) or is_in_the_way(error)):
                    again = again or is_lost(error)
                    if time.monotonic() > deadline:
                        return [unknown() if again else translate(error) for _ in groups]
                elif len(groups) > 1:
                    return [(await self._write([group], again=again))[0] for group in groups]
                else:
                    return [translate(error) if isinstance(error, DRIVER_ERRORS) else error]
            await asyncio.sleep(_PAUSE_S)

    async def _once(self, groups: Sequence[Sequence[Prepared]], *, again: bool) -> list[Outcome | Exception]:
        self.statements += 1
        outcomes = await self._connection.run(
            lambda connection: append_all(connection, self._schema, self._server, groups)
        )
        told: list[Outcome | Exception] = []
        for group, outcome in zip(groups, outcomes, strict=True):
            if isinstance(outcome, TombstoneWent):
                told += await self._once([group], again=again)
                continue
            found = None
            if again and isinstance(outcome, StorageError):
                found = await self._connection.run(
                    lambda connection, group=group: find_written(connection, self._schema, group)  # type: ignore[misc]
                )
            told.append(outcome if found is None else found)
        return told

    def _settle(self, group: _Group, outcome: Outcome | Exception) -> None:
        last = group.jobs[-1].write
        if isinstance(outcome, Exception):
            self._minded.forget(last.key, last.uid)
            first, *others = group.jobs
            first.fail(outcome)
            # They are refused for reasons of their own.
            self._put_back(others)
            return
        if group.pieces is None:
            # Whatever is remembered belongs to a head before another server's writes.
            self._minded.forget(last.key, last.uid)
        else:
            self._minded.keep(last, group.pieces)
        for job, written in zip(group.jobs, outcome, strict=True):
            job.succeed(written)

    def _fail(self, group: _Group, error: Exception) -> None:
        for job in group.jobs:
            self._minded.forget(job.write.key, job.write.uid)
            job.fail(error)


def _follows(before: Write, write: Write) -> bool:
    """Whether a write can only be refused where the one before it is."""
    return (
        write.uid == before.uid
        and write.epoch == before.epoch
        and write.expected_version == before.checkpoint.version
        and (write.checkpoint.run_version, write.checkpoint.attempt)
        == (before.checkpoint.run_version, before.checkpoint.attempt)
        and write.info is None
        and write.request is None
        and write.fork_of is None
        and not (write.erased or write.redactions or write.approvals or write.decisions or write.void_approvals)
    )
