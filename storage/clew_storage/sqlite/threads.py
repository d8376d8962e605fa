"""The port's `Threads` on SQLite: each method is one hop to the writer or to a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from clew_storage.local_leases import LocalLeases
from clew_storage.records import (
    CheckpointRecord,
    Glance,
    Head,
    InfoChange,
    LogEntry,
    RequestRecord,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
    Write,
    Written,
)
from clew_storage.sqlite import appends, copies, deletions, heads, infos, requests
from clew_storage.sqlite.sessions import Session


class SqliteThreads:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session], leases: LocalLeases) -> None:
        self._session = session
        self._leases = leases

    async def append(self, write: Write) -> Written:
        """See the port."""

        def step() -> Callable[..., Written]:
            return partial(appends.append, write=write, admitted=self._leases.admits(write.key, write.epoch))

        return await self._session().writer.write_prepared(step)

    async def get_head(self, key: ThreadKey) -> Head | None:
        """See the port."""
        return await self._session().readers.read(lambda connection: heads.get_head(connection, key))

    async def glance(self, keys: Sequence[ThreadKey]) -> Mapping[ThreadKey, Glance]:
        """See the port."""
        found = await self._session().readers.read(
            lambda connection: {key: heads.get_glance(connection, key) for key in keys}
        )
        leases = self._leases
        return {
            key: replace(glance, holder=leases.holder(key), waiting=leases.queued(key)) for key, glance in found.items()
        }

    async def request_cancel(
        self, key: ThreadKey, uid: str, run_version: int, attempt: int, *, request: RequestRecord | None = None
    ) -> bool:
        """See the port."""
        return await self._session().writer.write(
            lambda connection: infos.request_cancel(connection, key, uid, run_version, attempt, request=request)
        )

    async def get_checkpoint(self, key: ThreadKey, version: int) -> CheckpointRecord | None:
        """See the port."""
        return await self._session().readers.read(lambda connection: heads.get_checkpoint(connection, key, version))

    async def list_checkpoints(
        self, key: ThreadKey, *, before_version: int | None, limit: int, at_version: int | None = None
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: heads.list_checkpoints(connection, key, before_version, limit, at_version)
        )

    async def read_log(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
    ) -> Sequence[LogEntry]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: heads.read_log(
                connection, key, uid, after_version=after_version, limit=limit, max_bytes=max_bytes
            )
        )

    async def list_starts(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: heads.list_starts(connection, key, uid, after_version=after_version, limit=limit)
        )

    async def get_state(self, key: ThreadKey, *, version: int | None) -> dict[str, bytes] | None:
        """See the port."""
        return await self._session().readers.read(lambda connection: heads.get_state(connection, key, version))

    async def list_threads(
        self, tenant: str, where: ThreadFilter, *, by_update: bool, after: tuple[int, str] | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: infos.list_threads(
                connection, tenant, where, by_update=by_update, after=after, limit=limit
            )
        )

    async def list_interrupted(
        self, apps: Sequence[str], *, after: ThreadKey | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port. Who holds a lease is known here and not to the database."""
        found: list[ThreadRecord] = []
        while True:
            page = await self._session().readers.read(
                lambda connection, after=after: infos.list_in_progress(connection, apps, after, limit)  # type: ignore[misc]
            )
            found += (thread for thread in page if self._leases.holder(thread.key) is None)
            if len(page) < limit or len(found) >= limit:
                return found[:limit]
            after = page[-1].key

    async def change_info(
        self,
        key: ThreadKey,
        change: InfoChange,
        *,
        create: ThreadRecord | None,
        request: RequestRecord | None,
        now_ms: int,
    ) -> ThreadRecord:
        """See the port."""
        return await self._session().writer.write(
            lambda connection: infos.change_info(connection, key, change, create=create, request=request, now_ms=now_ms)
        )

    async def copy_thread(self, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write) -> Written:
        """See the port."""
        return await self._session().writer.write(
            lambda connection: copies.copy_thread(connection, source, source_uid, target, write)
        )

    async def delete_thread(
        self, key: ThreadKey, *, request: RequestRecord | None, now_ms: int, expected_version: int | None = None
    ) -> bool:
        """See the port."""

        def step() -> Callable[..., bool]:
            # Taken when the transaction begins: what shares the commit holds smaller epochs and is fenced off.
            epoch = self._leases.next_epoch()
            return partial(
                deletions.delete_thread,
                key=key,
                request=request,
                now_ms=now_ms,
                epoch=epoch,
                expected_version=expected_version,
            )

        def revoke(existed: bool) -> None:
            if existed:
                self._leases.revoke(key)

        return await self._session().writer.write_prepared(step, committed=revoke)

    async def find_request(self, key: ThreadKey, request_hash: bytes) -> RequestRecord | None:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: requests.find_request(connection, key, request_hash)
        )

    async def forget_requests(self, *, before_ms: int) -> int:
        """See the port."""
        forgotten = 0
        while True:
            part = await self._session().writer.write(lambda connection: requests.forget_some(connection, before_ms))
            forgotten += part
            if part < requests.SWEEP:
                return forgotten
