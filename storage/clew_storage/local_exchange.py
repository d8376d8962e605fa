"""The exchange within one process: whoever owns the database hands calls out from memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from clew_storage.errors import StorageUnavailable
from clew_storage.records import CallName, CallSight, CallState, GivenCall, OfferedCall, WorkerRecord


@dataclass(slots=True)
class _Call:
    offer: OfferedCall
    state: CallState = CallState.OPEN
    worker_id: str = ""
    delivery: int = 0
    until_ms: float = 0
    tries: int = 0
    not_before_ms: int = 0
    deadline_ms: int | None = None
    progress: bytes | None = None
    outcome: bytes | None = None

    def sight(self, now_ms: int) -> CallSight:
        over = self.state is CallState.GIVEN and self.until_ms <= now_ms
        state = CallState.OPEN if over and not self.offer.once else self.state
        lost, late = over and self.offer.once, self.deadline_ms is not None and self.deadline_ms <= now_ms
        return CallSight(
            state,
            self.worker_id,
            self.delivery,
            lost,
            late,
            self.tries,
            self.progress,
            self.outcome,
            self.not_before_ms,
        )

    def is_free(self, now_ms: int) -> bool:
        """Whether a worker may be given it."""
        if self.deadline_ms is not None and self.deadline_ms <= now_ms:
            return False
        if self.state is CallState.GIVEN:
            return not self.offer.once and self.until_ms <= now_ms
        return self.state is CallState.OPEN and self.not_before_ms <= now_ms

    def give(self, worker_id: str, until_ms: float) -> None:
        self.state, self.worker_id, self.until_ms = CallState.GIVEN, worker_id, until_ms


@dataclass(slots=True)
class LocalExchange:
    """Implements the port's `Exchange`. Whether the storage is open is for the backend to say."""

    is_open: Callable[[], bool]
    _calls: dict[CallName, _Call] = field(default_factory=dict)
    _workers: dict[tuple[str, str], tuple[WorkerRecord, float]] = field(default_factory=dict)

    def clear(self) -> None:
        """The storage was closed: nobody waits for anything any more."""
        self._calls.clear()
        self._workers.clear()

    async def register(self, worker: WorkerRecord, *, lease_s: float, now_ms: int) -> bool:
        """See the port."""
        self._check()
        name = worker.tenant, worker.worker_id
        before, _ = self._workers.get(name, (worker, 0.0))
        worker = replace(worker, draining=worker.draining or before.draining)
        self._workers[name] = worker, now_ms + lease_s * 1000
        return worker.draining

    async def drain(self, tenant: str, worker_id: str) -> bool:
        """See the port."""
        self._check()
        if (tenant, worker_id) not in self._workers:
            return False
        worker, until_ms = self._workers[tenant, worker_id]
        self._workers[tenant, worker_id] = replace(worker, draining=True), until_ms
        return True

    async def dismiss(self, tenant: str, worker_id: str) -> None:
        """See the port."""
        self._check()
        self._workers.pop((tenant, worker_id), None)

    async def list_workers(
        self, tenant: str, *, tools: Collection[str], after: str | None, limit: int, now_ms: int
    ) -> Sequence[WorkerRecord]:
        """See the port."""
        self._check()
        found = (
            worker
            for worker, until_ms in self._workers.values()
            if worker.tenant == tenant
            and until_ms > now_ms
            and (not tools or not set(worker.tools).isdisjoint(tools))
            and (after is None or worker.worker_id > after)
        )
        return sorted(found, key=lambda worker: worker.worker_id)[:limit]

    async def offer(self, offer: OfferedCall) -> CallSight:
        """See the port."""
        self._check()
        call = self._calls.get(offer.call)
        if call is None or call.state in (CallState.WITHDRAWN, CallState.TAKEN):
            not_before_ms = offer.not_before_ms if call is None else 0
            call = self._calls[offer.call] = _Call(offer, not_before_ms=not_before_ms)
        return call.sight(offer.offered_at_ms)

    async def claim(
        self, worker: WorkerRecord, *, tools: Collection[str], limit: int, lease_s: float, now_ms: int
    ) -> Sequence[GivenCall]:
        """See the port."""
        self._check()
        wanted = (
            call
            for call in self._calls.values()
            if call.offer.tool in tools
            and call.offer.call.key.tenant == worker.tenant
            and worker.thread_id in ("", call.offer.call.key.thread_id)
            and (call.offer.once or call.offer.tool not in worker.once)
            and call.is_free(now_ms)
        )
        given = []
        for call in sorted(wanted, key=lambda call: call.offer.offered_at_ms)[:limit]:
            call.give(worker.worker_id, now_ms + lease_s * 1000)
            call.delivery += 1
            if call.deadline_ms is None and call.offer.timeout_ms is not None:
                call.deadline_ms = now_ms + call.offer.timeout_ms
            given.append(GivenCall(call.offer, call.delivery, call.deadline_ms))
        return given

    async def hold(
        self, tenant: str, worker_id: str, calls: Sequence[CallName], *, lease_s: float, now_ms: int
    ) -> Collection[CallName]:
        """See the port."""
        self._check()
        held = set()
        for name in calls:
            call = self._calls.get(name)
            if call is None or name.key.tenant != tenant:
                continue
            if call.state is CallState.OPEN or (call.state is CallState.GIVEN and call.worker_id == worker_id):
                call.give(worker_id, now_ms + lease_s * 1000)
                held.add(name)
        return held

    async def reopen(self, tenant: str, worker_id: str, *, but: Collection[CallName]) -> int:
        """See the port."""
        self._check()
        lost = [
            call
            for name, call in self._calls.items()
            if name.key.tenant == tenant
            and (call.state, call.worker_id) == (CallState.GIVEN, worker_id)
            and not call.offer.once
            and name not in but
        ]
        for call in lost:
            call.state, call.worker_id = CallState.OPEN, ""
        return len(lost)

    async def give_back(self, tenant: str, worker_id: str, call: CallName, *, not_before_ms: int) -> bool:
        """See the port."""
        self._check()
        known = self._calls.get(call)
        if known is None or (known.state, known.worker_id, call.key.tenant) != (CallState.GIVEN, worker_id, tenant):
            return False
        if known.tries + 1 >= known.offer.max_tries:
            return False
        known.state, known.worker_id = CallState.OPEN, ""
        known.tries, known.not_before_ms = known.tries + 1, not_before_ms
        return True

    async def report(self, worker_id: str, call: CallName, progress: bytes) -> bool:
        """See the port."""
        self._check()
        known = self._calls.get(call)
        if known is None or known.state is not CallState.GIVEN or known.worker_id != worker_id:
            return False
        known.progress = progress
        return True

    async def finish(self, worker_id: str, call: CallName, outcome: bytes) -> CallSight | None:
        """See the port."""
        self._check()
        known = self._calls.get(call)
        if known is None:
            return None
        if known.state is CallState.OPEN or (known.state is CallState.GIVEN and known.worker_id == worker_id):
            known.state, known.worker_id, known.outcome = CallState.DONE, worker_id, outcome
        return known.sight(0)

    async def sight(self, calls: Sequence[CallName], *, now_ms: int) -> Mapping[CallName, CallSight]:
        """See the port."""
        self._check()
        return {name: self._calls[name].sight(now_ms) for name in calls if name in self._calls}

    async def take(self, calls: Sequence[CallName]) -> None:
        """See the port."""
        self._check()
        for name in calls:
            call = self._calls.get(name)
            if call is not None and call.state is CallState.DONE:
                call.state, call.outcome, call.progress = CallState.TAKEN, None, None

    async def withdraw(self, calls: Sequence[CallName]) -> None:
        """See the port."""
        self._check()
        for name in calls:
            if call := self._calls.get(name):
                call.state, call.outcome, call.progress = CallState.WITHDRAWN, None, None

    async def forget(self, *, before_ms: int) -> int:
        """See the port."""
        self._check()
        old = [
            name
            for name, call in self._calls.items()
            if call.state is not CallState.OPEN
            and call.offer.offered_at_ms < before_ms
            and (call.state in (CallState.TAKEN, CallState.WITHDRAWN) or call.until_ms < before_ms)
        ]
        for name in old:
            del self._calls[name]
        for key in [key for key, (_, until_ms) in self._workers.items() if until_ms <= before_ms]:
            del self._workers[key]
        return len(old)

    def _check(self) -> None:
        if not self.is_open():
            raise StorageUnavailable("the storage is not open")
