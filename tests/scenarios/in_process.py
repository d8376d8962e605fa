"""The in-process handle as scenarios see it."""

from __future__ import annotations

import json
from typing import Any, Self

from clew_engine import Event, Thread
from clew_engine import events as kinds
from clew_engine.watch import watch_stream
from tests.scenarios.handles import PlayedThread
from tests.scenarios.sights import Reader, Seen


class InProcessThread(PlayedThread):
    """Wraps `clew_engine.Thread`."""

    def __init__(self, thread: Thread, **options: Any) -> None:
        super().__init__(thread, seen, options)
        self._thread = thread

    def around(self, thread: Any) -> Self:
        return type(self)(thread, **self._options)

    def watch(self, after_version: int = 0, *, thread_uid: str = "", **options: Any) -> Reader:
        storage, key = self._thread.storage, self._thread.key
        return self.read(lambda: watch_stream(storage, key, uid=thread_uid, after_version=after_version, **options))


def seen(event: Event) -> Seen:
    """An engine's event in the form of both surfaces."""
    return Seen(event.type, event.version, event.last_of_version, event.run_id, _data(event.payload))


def _data(payload: Any) -> dict[str, Any]:  # noqa: C901 - one case a kind
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
        case kinds.CheckpointWritten(checkpoint, messages, deleted):
            told = [message.id for message in messages]
            return _checkpoint(checkpoint) | {"messages": told, "deleted": list(deleted)}
        case kinds.RunSuspended(approvals):
            return {"approvals": [approval.id for approval in approvals]}
        case kinds.RunCompleted(reply):
            return {"text": reply.text, "steps": reply.steps, "tokens": reply.usage.total_tokens}
        case kinds.RunFailed(failure):
            return {"code": failure.code, "retryable": failure.retryable, "message": failure.message}
        case kinds.LogTrimmed(oldest):
            return {"oldest": oldest}
        case _:
            return {}


def _checkpoint(checkpoint: Any) -> dict[str, Any]:
    return {
        "id": checkpoint.id,
        "parent": checkpoint.parent_version,
        "status": checkpoint.status.value,
        "source": checkpoint.source.value,
    }
