"""The driver of the Python client: see README.md here."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from clew import ClewError, Client, Decision, Event, EventStream, Limits, RunFailedError, Thread
from tests.golden.python_worker import work
from tests.golden.views import plain

Args = dict[str, Any]
_OPTIONS = ("on_busy", "busy_timeout", "expected_version", "request_id", "timeout")
_CHOICES: dict[str, Callable[[str, Any], Decision]] = {
    "approve": lambda approval_id, _: Decision.approve(approval_id),
    "arguments": lambda approval_id, value: Decision.approve(approval_id, json.loads(value)),
    "reject": Decision.reject,
    "value": lambda approval_id, value: Decision.answer(approval_id, json.loads(value)),
    "run_again": lambda approval_id, _: Decision.run_again(approval_id),
    "result": lambda approval_id, value: Decision.result(approval_id, json.loads(value)),
    "fail": Decision.fail,
}


class PythonDriver:
    """Does what the lines say, side by side."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._reading: dict[int, asyncio.Event] = {}

    async def run(self) -> None:
        """Until there are no more lines."""
        reader = asyncio.StreamReader(limit=64 << 20)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            told = json.loads(line)
            self._tasks[told["id"]] = asyncio.create_task(self._do(told))
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _do(self, told: Args) -> None:
        try:
            say(told, await self._outcome(told))
        except ClewError as error:
            say(told, {"error": _error(error)})
        except asyncio.CancelledError:
            say(told, {"left": True})

    async def _outcome(self, told: Args) -> Args:
        op, of = told["op"], told.get("of", 0)
        if op == "leave":
            self._tasks[of].cancel()
            await asyncio.wait((self._tasks[of],))
            return {"result": None}
        if op in ("hold", "read_on"):
            (self._reading[of].clear if op == "hold" else self._reading[of].set)()
            return {"result": None}
        if op == "connect":
            self._client = Client(told["target"], token=told.get("token"), **told.get("times", {}))
            return {"result": None}
        stream = self._stream(told)
        if stream is None:
            return {"result": plain(await self._read(told))}
        return await self._told(told, stream)

    async def _told(self, told: Args, stream: EventStream) -> Args:
        """The events of a stream, and what it came to."""
        may_read = self._reading[told["id"]] = asyncio.Event()
        may_read.set()
        if told["op"] == "watch":
            async for event in stream:
                say(told, {"event": plain(event)})
                await may_read.wait()
            return {"result": None}
        said = _Telling(told, stream, may_read)
        return {"reply": plain(await said.reply())}

    def _thread(self, told: Args) -> Thread:
        return self._client.app(told["app"]).thread(told["thread"], actor=told.get("actor"))

    def _stream(self, told: Args) -> EventStream | None:
        thread, options = self._thread(told), {name: told[name] for name in _OPTIONS if name in told}
        if "limits" in told:
            options["limits"] = Limits(**told["limits"])
        match told["op"]:
            case "send":
                state = json.loads(told["state"]) if "state" in told else None
                more = {name: told[name] for name in ("user_id", "metadata") if name in told}
                return thread.stream(told["text"], state=state, **more, **options)
            case "run":
                return self._client.workflow(told["app"]).thread(told["thread"]).stream(json.loads(told["values"]))
            case "decide":
                return thread.stream_decide([_decision(each) for each in told["decisions"]], **options)
            case "approve":
                arguments = json.loads(told["arguments"]) if "arguments" in told else None
                return thread.stream_approve(*told.get("ids", ()), arguments=arguments, **options)
            case "reject":
                return thread.stream_reject(told.get("reason", ""), *told.get("ids", ()), **options)
            case "resume":
                return thread.stream_resume(json.loads(told["value"]), **options)
            case "retry":
                return thread.stream_retry(**options)
            case "watch":
                where = {name: told[name] for name in ("run_id", "follow", "timeout") if name in told}
                return thread.watch(told.get("after_version", 0), **where)
            case _:
                return None

    def _read(self, told: Args) -> Awaitable[Any]:
        thread = self._thread(told)
        reads: dict[str, Callable[[], Awaitable[Any]]] = {
            "messages": lambda: thread.messages(
                search=told.get("search", ""), order=told.get("order", "oldest_first"), limit=told.get("limit")
            ),
            "state": lambda: _text(thread.state(told.get("checkpoint"))),
            "history": lambda: thread.history(told.get("limit")),
            "rewind": lambda: thread.rewind(told["checkpoint"]),
            "copy": lambda: _id(thread.copy(told["to"])),
            "cancel": lambda: thread.cancel(told.get("run_id", "")),
            "info": thread.info,
            "delete": thread.delete,
            "approvals": thread.approvals,
            "update_state": lambda: thread.update_state(
                json.loads(told.get("values", "{}")), remove_keys=told.get("remove_keys", ())
            ),
        }
        return reads[told["op"]]()


class _Telling(EventStream):
    """A stream whose events are told while its reply is waited for."""

    def __init__(self, told: Args, stream: EventStream, may_read: asyncio.Event) -> None:
        super().__init__(stream._events)  # a program reads the events or waits for the reply; a driver does both
        self._told = told
        self._may_read = may_read

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        async with aclosing(super().__aiter__()) as events:
            async for event in events:
                say(self._told, {"event": plain(event)})
                await self._may_read.wait()
                yield event


def say(told: Args, what: Args) -> None:
    """A line about what was told."""
    sys.stdout.write(json.dumps({"id": told["id"], **what}) + "\n")
    sys.stdout.flush()


async def _text(state: Awaitable[Any]) -> str:
    return json.dumps(await state)


async def _id(thread: Awaitable[Thread]) -> str:
    return (await thread).id


def _decision(told: Args) -> Decision:
    ((name, value),) = ((name, value) for name, value in told.items() if name != "id")
    return _CHOICES[name](told["id"], value)


def _error(error: ClewError) -> Args:
    said: Args = {"code": error.code, "message": error.message, "metadata": dict(error.metadata)}
    if error.retry_after is not None:
        said["retry_after"] = error.retry_after
    if isinstance(error, RunFailedError):
        said |= {"failure_code": error.failure_code, "retryable": error.retryable}
    return said


async def main() -> None:
    """The target is the argument."""
    await PythonDriver(Client(sys.argv[1])).run()


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        work(sys.argv[2], Path(sys.argv[3]))
    else:
        asyncio.run(main())
