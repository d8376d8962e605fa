"""Workers at this server: each is given calls as long as it has room for them, and is told which it has lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.call_questions import question_about
from clew_engine.errors import LeaseLostError, StreamCutError
from clew_engine.worker_tools import limits_of
from clew_storage import CallName, CallSight, CallState, GivenCall, Status, WorkerRecord

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# Of so many looks a worker without calls takes one: what is offered at this server it hears of at once.
_IDLE_LOOKS = 5


class Why(StrEnum):
    """Why a worker is to stop a call: nobody wants it any more, or another worker has it."""

    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker is told at a time."""

    calls: Sequence[GivenCall] = ()
    revoked: Mapping[CallName, Why] = field(default_factory=dict)


@dataclass(slots=True)
class Session:
    """One open stream of a worker. `limits` are how many calls it takes of each tool; `calls` what it has, by their tools where they are known.

    `over` is why the stream is to end.
    """

    worker: WorkerRecord
    limits: Mapping[str, int]
    calls: dict[CallName, str] = field(default_factory=dict)
    over: Exception | None = None
    registered: float = 0.0

    def room(self) -> dict[str, int]:
        """How many more calls it takes of each tool that it has room for."""
        left = 0 if self.worker.draining else self.worker.max_calls - len(self.calls)
        running = list(self.calls.values())
        room = {tool: min(left, limit - running.count(tool)) for tool, limit in self.limits.items()}
        return {tool: most for tool, most in room.items() if most > 0}


