"""Where runs hand their calls to workers and wait for what comes of them, on whatever server the worker is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import orjson

from clew_engine.call_board import CallBoard
from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import Message, TextPart, ToolResultPart
from clew_engine.tools import ToolContext, ToolOutput, ToolResultError
from clew_engine.worker_tools import WorkerTool, offered
from clew_storage import CallName, CallSight, CallState, OfferedCall, StorageError, ThreadKey

if TYPE_CHECKING:
    from clew_engine.remote_tools import RemoteTool
    from clew_engine.storage import Storage

_MOST_WORKERS = 200


class NoWorkerError(Exception):
    """No worker took the call in time; a retry of the run offers it again."""


class OutcomeUnknownError(Exception):
    """The worker that had a call which must run at most once is gone or late, and did not say what became of it."""


class FailedCallError(ToolResultError):
    """The worker said that the call failed, or its time is over; the text is told to the model."""


class CallDesk:
    """One for each storage. `hint` wakes whoever waits here: something may have changed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._changed: set[asyncio.Event] = set()
        self.board = CallBoard(storage)

    def hint(self) -> None:
        """A call was offered, given back, finished or taken, or a worker came, in this process."""
        self.board.hint()
        for event in self._changed:
            event.set()

    @asynccontextmanager
    async def changes(self) -> AsyncIterator[asyncio.Event]:
        """Set at each change that this process knows of; others are found out by asking."""
        event = asyncio.Event()
        self._changed.add(event)
        try:
            yield event
        finally:
            self._changed.discard(event)

    async def offered(self, tenant: str, *names: str) -> dict[str, WorkerTool]:
        """What workers say of these tools; those that nobody offers are left out."""
        workers = await self._storage.backend.exchange.list_workers(
            tenant, tools=names, after=None, limit=_MOST_WORKERS, now_ms=self._storage.now_ms()
        )
        said = offered(workers)
        return {name: said[name] for name in names if name in said}

    async def somebody(self, tenant: str, tools: Mapping[str, RemoteTool]) -> None:
        """Come back when workers offer all of these tools. Raises NoWorkerError when nobody came for as long as a tool waits."""
        began = self._storage.now_ms()
        async with self.changes() as changed:
            while missing := tools.keys() - (await self.offered(tenant, *tools)).keys():
                waited_ms = self._storage.now_ms() - began
                if over := next((tools[name] for name in missing if waited_ms >= tools[name].wait_s * 1000), None):
                    raise _nobody(over)
                changed.clear()
                await self._change(changed)

    async def close(self) -> None:
        """Wait for nothing any more."""
        await self.board.close()

    async def call(self, tool: RemoteTool, arguments: str, context: ToolContext) -> ToolOutput:
        """What comes of a call. Raises NoWorkerError, OutcomeUnknownError, FailedCallError, or what the storage raises."""
        call = CallName(ThreadKey(context.tenant, context.thread_id), context.idempotency_key)
        body = orjson.dumps(
            {
                "arguments": arguments,
                "uid": context.thread_uid,
                "run": context.run_id,
                "call": context.call_id,
                "actor": context.actor,
            }
        )
        timeout_ms = None if tool.limit_s is None else round(tool.limit_s * 1000)
        tries = 1 if tool.once else max(1, tool.tries)
        now = self._storage.now_ms()
        # Where the call is not known any more, a worker that has it says so the next time that it renews what it has.
        wait_ms = round(self._storage.tuning.call_lease_s * 1000 / 2) if context.resumed else 0
        offer = OfferedCall(call, tool.name, body, tool.once, now, timeout_ms, tries, now + wait_ms if wait_ms else 0)
        try:
            outcome = await self._outcome(tool, offer, context)
        except asyncio.CancelledError:
            # A run that only lets go is retried, and wants it then.
            if context.stopped():
                self._storage.spawn(self._leave(call, once=tool.once))
            raise
        except (NoWorkerError, OutcomeUnknownError, FailedCallError):
            self._storage.spawn(self._leave(call, once=tool.once))
            raise
        return decode_outcome(outcome)

    async def disown(self, calls: Sequence[CallName]) -> None:
        """Remember of calls that nobody has had them: a retry need not wait for who may."""
        exchange, now = self._storage.backend.exchange, self._storage.now_ms()
        for call in calls:
            # One that somebody has had stays as it is, with its outcome.
            if await exchange.offer(OfferedCall(call, "", b"", False, now)) == CallSight(CallState.OPEN):
                await exchange.withdraw([call])

    def written(self, call: CallName) -> None:
        """As `taken`, which goes on by itself."""
        self._storage.spawn(self.taken(call))

    async def taken(self, call: CallName) -> None:
        """The outcome is in the log: the worker may forget it."""
        await self._storage.backend.exchange.take([call])
        self.hint()

    async def _offer(self, offer: OfferedCall) -> CallSight:
        exchange = self._storage.backend.exchange
        sight = await exchange.offer(offer)
        if offer.once and sight.state is CallState.GIVEN:
            # It was begun before, and people have said that it is to be run again.
            await exchange.withdraw([offer.call])
            sight = await exchange.offer(offer)
        self.hint()
        return sight

    async def _outcome(self, tool: RemoteTool, offer: OfferedCall, context: ToolContext) -> bytes:
        progress: bytes | None = None
        with self.board.following(offer.call):
            sight: CallSight | None = await self._offer(offer)
            open_since = self._storage.now_ms()
            while True:
                if sight is None:
                    # The database has lost what need not last. Of what is done once nobody can tell whether it was begun.
                    if tool.once:
                        raise OutcomeUnknownError(f"what became of {tool.name} was lost with the database's memory")
                    sight = await self._offer(offer)
                elif sight.state is CallState.WITHDRAWN:
                    # By an earlier attempt, which was asked to stop and let go late.
                    sight = await self._offer(offer)
                if sight.outcome is not None:
                    return sight.outcome
                _judge(tool, sight)
                now = self._storage.now_ms()
                if sight.state is not CallState.OPEN:
                    open_since = now
                elif now - max(open_since, sight.not_before_ms) >= tool.wait_s * 1000:
                    raise _nobody(tool)
                if sight.progress is not None and sight.progress != progress:
                    progress = sight.progress
                    context.tell(progress)
                sight = await self.board.sight(offer.call)

    async def _change(self, changed: asyncio.Event) -> None:
        """Until something may have changed. Leases that run out, and other servers, are found out by looking."""
        try:
            async with asyncio.timeout(self._storage.tuning.look_s):
                await changed.wait()
        except TimeoutError:
            pass

    async def _leave(self, call: CallName, *, once: bool) -> None:
        """It is wanted no longer. One that is `once` and was given stays, for its worker to say what became of it."""
        exchange = self._storage.backend.exchange
        try:
            sight = (await exchange.sight([call], now_ms=self._storage.now_ms())).get(call)
            if sight is not None and not (once and sight.state is CallState.GIVEN):
                await exchange.withdraw([call])
        except StorageError:
            # It stays behind, and is dropped when it is old.
            return
        self.hint()


def encode_outcome(result: ToolResultPart) -> bytes:
    """A result as the exchange carries it."""
    return encode_message(Message("", "tool", (result,), 0))


def _judge(tool: RemoteTool, sight: CallSight) -> None:
    """Raises what a call without an outcome has come to."""
    if sight.lost:
        raise OutcomeUnknownError(f"the worker that ran {tool.name} is gone")
    if sight.late:
        message = f"{tool.name} timed out after {tool.limit_s:g} s"
        raise OutcomeUnknownError(message) if tool.once else FailedCallError(message)


def _nobody(tool: RemoteTool) -> NoWorkerError:
    return NoWorkerError(
        f"no worker took the call of {tool.name} within {tool.wait_s:g} s; start one that offers it, and retry the run"
    )


def decode_outcome(outcome: bytes) -> ToolOutput:
    """The output of a call. Raises FailedCallError for one that failed."""
    (part,) = decode_message(outcome, message_id="", created_at_ms=0).content
    assert isinstance(part, ToolResultPart)
    if part.is_error:
        raise FailedCallError("\n".join(each.text for each in part.content if isinstance(each, TextPart)))
    return ToolOutput(part.content, part.structured)
