"""The in-process handle as scenarios see it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from clew_engine import Event, RunOptions, Thread, commands
from clew_engine import events as kinds
from clew_engine.commands.update import ThreadUpdate
from clew_engine.options import Mutation
from clew_engine.program import Program
from clew_engine.streams import EventStream
from clew_engine.watch import watch_stream
from clew_storage import ThreadKey
from tests.scenarios.sights import Reader, Seen, Turn


class InProcessThread:
    """Wraps `clew_engine.Thread`; its streams are read in the background."""

    def __init__(self, thread: Thread) -> None:
        self.inner = thread
        self.id = thread.id
        self._storage = thread.storage
        self._key = thread.key
        self._options = RunOptions()

    def _programs(self, app: str) -> Program:
        assert app in ("", self.inner.program.name)
        return self.inner.program

    def stream(self, text: Any = "hello", **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream(text, **options))

    async def send(self, text: Any = "hello", **options: Any) -> Turn:
        return await self.stream(text, **options).turn()

    def stream_decide(self, answers: Mapping[str, Any], **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream_decide(answers, **options))

    async def decide(self, answers: Mapping[str, Any], **options: Any) -> Turn:
        return await self.stream_decide(answers, **options).turn()

    async def resume(self, value: Any, **options: Any) -> Turn:
        return await _reader(lambda: self.inner.stream_resume(value, **options)).turn()

    def stream_retry(self, **options: Any) -> Reader:
        return _reader(lambda: self.inner.stream_retry(**options))

    async def retry(self, **options: Any) -> Turn:
        return await self.stream_retry(**options).turn()

    def watch(self, after_version: int = 0, *, thread_uid: str = "", **options: Any) -> Reader:
        return _reader(
            lambda: watch_stream(self._storage, self._key, uid=thread_uid, after_version=after_version, **options)
        )

    async def cancel(self, run_id: str = "", **options: Any) -> dict[str, Any]:
        if not options and not run_id:
            return await self.inner.cancel()
        async with self._storage.calling(self._key):
            mutation = _mutation(options, run_id)
            written = await commands.cancel(self._storage, self._key, run_id, mutation=mutation, options=self._options)
            return written.as_dict()

    async def rewind(self, checkpoint_id: str, **options: Any) -> dict[str, Any]:
        if "request_id" not in options:
            return await self.inner.rewind(checkpoint_id, **options)
        mutation = _mutation(options, checkpoint_id)
        async with self._storage.calling(self._key):
            written = await commands.rewind(
                self._storage, self._key, self._programs, checkpoint_id, mutation=mutation, options=self._options
            )
            return written.as_dict()

    async def copy(self, target_id: str, checkpoint_id: str = "", **options: Any) -> InProcessThread:
        if not options:
            return InProcessThread(await self.inner.copy(target_id, checkpoint_id))
        target = InProcessThread(Thread(self._storage, ThreadKey("", target_id), self.inner.program))
        mutation = _mutation(options, checkpoint_id)
        async with self._storage.calling(self._key):
            await commands.copy(self._storage, self._key, target._key, checkpoint_id, self._programs, mutation=mutation)
        return target

    async def update(self, **changes: Any) -> dict[str, Any]:
        if "request_id" not in changes and "etag" not in changes:
            return await self.inner.update(**changes)
        name, etag = changes.get("name", ""), changes.get("etag", "")
        change = ThreadUpdate(name=name, etag=etag, allow_missing=True, app=self.inner.program.name)
        async with self._storage.calling(self._key):
            await commands.update(self._storage, self._key, change, mutation=_mutation(changes, name))
        return await self.info()

    async def delete(self, **options: Any) -> bool:
        if not options:
            return await self.inner.delete()
        async with self._storage.calling(self._key):
            return await commands.delete(self._storage, self._key, mutation=_mutation(options, ""))

    async def info(self) -> dict[str, Any]:
        return await self.inner.info()

    async def messages(self) -> list[dict[str, Any]]:
        return await self.inner.messages()

    async def state(self, checkpoint_id: str = "") -> dict[str, Any]:
        return await self.inner.state(checkpoint_id)

    async def history(self, limit: int = 1000) -> list[dict[str, Any]]:
        return await self.inner.history(limit)

    async def approvals(self) -> list[dict[str, Any]]:
        return [approval.as_dict() for approval in await self.inner.approvals()]


def _mutation(options: Mapping[str, Any], body: str) -> Mutation:
    return Mutation(options.get("request_id", ""), options.get("expected_version"), body.encode())


def _reader(stream: Callable[[], EventStream]) -> Reader:
    async def events() -> AsyncIterator[Seen]:
        opened = stream()
        async with aclosing(opened):
            async for event in opened:
                yield seen(event)

    return Reader(events)


def seen(event: Event) -> Seen:
    """An engine's event in the form of both surfaces."""
    return Seen(event.type, event.version, event.last_of_version, event.run_id, _data(event.payload))


def _data(payload: Any) -> dict[str, Any]:
    match payload:
        case kinds.RunQueued(ahead):
            return {"ahead": ahead}
        case kinds.RunStarted(attempt):
            return {"attempt": attempt}
        case kinds.TextDelta() | kinds.ReasoningDelta():
            return {"message_id": payload.message_id, "offset": payload.offset, "text": payload.text}
        case kinds.MessageDiscarded(message_id, failure):
            return {"message_id": message_id, "code": failure.code}
        case kinds.ToolCallStarted(call):
            return {"call_id": call.id, "tool": call.name, "arguments": json.loads(call.args)}
        case kinds.ToolCallFinished():
            return {"call_id": payload.call_id, "tool": payload.name, "outcome": payload.outcome}
        case kinds.ApprovalRequested(approval):
            return {"approval": approval.id, "tool": approval.tool}
        case kinds.CheckpointWritten(checkpoint, messages):
            told = [message.id for message in messages]
            return _checkpoint(checkpoint) | {"messages": told}
        case kinds.RunSuspended(approvals):
            return {"approvals": [approval.id for approval in approvals]}
        case kinds.RunCompleted(reply):
            return {"text": reply.text, "steps": reply.steps, "tokens": reply.usage.total_tokens}
        case kinds.RunFailed(failure):
            return {"code": failure.code, "retryable": failure.retryable, "message": failure.message}
        case _:
            return {}


def _checkpoint(checkpoint: Any) -> dict[str, Any]:
    return {
        "id": checkpoint.id,
        "parent": checkpoint.parent_version,
        "status": checkpoint.status.value,
        "source": checkpoint.source.value,
    }