class Workers:
    """The sessions of one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._sessions: dict[tuple[str, str], Session] = {}

    async def work(self, worker: WorkerRecord, held: Sequence[CallName] = ()) -> AsyncGenerator[Told, None]:
        """What the worker is told, until it has drained; first, and when nothing happens, nothing in particular.

        Raises LeaseLostError when another stream comes under its id, and StreamCutError when the server stops.
        """
        session = Session(worker, limits_of(worker))
        name = worker.tenant, worker.worker_id
        if before := self._sessions.get(name):
            before.over = LeaseLostError(f"another stream has come as worker {worker.worker_id}")
            self._storage.desk.hint()
        self._sessions[name] = session
        try:
            async with self._storage.desk.changes() as changed:
                yield Told(revoked=await self._come(session, held))
                told_at = time.monotonic()
                while True:
                    changed.clear()
                    if session.over is not None:
                        raise session.over
                    told = Told(await self._claim(session), await self._revoked(session))
                    if told.calls or told.revoked or time.monotonic() - told_at >= self._storage.tuning.heartbeat_s:
                        yield told
                        told_at = time.monotonic()
                    if session.worker.draining and not session.calls:
                        return
                    await self._change(session, changed, told_at)
        finally:
            if self._sessions.get(name) is session:
                del self._sessions[name]
                self._storage.spawn(self._storage.backend.exchange.dismiss(*name))

    async def drain(self, tenant: str, worker_id: str) -> bool:
        """Give the worker no more calls, at whatever server its stream is; False where it is not known."""
        known = await self._storage.backend.exchange.drain(tenant, worker_id)
        if session := self._sessions.get((tenant, worker_id)):
            session.worker = replace(session.worker, draining=True)
            self._storage.desk.hint()
        return known

    def end(self, reason: str) -> None:
        """End every stream: its worker goes to another server."""
        for session in self._sessions.values():
            what = f"the stream of worker {session.worker.worker_id} was cut: {reason}; work on, at another server"
            session.over = StreamCutError(0, reason, what)
        self._storage.desk.hint()

    async def renew(self, tenant: str, worker_id: str, calls: Sequence[CallName]) -> Mapping[CallName, Why]:
        """The worker is at these calls; those that are its own no longer."""
        exchange, lease_s = self._storage.backend.exchange, self._storage.tuning.call_lease_s
        now = self._storage.now_ms()
        held = await exchange.hold(tenant, worker_id, calls, lease_s=lease_s, now_ms=now)
        lost = [call for call in calls if call not in held]
        seen = await exchange.sight(lost, now_ms=now) if lost else {}
        why = {call: _why(worker_id, seen[call]) if call in seen else await self._unwanted(call) for call in lost}
        return {call: each for call, each in why.items() if each is not None}

    async def _unwanted(self, call: CallName) -> Why | None:
        """Whether nobody will want a call that is not known here: its run may be yet to be retried, or want it anew."""
        head = await self._storage.backend.threads.get_head(call.key)
        if head is None or head.thread.head_status is None:
            return Why.CANCELLED
        asked = question_about(head, call)
        return None if asked is not None or head.thread.head_status is Status.IN_PROGRESS else Why.CANCELLED

    async def report(self, worker_id: str, call: CallName, progress: bytes) -> bool:
        """How far a call is, as JSON; False where it is not the worker's."""
        reported = await self._storage.backend.exchange.report(worker_id, call, progress)
        self._storage.desk.board.hint()
        return reported

    async def _come(self, session: Session, held: Sequence[CallName]) -> Mapping[CallName, Why]:
        tenant, worker_id = session.worker.tenant, session.worker.worker_id
        await self._register(session)
        revoked = await self.renew(tenant, worker_id, held)
        # What it was given and does not hold never came to it.
        await self._storage.backend.exchange.reopen(tenant, worker_id, but=held)
        session.calls |= {call: "" for call in held if call not in revoked}
        self._storage.desk.hint()
        return revoked

    async def _register(self, session: Session) -> None:
        exchange, lease_s = self._storage.backend.exchange, self._storage.tuning.call_lease_s
        draining = await exchange.register(session.worker, lease_s=lease_s, now_ms=self._storage.now_ms())
        session.worker = replace(session.worker, draining=draining)
        session.registered = time.monotonic()

    async def _claim(self, session: Session) -> list[GivenCall]:
        """Calls that it has room for, a tool at a time where one has less room than the others."""
        given: list[GivenCall] = []
        while room := session.room():
            most = min(room.values())
            some = await self._storage.backend.exchange.claim(
                session.worker,
                tools=tuple(room),
                limit=most,
                lease_s=self._storage.tuning.call_lease_s,
                now_ms=self._storage.now_ms(),
            )
            given += some
            session.calls |= {each.offer.call: each.offer.tool for each in some}
            if len(some) < most:
                break
        if given:
            # Those who wait for them see that they were taken.
            self._storage.desk.board.hint()
        return given

    async def _revoked(self, session: Session) -> Mapping[CallName, Why]:
        """What it had and has no more. What it finished or gave back goes without a word."""
        if not session.calls:
            return {}
        seen = await self._storage.backend.exchange.sight(tuple(session.calls), now_ms=self._storage.now_ms())
        revoked = {}
        for call in tuple(session.calls):
            sight = seen.get(call)
            if sight is None:
                # Its run will want it anew. Whether nobody does is found out when the worker renews it.
                continue
            why = _why(session.worker.worker_id, sight)
            if why is not None:
                revoked[call] = why
            elif _is_held(session.worker.worker_id, sight):
                continue
            del session.calls[call]
        return revoked

    async def _change(self, session: Session, changed: asyncio.Event, told_at: float) -> None:
        """Until something may have changed, or it is to be said again that the worker is there."""
        tuning = self._storage.tuning
        now = time.monotonic()
        due_s = min(session.registered + tuning.call_lease_s / 3, told_at + tuning.heartbeat_s) - now
        if session.calls:
            due_s = min(due_s, tuning.look_s)
        elif self._storage.backend.shared:
            due_s = min(due_s, _IDLE_LOOKS * tuning.look_s)
        try:
            async with asyncio.timeout(max(0.0, due_s)):
                await changed.wait()
        except TimeoutError:
            pass
        if time.monotonic() - session.registered >= tuning.call_lease_s / 3:
            await self._register(session)


def _why(worker_id: str, sight: CallSight) -> Why | None:
    """Why a worker is to stop a call, if it is."""
    if sight.state is CallState.WITHDRAWN:
        return Why.CANCELLED
    if sight.worker_id not in (worker_id, "") and sight.state is not CallState.OPEN:
        return Why.LEASE_LOST
    return None


def _is_held(worker_id: str, sight: CallSight) -> bool:
    return sight.worker_id == worker_id and sight.state in (CallState.OPEN, CallState.GIVEN)
