"""A worker: tools that this process runs for agents, whatever servers those are on."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

import grpc

from clew.argument_checks import checked
from clew.errors import (
    ArgumentInvalidError,
    CallNotPendingError,
    ClewError,
    ExhaustedError,
    InvalidError,
    LeaseLostError,
    PermissionDeniedError,
    StateTooLargeError,
    ThreadInterruptedError,
    UnauthenticatedError,
)
from clew.json_text import decode_json
from clew.v1 import worker_pb2 as pb
from clew.v1 import worker_service_pb2 as service_pb
from clew.v1.worker_service_pb2_grpc import WorkerServiceStub
from clew.worker_tools import OfferedTool, ToolSettings, call_of, cut, failed, offered

if TYPE_CHECKING:
    from clew.client import Client

F = TypeVar("F", bound=Callable[..., Any])
Key = tuple[str, str]

_log = logging.getLogger("clew.worker")
# What no later try mends.
_FINAL = (InvalidError, LeaseLostError, PermissionDeniedError, UnauthenticatedError)
# How long one try to bring an outcome may take, and how long is waited between two, from the first on; seconds.
_FINISH_S = 30.0
# How long a worker that has nothing left waits for its server to end the stream.
_LAST_WORD_S = 2.0
_PAUSES = (0.1, 5.0)


@dataclass
class _Held:
    """A call that this worker has: being run, or with an outcome that is not acknowledged."""

    wire: pb.WorkerCall
    task: asyncio.Task[None] | None = None
    outcome: pb.CallResult | pb.CallError | None = None
    # The same call as it was given again while its outcome was being brought.
    again: pb.WorkerCall | None = None
    asked_again: asyncio.Event = field(default_factory=asyncio.Event)


class Worker:
    """Runs tools; made by `client.worker()`.

    It keeps what came of a call until a server has written that down, over broken connections and restarts of the server. Where this process
    dies, the calls that it had are given to another worker, but for those that are `once`: people are asked what became of them.
    """

    def __init__(self, client: Client, worker_id: str, max_calls: int, thread_id: str) -> None:
        self.worker_id = worker_id or f"worker-{secrets.token_hex(8)}"
        self._client = client
        self._max_calls = max_calls
        self._thread_id = thread_id
        self._tools: dict[str, OfferedTool] = {}
        self._held: dict[Key, _Held] = {}
        self._lease_s = 30.0
        self._ready = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._stopping = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._stream: Any = None
        self._ended = asyncio.Event()

    def __repr__(self) -> str:
        return f"Worker({self.worker_id!r}, tools={list(self._tools)!r})"

    @overload
    def tool(self, function: F, /, **settings: Unpack[ToolSettings]) -> F: ...
    @overload
    def tool(self, /, **settings: Unpack[ToolSettings]) -> Callable[[F], F]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **settings: Unpack[ToolSettings]) -> Any:
        """Offer a function: `@worker.tool`, or `@worker.tool(once=True, timeout=30)`. A plain one runs in a thread.

        Args:
            function: Takes the arguments by their names. It returns text, any JSON value, or a ToolContent, and raises ToolError.
            name: What agents call it; the function's name.
            description: What the model is told; the function's docstring.
            parameters: The JSON schema of its arguments; read off the function's signature where pydantic is installed.
            once: A call runs at most once: it is never started again by itself when its result is not known.
            timeout: Seconds that a call may take, over all its tries.
            max_calls: How many run at a time; 0 for as many as the worker takes at all.
            max_tries: How often a call is tried that fails with an error that is retryable.
        """

        def offer(decorated: Callable[..., Any]) -> Callable[..., Any]:
            tool = offered(decorated, **settings)
            if tool.offer.name in self._tools:
                text = f"name: this worker already has a tool {tool.offer.name!r}"
                raise ArgumentInvalidError(text, metadata={"field": "name"})
            self._tools[tool.offer.name] = tool
            return decorated

        return offer if function is None else offer(function)

    async def run(self) -> None:
        """Take calls until `drain`; broken connections are mended for as long as it takes.

        Raises what no later try mends: a tool that the server refuses, a credential, or LeaseLostError when another process has come under this
        worker's id. When it is cancelled, what runs is cancelled too.
        """
        if self._work is not None:
            raise RuntimeError("this worker runs already")
        self._work = asyncio.current_task()
        renewing = asyncio.create_task(self._renew())
        try:
            await self._take_calls()
            await self._empty.wait()
        finally:
            self._work = None
            renewing.cancel()
            tasks = [held.task for held in self._held.values() if held.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(renewing, *tasks, return_exceptions=True)
            self._ready.clear()

    async def ready(self) -> None:
        """Wait until a server has registered this worker."""
        await self._ready.wait()

    @checked
    async def drain(self, within: float = 30.0) -> None:
        """Take no more calls, finish those that are there, and let `run` end. What is not done within so many seconds is left to its lease."""
        self._stopping.set()
        with suppress(ClewError):
            await self._ask(self._stub.DrainWorker, service_pb.DrainWorkerRequest(worker_id=self.worker_id))
        try:
            async with asyncio.timeout(within):
                await self._empty.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORD_S):
                    await self._ended.wait()
            if self._stream is not None:
                self._stream.cancel()
        except TimeoutError:
            _log.warning("%d calls were not done in time, and are left to their leases", len(self._held))
            if self._work is not None:
                self._work.cancel()

    def main(self, drain_timeout: float = 30.0) -> None:
        """Run until the process is asked to stop (SIGTERM or Ctrl-C), then drain: the whole of a worker's program."""
        with suppress(asyncio.CancelledError):
            asyncio.run(self._main(drain_timeout))

    async def _main(self, drain_timeout: float) -> None:
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked.set)
        async with self._client:
            work, stop = asyncio.create_task(self.run()), asyncio.create_task(asked.wait())
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
            if not work.done():
                await self.drain(drain_timeout)
            await work

    @property
    def _stub(self) -> WorkerServiceStub:
        return self._client.connection().workers

    async def _ask(self, method: Any, request: Any, within: float | None = None) -> Any:
        return await self._client.connection().ask(method, request, within)

    async def _take_calls(self) -> None:
        tries = 0
        self._ended.clear()
        while not self._stopping.is_set():
            self._stream = self._opened()
            try:
                async for response in self._stream:
                    tries = 0
                    self._heed(response)
                break
            except asyncio.CancelledError:
                if self._is_cancelled():
                    raise
                break
            except grpc.aio.AioRpcError as refused:
                error = self._client.connection().error_of(refused)
                if isinstance(error, _FINAL):
                    raise error from None
                if tries == 0:
                    _log.warning("the stream of calls broke, and is opened again: %s", error.message)
            with suppress(TimeoutError):
                async with asyncio.timeout(_pause(tries)):
                    await self._stopping.wait()
            tries += 1
        self._ended.set()

    def _is_cancelled(self) -> bool:
        """Whether the task was cancelled, and not the stream alone."""
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0

    def _opened(self) -> Any:
        request = service_pb.WorkRequest(
            worker_id=self.worker_id,
            tools=[tool.offer for tool in self._tools.values()],
            max_calls=self._max_calls,
            thread_id=self._thread_id,
            held=[held.wire.name for held in self._held.values()],
        )
        return self._stub.Work(request, metadata=self._client.connection().metadata())

    def _heed(self, response: service_pb.WorkResponse) -> None:
        if response.HasField("ready"):
            self._lease_s = response.ready.lease.ToMilliseconds() / 1000
            self._ready.set()
        for revoked in response.revoked:
            self._drop(_key(revoked.call))
        for wire in response.calls:
            self._begin(wire)

    def _begin(self, wire: pb.WorkerCall) -> None:
        """Run a call that is new here; of one that is known the outcome is brought when it is there."""
        known = self._held.get(_key(wire.name))
        if known is not None:
            if known.outcome is not None:
                known.again = wire
                known.asked_again.set()
            return
        held = self._held[_key(wire.name)] = _Held(wire)
        self._empty.clear()
        held.task = asyncio.create_task(self._carry_out(held))

    def _drop(self, key: Key) -> None:
        """The call is not wanted from this worker."""
        held = self._held.get(key)
        if held is not None and held.task is not None:
            held.task.cancel()

    async def _carry_out(self, held: _Held) -> None:
        retried = False
        try:
            held.outcome = await self._outcome(held)
            retried = await self._bring(held)
        finally:
            del self._held[_key(held.wire.name)]
            if retried and held.again is not None:
                self._begin(held.again)
            if not self._held:
                self._empty.set()

    async def _outcome(self, held: _Held) -> pb.CallResult | pb.CallError:
        wire = held.wire
        arguments = decode_json(wire.arguments_json, {})

        async def report(progress_json: str) -> None:
            request = service_pb.ReportProgressRequest(
                worker_id=self.worker_id, call=wire.name, progress_json=progress_json
            )
            with suppress(ClewError):
                await self._ask(self._stub.ReportProgress, request)

        try:
            return await self._tools[wire.tool].run(arguments, call_of(wire, report))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a tool raises is its outcome
            return failed(error)

    async def _bring(self, held: _Held) -> bool:
        """Until a server has the outcome, or says that nobody wants it; whether the call is tried again instead."""
        tries = 0
        while True:
            held.asked_again.clear()
            held.again = None
            try:
                response = await self._ask(self._stub.FinishCall, self._finished(held), _FINISH_S)
                return bool(response.retried)
            except CallNotPendingError as error:
                _log.info("an outcome of %s came too late: %s", held.wire.tool, error.message)
                return False
            except ThreadInterruptedError as error:
                _log.info("the outcome of %s is kept: %s", held.wire.tool, error.message)
            except ClewError as error:
                if _cannot_be_kept(error):
                    if isinstance(held.outcome, pb.CallError):
                        _log.error("what became of %s cannot be told: %s", held.wire.tool, error.message)
                        return False
                    why = f"the result of {held.wire.tool} cannot be kept: {error.message}"
                    held.outcome = pb.CallError(message=cut(why))
                    continue
                if tries == 0:
                    _log.warning(
                        "the outcome of %s could not be brought, and is kept: %s", held.wire.tool, error.message
                    )
            with suppress(TimeoutError):
                async with asyncio.timeout(_pause(tries)):
                    await held.asked_again.wait()
            tries += 1

    def _finished(self, held: _Held) -> service_pb.FinishCallRequest:
        request = service_pb.FinishCallRequest(worker_id=self.worker_id, call=held.wire.name)
        if isinstance(held.outcome, pb.CallError):
            request.error.CopyFrom(held.outcome)
        elif held.outcome is not None:
            request.result.CopyFrom(held.outcome)
        return request

    async def _renew(self) -> None:
        """Say in good time that the calls are being worked on."""
        await self._ready.wait()
        while True:
            await asyncio.sleep(self._lease_s / 3)
            calls = [held.wire.name for held in self._held.values()]
            if not calls:
                continue
            request = service_pb.RenewCallsRequest(worker_id=self.worker_id, calls=calls)
            with suppress(ClewError):
                response = await self._ask(self._stub.RenewCalls, request, self._lease_s / 3)
                for revoked in response.revoked:
                    self._drop(_key(revoked.call))


def _cannot_be_kept(error: ClewError) -> bool:
    """Whether a server will never take this outcome: it is wrong or too large, by its own words or the transport's."""
    return isinstance(error, InvalidError | StateTooLargeError) or type(error) is ExhaustedError


def _key(name: pb.CallName) -> Key:
    return name.thread_id, name.idempotency_key


def _pause(tries: int) -> float:
    """How long to wait before the next try; workers that lost one server do not come back at once."""
    first, most = _PAUSES
    longest: float = min(most, first * 2 ** min(tries, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
