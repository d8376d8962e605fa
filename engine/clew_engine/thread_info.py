"""How a thread stands, as a handle tells it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from clew_engine.commands.update import etag_of
from clew_engine.json_text import parse_stored
from clew_engine.reads import RunState, ThreadView


@dataclass(frozen=True, slots=True)
class ThreadRun:
    """The run at a thread's head: `state` is `running`, or `interrupted` where its process is gone.

    It is empty where that cannot be known, since the database was opened for reading alone.
    """

    run_id: str
    state: str
    attempt: int


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """How a thread stands. `status` is empty and `version` 0 before anything was written."""

    thread_id: str
    thread_uid: str
    app: str
    user_id: str
    name: str
    metadata: dict[str, Any]
    status: str
    version: int
    run: ThreadRun | None
    pending_approvals: int
    created_at_ms: int
    updated_at_ms: int
    etag: str

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def info_of(view: ThreadView) -> ThreadInfo:
    """A thread that was read, as its users see it."""
    record, info = view.record, view.record.info
    return ThreadInfo(
        thread_id=record.key.thread_id,
        thread_uid=record.uid,
        app=info.app,
        user_id=info.user_id,
        name=info.name,
        metadata=parse_stored(info.metadata),
        status=record.head_status.value if record.head_status else "",
        version=record.head_version,
        run=ThreadRun(view.run_id, _word(view.run_state), view.attempt) if view.run_state else None,
        pending_approvals=view.pending,
        created_at_ms=record.created_at_ms,
        updated_at_ms=record.updated_at_ms,
        etag=etag_of(info),
    )


def _word(state: RunState) -> str:
    return "" if state is RunState.UNSPECIFIED else state.value
