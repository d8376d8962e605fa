"""Tool calls on their way between runs and workers."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from clew_storage.records.threads import ThreadKey


class CallName(Struct, frozen=True):
    """A tool call by its thread and its idempotency key, which stays the same over retries of its run."""

    key: ThreadKey
    name: str


class CallState(StrEnum):
    """Where a call is: nobody has it, a worker has it, it has an outcome, that outcome was taken over by its run, or nobody wants it any more."""

    OPEN = "open"
    GIVEN = "given"
    DONE = "done"
    TAKEN = "taken"
    WITHDRAWN = "withdrawn"


class OfferedCall(Struct, frozen=True):
    """A call that a run wants to be made. `body` is what the worker is told.

    A call that is `once` is given to one worker, and never again; the others are given to the next when a lease is over. `timeout_ms` is counted
    from when it is given for the first time; then it is given to nobody any more. A worker may give it back until it had `max_tries`. One that is
    not known is given to nobody before `not_before_ms`: until then a worker that has it already may say so.
    """

    call: CallName
    tool: str
    body: bytes
    once: bool
    offered_at_ms: int
    timeout_ms: int | None = None
    max_tries: int = 1
    not_before_ms: int = 0


class GivenCall(Struct, frozen=True):
    """A call for a worker to make; `delivery` counts from 1 how often it was given to one. At `deadline_ms` its time is over."""

    offer: OfferedCall
    delivery: int
    deadline_ms: int | None = None


class CallSight(Struct, frozen=True):
    """How a call stands. One whose worker's lease is over is open, or, where it is `once`, `lost`: what became of it only that worker can tell.

    `late`: its time is over. `tries` counts how often it was given back, the last time until
    `not_before_ms`. `outcome` and `progress` are what a worker brought, byte for byte.
    """

    state: CallState
    worker_id: str = ""
    delivery: int = 0
    lost: bool = False
    late: bool = False
    tries: int = 0
    progress: bytes | None = None
    outcome: bytes | None = None
    not_before_ms: int = 0


class WorkerRecord(Struct, frozen=True):
    """A worker that is there. `tools` are the names that it offers, `body` what it says of them; with a `thread_id` it takes calls of that thread alone.

    Of the tools among `once` it takes only calls that are.
    """

    tenant: str
    worker_id: str
    tools: tuple[str, ...]
    body: bytes
    once: tuple[str, ...] = ()
    thread_id: str = ""
    max_calls: int = 10
    draining: bool = False
    created_at_ms: int = 0
