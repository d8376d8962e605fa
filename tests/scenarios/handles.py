"""A thread's handle as scenarios see it: one adapter for both, since they have the same verbs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, Self

from msgspec import Struct, structs

import clew
import clew_engine
from clew_engine import errors
from clew_engine.streams import EventStream
from tests.scenarios.sights import Reader, Seen, Turn

Stream = clew.EventStream | EventStream
# What a world serves.
Served = clew_engine.Agent | clew_engine.WorkflowApp
GONE = (clew.ThreadNotFoundError, errors.ThreadNotFoundError)


class PlayedThread(ABC):
    """Wraps a handle; its streams are read in the background, and a thread that is not there has nothing in it. `options` go with every run."""

    def __init__(
        self, thread: clew.Thread | clew_engine.Thread, seen: Callable[[Any], Seen], options: Mapping[str, Any]
    ) -> None:
        self.inner = thread
        self.id = thread.id
        self._seen = seen
        self._options = options

    @property
    def _busy(self) -> dict[str, Any]:
        """What a write does while the thread is busy."""
        return {name: value for name, value in self._options.items() if name in ("on_busy", "busy_timeout")}

    @abstractmethod
    def around(self, thread: Any) -> Self:
        """Another handle, seen in the same way."""

    def stream(self, text: Any = "hello", **options: Any) -> Reader:
        return self.read(lambda: self.inner.stream(text, **self._options, **options))

    async def send(self, text: Any = "hello", **options: Any) -> Turn:
        return await self.stream(text, **options).turn()

    def stream_decide(self, answers: Mapping[str, Any], **options: Any) -> Reader:
        return self.read(lambda: self.inner.stream_decide(dict(answers), **self._options, **options))

    async def decide(self, answers: Mapping[str, Any], **options: Any) -> Turn:
        return await self.stream_decide(answers, **options).turn()

    async def resume(self, value: Any, **options: Any) -> Turn:
        return await self.read(lambda: self.inner.stream_resume(value, **self._options, **options)).turn()

    def stream_retry(self, **options: Any) -> Reader:
        return self.read(lambda: self.inner.stream_retry(**self._options, **options))

    async def retry(self, **options: Any) -> Turn:
        return await self.stream_retry(**options).turn()

    async def cancel(self, run_id: str = "", **options: Any) -> dict[str, Any]:
        return dict(await self.inner.cancel(run_id, **options))

    async def rewind(self, checkpoint_id: str, **options: Any) -> dict[str, Any]:
        return dict(await self.inner.rewind(checkpoint_id, **self._busy, **options))

    async def update_state(self, values: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return dict(await self.inner.update_state(values, **self._busy, **options))

    async def clear_state(self, **options: Any) -> dict[str, Any]:
        return dict(await self.inner.clear_state(**self._busy, **options))

    async def append_messages(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> list[str]:
        return await self.inner.append_messages(messages, **self._busy, **options)

    async def update_message(self, message_id: str, content: Any = None, **options: Any) -> dict[str, Any]:
        return dict(await self.inner.update_message(message_id, content, **self._busy, **options))

    async def delete_message(self, message_id: str, **options: Any) -> list[str]:
        return await self.inner.delete_message(message_id, **self._busy, **options)

    async def message(self, message_id: str) -> dict[str, Any]:
        return await self.inner.message(message_id)

    async def copy(self, target_id: str, checkpoint_id: str = "", **options: Any) -> Self:
        return self.around(await self.inner.copy(target_id, checkpoint_id, **options))

    async def update(self, **changes: Any) -> dict[str, Any]:
        return _info(await self.inner.update(allow_missing=True, **changes))

    async def delete(self, **options: Any) -> bool:
        return await self.inner.delete(**options)

    async def info(self) -> dict[str, Any]:
        return _info(await self.inner.info())

    async def messages(self, **options: Any) -> list[dict[str, Any]]:
        try:
            return await self.inner.messages(**options)
        except GONE:
            return []

    async def state(self, checkpoint_id: str = "") -> dict[str, Any]:
        return await self.inner.state(checkpoint_id)

    async def history(self, limit: int = 1000) -> list[dict[str, Any]]:
        try:
            return [dict(each) for each in await self.inner.history(limit)]
        except GONE:
            return []

    async def approvals(self) -> list[dict[str, Any]]:
        try:
            return [approval_dict(each) for each in await self.inner.approvals()]
        except GONE:
            return []

    def read(self, stream: Callable[[], Stream]) -> Reader:
        """Read a stream in the background."""

        async def events() -> AsyncIterator[Seen]:
            async with aclosing(stream()) as opened:
                async for event in opened:
                    yield self._seen(event)

        return Reader(events)


def approval_dict(approval: clew.Approval | clew_engine.Approval) -> dict[str, Any]:
    """An approval with its arguments parsed."""
    fields = structs.asdict(approval) if isinstance(approval, Struct) else asdict(approval)
    return {**fields, "tool_call_id": approval.tool_call_id, "arguments": approval.arguments}


def _info(info: clew.ThreadInfo | clew_engine.ThreadInfo) -> dict[str, Any]:
    return {**asdict(info), "status": info.status or None}
