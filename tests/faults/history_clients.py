"""Clients that write down what they ask of threads, when, and what they are told, while servers die, stand still and are cut off."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.options import new_request_id
from clew.v1 import message_pb2, thread_service_pb2
from tests.faults.histories import Operation, Verb
from tests.scenarios.handles import PlayedThread
from tests.scenarios.sights import Reader
from tests.scenarios.world import ERRORS

PLANS = ("", "", "|fetch", "|fetch fetch", "|refund", "|refund|fetch")
# How often each is asked for.
WEIGHTS: dict[Verb, int] = {
    "send": 20, "retry": 7, "decide": 9, "update_state": 18, "append": 8, "edit": 5, "erase": 3, "rewind": 4, "cancel": 3, "delete": 1,
    "get": 9, "state": 8, "transcript": 5,
}  # fmt: skip
# After these a call may have had its effect, or may yet have it.
UNKNOWN = frozenset({"unavailable", "storage_unavailable", "stream_cut", "lease_lost", "deadline_exceeded", "internal"})
BUSY_S = 3.0

Call = Callable[[PlayedThread, str], Awaitable[None]]


@dataclass
class Known:
    """What the clients of one thread know of it together."""

    operations: list[Operation] = field(default_factory=list)
    version: int = 0
    checkpoints: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


class HistoryClient:
    """One of the clients of a thread; `reach` gives a handle on it through some server, `plans` are what it asks agents to do."""

    def __init__(
        self,
        reach: Callable[[], PlayedThread],
        known: Known,
        numbers: itertools.count[int],
        dice: random.Random,
        plans: Sequence[str] = PLANS,
    ) -> None:
        self._reach = reach
        self._known = known
        self._numbers = numbers
        self._dice = dice
        self._plans = plans

    async def ask(self, verb: Verb | None = None) -> None:
        """One operation, from its invocation to its answer, if it has one."""
        verb = verb or self._dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        operation = Operation(verb, invoked=0.0, mark=f"{verb}-{next(self._numbers)}")
        call = await self._prepared(operation)
        if call is None:
            return
        operation.invoked = _now()
        self._known.operations.append(operation)
        request = new_request_id()
        if not await self._try(operation, call, request) and self._dice.random() < 0.5:
            await self._try(operation, call, request, again=True)

    async def _try(self, operation: Operation, call: Call, request: str, *, again: bool = False) -> bool:
        """Whether it is known what became of it."""
        try:
            await call(self._reach(), request)
        except TimeoutError:
            return False
        except ERRORS as error:
            code = str(getattr(error, "code", ""))
            # A refusal of the repeated call says nothing of the first.
            if code in UNKNOWN or again or operation.first:
                operation.first = operation.last = 0
                return False
            operation.code = code
        operation.returned = _now()
        self._known.version = max(self._known.version, operation.last)
        return True

    async def _prepared(self, operation: Operation) -> Call | None:
        """How it is asked; None where there is nothing that it could be about."""
        known, dice, mark = self._known, self._dice, operation.mark
        match operation.verb:
            case "send":
                operation.mark += dice.choice(self._plans)
                return lambda thread, request: self._turn(operation, thread.stream(operation.mark, request_id=request))
            case "retry":
                operation.mark = ""
                return lambda thread, request: self._turn(operation, thread.stream_retry(request_id=request))
            case "decide":
                operation.mark = ""
                return await self._decision(operation)
            case "update_state":
                operation.about = dice.choice("abc")
                operation.expected = known.version if dice.random() < 0.2 else None
                return lambda thread, request: self._state_write(operation, thread, request)
            case "append":
                operation.about = f"own-{mark}"
                return lambda thread, request: self._append(operation, thread, request)
            case "edit" | "erase" if known.messages:
                operation.about = dice.choice(known.messages)
                operation.mark = mark if operation.verb == "edit" else ""
                change = self._edit if operation.verb == "edit" else self._erase
                return lambda thread, request: change(operation, thread, request)
            case "rewind" if known.checkpoints:
                operation.mark, operation.about = "", dice.choice(known.checkpoints[-10:])
                return lambda thread, request: self._rewind(operation, thread, request)
            case "cancel" | "delete" | "get" | "state" | "transcript":
                operation.mark = ""
                return lambda thread, request: _ASKED[operation.verb](operation, thread, request)
        return None

    async def _turn(self, operation: Operation, reader: Reader) -> None:
        try:
            turn = await reader.turn()
        finally:
            if told := [event for event in reader.seen if event.run_id and event.version]:
                operation.uid = told[0].run_id.partition(".")[0]
                operation.first = min((each.version for each in told if each.type == "run_started"), default=0)
        operation.last = turn.version

    async def _decision(self, operation: Operation) -> Call | None:
        try:
            waiting = [each["id"] for each in await self._reach().approvals() if each["state"] == "pending"]
        except ERRORS:
            return None
        if not waiting:
            return None
        answers = dict.fromkeys(waiting, self._dice.random() < 0.7)
        return lambda thread, request: self._turn(operation, thread.stream_decide(answers, request_id=request))

    async def _state_write(self, operation: Operation, thread: PlayedThread, request: str) -> None:
        values, expected = {operation.about: operation.mark}, operation.expected
        wrote = await thread.update_state(values, request_id=request, expected_version=expected, busy_timeout=BUSY_S)
        self._at(operation, wrote["id"])

    async def _append(self, operation: Operation, thread: PlayedThread, request: str) -> None:
        part = message_pb2.Part(text=message_pb2.TextPart(text=operation.mark))
        message = message_pb2.NewMessage(id=operation.about, role=message_pb2.ROLE_USER, content=[part])
        asked = thread_service_pb2.AppendMessagesRequest(
            thread_id=thread.id, app=thread.inner.app, messages=[message], request_id=request
        )
        to = _connection(thread)
        self._at(operation, (await to.ask(to.threads.AppendMessages, asked)).checkpoint.id)
        self._known.messages.append(operation.about)

    async def _edit(self, operation: Operation, thread: PlayedThread, request: str) -> None:
        wrote = await thread.update_message(operation.about, operation.mark, request_id=request, busy_timeout=BUSY_S)
        self._at(operation, wrote["id"])

    async def _erase(self, operation: Operation, thread: PlayedThread, request: str) -> None:
        asked = thread_service_pb2.DeleteMessageRequest(
            thread_id=thread.id, message_id=operation.about, request_id=request
        )
        to = _connection(thread)
        self._at(operation, (await to.ask(to.threads.DeleteMessage, asked)).checkpoint.id)

    async def _rewind(self, operation: Operation, thread: PlayedThread, request: str) -> None:
        self._at(operation, (await thread.rewind(operation.about, request_id=request, busy_timeout=BUSY_S))["id"])

    def _at(self, operation: Operation, checkpoint: str) -> None:
        _at(operation, checkpoint)
        self._known.checkpoints.append(checkpoint)


def _at(operation: Operation, checkpoint: str) -> None:
    operation.uid, _, version = checkpoint.partition(".")
    operation.first = operation.last = int(version)


async def _cancel(operation: Operation, thread: PlayedThread, request: str) -> None:
    _at(operation, (await thread.cancel(request_id=request))["id"])


async def _delete(operation: Operation, thread: PlayedThread, request: str) -> None:
    operation.existed = await thread.delete(request_id=request)


async def _get(operation: Operation, thread: PlayedThread, _request: str) -> None:
    info = await thread.info()
    operation.uid, operation.seen = info["thread_uid"], info["status"]
    operation.first = operation.last = info["version"]


async def _state(operation: Operation, thread: PlayedThread, _request: str) -> None:
    to = _connection(thread)
    found = await to.ask(to.threads.GetState, thread_service_pb2.GetStateRequest(thread_id=thread.id))
    operation.seen = json.loads(found.state_json or b"{}")
    _at(operation, found.checkpoint_id)


async def _transcript(operation: Operation, thread: PlayedThread, _request: str) -> None:
    found = await _client_thread(thread).messages()
    operation.seen = [each["content"][0]["text"] for each in found if each["role"] == "user"]


_ASKED: dict[str, Callable[[Operation, PlayedThread, str], Awaitable[None]]] = {
    "cancel": _cancel, "delete": _delete, "get": _get, "state": _state, "transcript": _transcript,
}  # fmt: skip


def _client_thread(thread: PlayedThread) -> Any:
    return thread.inner


def _connection(thread: PlayedThread) -> Any:
    """The replies on the wire say more than the client passes on: which checkpoint was written, and at which version was read."""
    return _client_thread(thread)._client.connection()


def _now() -> float:
    return asyncio.get_running_loop().time()
