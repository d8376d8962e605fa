"""The client's handle as scenarios see it, against a server in the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

import grpc

import clew
from clew import events as kinds
from clew.event_decoding import event_of
from clew.options import Limits
from clew.refusals import error_of
from clew.v1 import run_service_pb2
from clew_engine import Storage
from tests.scenarios import handles
from tests.scenarios.handles import PlayedThread
from tests.scenarios.sights import Reader, Seen
from tests.support.serving import Served, serving


class ClientThread(PlayedThread):
    """Wraps `clew.Thread`."""

    def __init__(self, served: Served, thread: clew.Thread, **options: Any) -> None:
        super().__init__(thread, seen, options)
        self._served = served

    def around(self, thread: Any) -> Self:
        return type(self)(self._served, thread, **self._options)

    def watch(self, after_version: int = 0, *, thread_uid: str = "", **options: Any) -> Reader:
        if not thread_uid:
            return self.read(lambda: self.inner.watch(after_version, **options))
        request = run_service_pb2.WatchRequest(
            thread_id=self.id, after_version=after_version, thread_uid=thread_uid, **options
        )
        return Reader(lambda: self._raw(request))

    async def _raw(self, request: run_service_pb2.WatchRequest) -> AsyncIterator[Seen]:
        try:
            async for response in self._served.runs.Watch(request):
                for event in filter(None, map(event_of, response.events)):
                    yield seen(event)
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from None


class OverGrpc:
    """The surface of `Client(target).app(name).thread(id)`."""

    def __init__(self, storage: Storage, agents: Sequence[handles.Served]) -> None:
        self._storage = storage
        self._agents = agents
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Callable[..., ClientThread]:
        served = await self._open.enter_async_context(serving(self._agents, self._storage))
        client = await self._open.enter_async_context(clew.Client(served.target))

        def connect(thread_id: str, *, app: str, actor: str | None = None, **options: Any) -> ClientThread:
            if "limits" in options:
                options["limits"] = Limits(**options["limits"])
            return ClientThread(served, client.app(app).thread(thread_id, actor), **options)

        return connect

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()


def seen(event: clew.Event) -> Seen:
    """A client's event in the form of both surfaces."""
    return Seen(event.type, event.version, event.last_of_version, event.run_id, _data(event.payload))


def _data(payload: Any) -> dict[str, Any]:  # noqa: C901 - one case a kind
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
        case kinds.CheckpointWritten(checkpoint, parent, messages, deleted):
            told = {name: checkpoint[name] for name in ("id", "status", "source")}
            known = [message["id"] for message in messages]
            return told | {"parent": parent, "messages": known, "deleted": list(deleted)}
        case kinds.RunSuspended(approvals):
            return {"approvals": [approval.id for approval in approvals]}
        case kinds.RunCompleted(reply):
            tokens = reply.usage.input_tokens + reply.usage.output_tokens
            return {"text": reply.text, "steps": reply.steps, "tokens": tokens}
        case kinds.RunFailed():
            return {"code": payload.code, "retryable": payload.retryable, "message": payload.message}
        case kinds.LogTrimmed(oldest):
            return {"oldest": oldest}
        case _:
            return {}
