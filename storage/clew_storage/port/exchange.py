"""The port's `Exchange`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from clew_storage.records import CallName, CallSight, GivenCall, OfferedCall, WorkerRecord


class Exchange(Protocol):
    """Hands tool calls from runs to workers, and outcomes back, on whatever servers of the database both are.

    What is here need not outlive a crash of the database: a run whose call is gone offers it again, and a worker whose outcome was not taken
    brings it again. What must last is in the thread's log. A database that is shared counts leases by its own clock, whatever `now_ms` is.
    """

    async def register(self, worker: WorkerRecord, *, lease_s: float, now_ms: int) -> bool:
        """Let a worker be there for so long, in the place of what it said before; whether it is draining. One that is stays so until it is dismissed."""

    async def drain(self, tenant: str, worker_id: str) -> bool:
        """The worker is to be given no more calls; False where it is not known."""

    async def dismiss(self, tenant: str, worker_id: str) -> None:
        """The worker is gone. What it was given stays its own until the leases are over."""

    async def list_workers(
        self, tenant: str, *, tools: Collection[str], after: str | None, limit: int, now_ms: int
    ) -> Sequence[WorkerRecord]:
        """Those that are there by their ids, beyond `after`; with tools those that offer one of them."""

    async def offer(self, offer: OfferedCall) -> CallSight:
        """Want a call to be made, and tell how it stands. One that is known stays as it is, with the worker that has it, and its outcome;

        one that was withdrawn begins anew, and so does one whose outcome was taken, where its run wants another.
        """

    async def claim(
        self, worker: WorkerRecord, *, tools: Collection[str], limit: int, lease_s: float, now_ms: int
    ) -> Sequence[GivenCall]:
        """Give a worker up to so many calls of these tools, the oldest first: open ones, and those whose worker's lease is over."""

    async def hold(
        self, tenant: str, worker_id: str, calls: Sequence[CallName], *, lease_s: float, now_ms: int
    ) -> Collection[CallName]:
        """Renew the leases of a worker's calls; those that are the worker's now.

        One that is open again, since the lease was over, is the worker's again.
        """

    async def reopen(self, tenant: str, worker_id: str, *, but: Collection[CallName]) -> int:
        """What the worker was given, but for these, never came to it: those that are not `once` are open again; how many."""

    async def give_back(self, tenant: str, worker_id: str, call: CallName, *, not_before_ms: int) -> bool:
        """The worker has tried the call, which is open again, to be given from then on; False where it is not the worker's, or had all its tries."""

    async def report(self, worker_id: str, call: CallName, progress: bytes) -> bool:
        """How far the call is, in the place of what was said before; False where it is not the worker's."""

    async def finish(self, worker_id: str, call: CallName, outcome: bytes) -> CallSight | None:
        """Bring an outcome, which is kept if the call has none; how the call stands then. None where it is not known.

        Of a worker whose lease is over it is taken as long as nobody else has the call.
        """

    async def sight(self, calls: Sequence[CallName], *, now_ms: int) -> Mapping[CallName, CallSight]:
        """How calls stand; those that are not known are left out."""

    async def take(self, calls: Sequence[CallName]) -> None:
        """Their outcomes are in the log: whoever brings one again is told so, for as long as `forget` lets it."""

    async def withdraw(self, calls: Sequence[CallName]) -> None:
        """They are not wanted any more: whoever has one is to be told so, for as long as `forget` lets it."""

    async def forget(self, *, before_ms: int) -> int:
        """Drop calls that were offered before and taken, withdrawn or left by a worker whose lease is over, and workers of whom that is so; how many calls went."""
