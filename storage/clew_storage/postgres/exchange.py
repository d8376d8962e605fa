"""The port's `Exchange` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from clew_storage.postgres import exchanged_calls
from clew_storage.postgres.sessions import Session
from clew_storage.records import CallName, CallSight, GivenCall, OfferedCall, WorkerRecord


class PostgresExchange:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def register(self, worker: WorkerRecord, *, lease_s: float, now_ms: int) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.register(connection, session.schema, worker, lease_s), repeatable=True
        )

    async def drain(self, tenant: str, worker_id: str) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.drain(connection, session.schema, tenant, worker_id), repeatable=True
        )

    async def dismiss(self, tenant: str, worker_id: str) -> None:
        """See the port."""
        session = self._session()
        await session.write(
            lambda connection: exchanged_calls.dismiss(connection, session.schema, tenant, worker_id), repeatable=True
        )

    async def list_workers(
        self, tenant: str, *, tools: Collection[str], after: str | None, limit: int, now_ms: int
    ) -> Sequence[WorkerRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: exchanged_calls.list_workers(connection, session.schema, tenant, tools, after, limit)
        )

    async def offer(self, offer: OfferedCall) -> CallSight:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.offer(connection, session.schema, offer), repeatable=True
        )

    async def claim(
        self, worker: WorkerRecord, *, tools: Collection[str], limit: int, lease_s: float, now_ms: int
    ) -> Sequence[GivenCall]:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.claim(connection, session.schema, worker, tools, limit, lease_s, now_ms)
        )

    async def hold(
        self, tenant: str, worker_id: str, calls: Sequence[CallName], *, lease_s: float, now_ms: int
    ) -> Collection[CallName]:
        """See the port."""
        session = self._session()
        mine = [each for each in calls if each.key.tenant == tenant]
        return await session.write(
            lambda connection: exchanged_calls.hold(connection, session.schema, worker_id, mine, lease_s),
            repeatable=True,
        )

    async def reopen(self, tenant: str, worker_id: str, *, but: Collection[CallName]) -> int:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.reopen(connection, session.schema, tenant, worker_id, but),
            repeatable=True,
        )

    async def give_back(self, tenant: str, worker_id: str, call: CallName, *, not_before_ms: int) -> bool:
        """See the port."""
        session = self._session()
        if call.key.tenant != tenant:
            return False
        return await session.write(
            lambda connection: exchanged_calls.give_back(connection, session.schema, worker_id, call, not_before_ms)
        )

    async def report(self, worker_id: str, call: CallName, progress: bytes) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.report(connection, session.schema, worker_id, call, progress),
            repeatable=True,
        )

    async def finish(self, worker_id: str, call: CallName, outcome: bytes) -> CallSight | None:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.finish(connection, session.schema, worker_id, call, outcome),
            repeatable=True,
        )

    async def sight(self, calls: Sequence[CallName], *, now_ms: int) -> Mapping[CallName, CallSight]:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: exchanged_calls.sight(connection, session.schema, calls))

    async def take(self, calls: Sequence[CallName]) -> None:
        """See the port."""
        session = self._session()
        await session.write(lambda connection: exchanged_calls.take(connection, session.schema, calls), repeatable=True)

    async def withdraw(self, calls: Sequence[CallName]) -> None:
        """See the port."""
        session = self._session()
        await session.write(
            lambda connection: exchanged_calls.withdraw(connection, session.schema, calls), repeatable=True
        )

    async def forget(self, *, before_ms: int) -> int:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: exchanged_calls.forget(connection, session.schema, before_ms), repeatable=True
        )
