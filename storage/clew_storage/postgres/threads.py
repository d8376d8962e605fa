"""The port's `Threads` on Postgres: each method is one statement, or a few that read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clew_storage.postgres import copies, deletions, heads, infos, requests
from clew_storage.postgres.leases import PostgresLeases
from clew_storage.postgres.sessions import Session
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


class PostgresThreads:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session], leases: PostgresLeases) -> None:
        self._session = session
        self._leases = leases

    async def append(self, write: Write) -> Written:
        """See the port."""
        return await self._session().writer.append(write)

    async def get_head(self, key: ThreadKey) -> Head | None:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: heads.get_head(connection, session.schema, key))

    async def glance(self, keys: Sequence[ThreadKey]) -> Mapping[ThreadKey, Glance]:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: heads.glance(connection, session.schema, keys))

    async def request_cancel(
        self, key: ThreadKey, uid: str, run_version: int, attempt: int, *, request: RequestRecord | None = None
    ) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: infos.request_cancel(
                connection, session.schema, key, uid, run_version, attempt, request=request
            ),
            repeatable=True,
        )

    async def get_checkpoint(self, key: ThreadKey, version: int) -> CheckpointRecord | None:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: heads.get_checkpoint(connection, session.schema, key, version))

    async def list_checkpoints(
        self, key: ThreadKey, *, before_version: int | None, limit: int, at_version: int | None = None
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: heads.list_checkpoints(
                connection, session.schema, key, before_version=before_version, limit=limit, at_version=at_version
            )
        )

    async def read_log(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
    ) -> Sequence[LogEntry]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: heads.read_log(
                connection, session.schema, key, uid, after_version=after_version, limit=limit, max_bytes=max_bytes
            )
        )

    async def list_starts(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: heads.list_starts(
                connection, session.schema, key, uid, after_version=after_version, limit=limit
            )
        )

    async def get_state(self, key: ThreadKey, *, version: int | None) -> dict[str, bytes] | None:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: heads.get_state(connection, session.schema, key, version))

    async def list_threads(
        self, tenant: str, where: ThreadFilter, *, by_update: bool, after: tuple[int, str] | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: infos.list_threads(
                connection, session.schema, tenant, where, by_update=by_update, after=after, limit=limit
            )
        )

    async def list_interrupted(
        self, apps: Sequence[str], *, after: ThreadKey | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: infos.list_interrupted(connection, session.schema, apps, after=after, limit=limit)
        )

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
        session = self._session()
        return await session.write(
            lambda connection: infos.change_info(
                connection, session.schema, key, change, create=create, request=request, now_ms=now_ms
            ),
            # A recorded request is found when it is made again, and its caller reads what came of it.
            repeatable=request is not None,
        )

    async def copy_thread(self, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write) -> Written:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: copies.copy_thread(connection, session.schema, source, source_uid, target, write),
            repeatable=write.request is not None,
        )

    async def delete_thread(
        self, key: ThreadKey, *, request: RequestRecord | None, now_ms: int, expected_version: int | None = None
    ) -> bool:
        """See the port."""
        session = self._session()

        async def delete() -> bool:
            # Who waits for the thread in this process is dismissed with it, and so has a ticket first.
            await self._leases.asked(key)
            deleted = await session.connections.run(
                lambda connection: deletions.delete_thread(
                    connection, session.schema, key, request=request, now_ms=now_ms, expected_version=expected_version
                ),
                repeatable=request is not None,
            )
            if deleted is not None:
                self._leases.revoke(key, deleted.epoch, deleted.tickets)
            return deleted is not None

        return await session.carry_out(delete())

    async def find_request(self, key: ThreadKey, request_hash: bytes) -> RequestRecord | None:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: requests.find_request(connection, session.schema, key, request_hash)
        )

    async def forget_requests(self, *, before_ms: int) -> int:
        """See the port."""
        forgotten = 0
        while True:
            session = self._session()
            part = await session.write(
                lambda connection: requests.forget_some(connection, session.schema, before_ms),  # noqa: B023 - it is run now
                repeatable=True,
            )
            forgotten += part
            if part < requests.SWEEP:
                return forgotten
