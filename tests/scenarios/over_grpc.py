"""The client's handle as scenarios see it, against a server in the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict
from typing import Any

import grpc

import clew
from clew import events as kinds
from clew.event_decoding import event_of
from clew.options import Limits
from clew.refusals import error_of
from clew.v1 import run_service_pb2
from clew_engine import Agent, Storage
from tests.scenarios.sights import Reader, Seen, Turn
from tests.support.serving import Served, serving


class ClientThread:
    """Wraps `clew.Thread`; its streams are read in the background."""

    def __init__(self, served: Served, client: clew.Client, thread: clew.Thread, **options: Any) -> None:
        self.inner = thread
        self.id = thread.id
        self._served = served
        self._client = client
        self._options = options

    def stream(self, text: Any = "hello", **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream(text, **self._options, **options))

    async def send(self, text: Any = "hello", **options: Any) -> Turn:
        return await self.stream(text, **options).turn()

    def stream_decide(self, answers: Mapping[str, Any], **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream_decide(dict(answers), **self._options, **options))

    async def decide(self, answers: Mapping[str, Any], **options: Any) -> Turn:
        return await self.stream_decide(answers, **options).turn()

    async def resume(self, value: Any, **options: Any) -> Turn:
        return await _reader(lambda: self.inner.stream_resume(value, **self._options, **options)).turn()

    def stream_retry(self, **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream_retry(**self._options, **options))

    async def retry(self, **options: Any) -> Turn:
        return await self.stream_retry(**options).turn()

    def watch(self, after_version: int = 0, *, thread_uid: str = "", **options: Any) -> Reader:
        if not thread_uid:
            return _reader(lambda: self.inner.watch(after_version=after_version, **options))
        request = run_service_pb2.WatchRequest(
            thread_id=self.id, after_version=after_version, thread_uid=thread_uid, **options
        )
        return Reader(lambda: self._raw(request))

    async def cancel(self, run_id: str = "", **options: Any) -> dict[str, Any]:
        written = await self.inner.cancel(run_id, **options)
        assert written is not None
        return _checkpoint(written)

    async def rewind(self, checkpoint_id: str, **options: Any) -> dict[str, Any]:
        busy = {name: value for name, value in self._options.items() if name in ("on_busy", "busy_timeout")}
        return _checkpoint(await self.inner.rewind(checkpoint_id, **busy, **options))

    async def copy(self, target_id: str, checkpoint_id: str = "", **options: Any) -> ClientThread:
        await self.inner.copy(target_id, checkpoint_id, **options)
        target = self._client.app(self.inner.app).thread(target_id)
        return ClientThread(self._served, self._client, target, **self._options)

    async def update(self, **changes: Any) -> dict[str, Any]:
        return _info(await self.inner.update(allow_missing=True, **changes))

    async def delete(self, **options: Any) -> bool:
        return await self.inner.delete(**options)

    async def info(self) -> dict[str, Any]:
        return _info(await self.inner.info())

    async def messages(self) -> list[dict[str, Any]]:
        try:
            return await self.inner.messages()
        except clew.ThreadNotFoundError:
            return []

    async def state(self, checkpoint_id: str = "") -> dict[str, Any]:
        return await self.inner.state(checkpoint_id)

    async def history(self, limit: int = 1000) -> list[dict[str, Any]]:
        try:
            return [_checkpoint(each) for each in await self.inner.history(limit)]
        except clew.ThreadNotFoundError:
            return []

    async def approvals(self) -> list[dict[str, Any]]:
        try:
            found = await self._client.approvals.list(thread_id=self.id)
        except clew.ThreadNotFoundError:
            return []
        return [{**asdict(each), "arguments": each.arguments, "digest": each.arguments_digest} for each in found]

    async def _raw(self, request: run_service_pb2.WatchRequest) -> AsyncIterator[Seen]:
        try:
            async for response in self._served.runs.Watch(request):
                for event in filter(None, map(event_of, response.events)):
                    yield seen(event)
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from None


class OverGrpc:
    """The surface of `Client(target).app(name).thread(id)`."""

    def __init__(self, storage: Storage, agents: Sequence[Agent]) -> None:
        self._storage = storage
        self._agents = agents
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Callable[..., ClientThread]:
        served = await self._open.enter_async_context(serving(self._agents, self._storage))
        client = await self._open.enter_async_context(clew.Client(served.target))

        def connect(thread_id: str, *, app: str, actor: str | None = None, **options: Any) -> ClientThread:
            if "limits" in options:
                options["limits"] = Limits(**options["limits"])
            return ClientThread(served, client, client.app(app).thread(thread_id, actor), **options)

        return connect

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()


def _reader(stream: Callable[[], clew.EventStream]) -> Reader:
    async def events() -> AsyncIterator[Seen]:
        async with aclosing(stream()) as opened:
            async for event in opened:
                yield seen(event)

    return Reader(events)


def seen(event: clew.Event) -> Seen:
    """A client's event in the form of both surfaces."""
    return Seen(event.type, event.version, event.last_of_version, event.run_id, _data(event.payload))


def _data(payload: Any) -> dict[str, Any]:
    match payload:
        case kinds.RunQueued(ahead):
            return {"ahead": ahead}
        case kinds.RunStarted(attempt):
            return {"attempt": attempt}
        case kinds.TextDelta() | kinds.ReasoningDelta():
            return {"message_id": payload.message_id, "offset": payload.offset, "text": payload.text}
        case kinds.MessageDiscarded(message_id, code):
            return {"message_id": message_id, "code": code}
        case kinds.ToolCallStarted(call):
            return {"call_id": call["id"], "tool": call["name"], "arguments": call["args"]}
        case kinds.ToolCallFinished():
            return {"call_id": payload.tool_call_id, "tool": payload.name, "outcome": payload.outcome}
        case kinds.ApprovalRequested(approval):
            return {"approval": approval.id, "tool": approval.tool}
        case kinds.CheckpointWritten(checkpoint, parent, messages):
            told = {name: checkpoint[name] for name in ("id", "status", "source")}
            return told | {"parent": parent, "messages": [message["id"] for message in messages]}
        case kinds.RunSuspended(approvals):
            return {"approvals": [approval.id for approval in approvals]}
        case kinds.RunCompleted(reply):
            tokens = reply.usage.input_tokens + reply.usage.output_tokens
            return {"text": reply.text, "steps": reply.steps, "tokens": tokens}
        case kinds.RunFailed():
            return {"code": payload.code, "retryable": payload.retryable, "message": payload.message}
        case _:
            return {}


def _checkpoint(view: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(view)
    if "failure_code" in plain:
        plain["failure"] = {"code": plain.pop("failure_code")}
    return plain


def _info(info: clew.ThreadInfo) -> dict[str, Any]:
    run = {"run_id": info.run.run_id, "state": info.run.state} if info.run else None
    return {**asdict(info), "run": run, "status": info.status or None}
