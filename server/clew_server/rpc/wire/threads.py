"""Threads, and which of them to list."""

from __future__ import annotations

from clew.v1 import thread_pb2 as pb
from clew.v1.checkpoint_pb2 import CHECKPOINT_STATUS_UNSPECIFIED, CheckpointStatus
from clew.v1.thread_service_pb2 import ListThreadsRequest, UpdateStateRequest, UpdateThreadRequest
from clew_engine.commands.state import StateUpdate
from clew_engine.commands.update import ThreadUpdate, etag_of
from clew_engine.field_rules import wanted_metadata
from clew_engine.json_text import parse_strict
from clew_engine.reads import ThreadView
from clew_engine.state import parse_state
from clew_server.rpc.wire.checkpoints import to_status
from clew_server.rpc.wire.scalars import enum_name, timestamp, word
from clew_storage import Status, ThreadFilter


def to_thread(view: ThreadView) -> pb.Thread:
    """A thread as it stands."""
    record, info = view.record, view.record.info
    run = None
    if view.run_state is not None:
        state = pb.RunState.Value(enum_name("RUN_STATE", view.run_state))
        run = pb.ThreadRun(run_id=view.run_id, state=state, attempt=view.attempt)
    return pb.Thread(
        thread_id=record.key.thread_id,
        thread_uid=record.uid,
        app=info.app,
        user_id=info.user_id,
        name=info.name,
        metadata_json=info.metadata.decode(),
        status=to_status(record.head_status),
        version=record.head_version,
        run=run,
        pending_approvals=view.pending,
        create_time=timestamp(record.created_at_ms),
        update_time=timestamp(record.updated_at_ms),
        etag=etag_of(info),
    )


def filter_of(request: ListThreadsRequest) -> ThreadFilter:
    """Which threads are asked for."""
    status = None
    if request.status != CHECKPOINT_STATUS_UNSPECIFIED:
        status = Status(word("CHECKPOINT_STATUS", CheckpointStatus.Name(request.status)))
    return ThreadFilter(
        user_id=request.user_id or None,
        app=request.app or None,
        status=status,
        metadata=_metadata_of(request),
        text=request.query or None,
    )


def _metadata_of(request: ListThreadsRequest) -> bytes | None:
    if request.metadata_json:
        return wanted_metadata(parse_strict(request.metadata_json))
    return wanted_metadata({request.metadata_key: request.metadata_value}) if request.metadata_key else None


def change_of(request: UpdateThreadRequest) -> ThreadUpdate:
    """What is to be changed: what the mask names, or without a mask what is not empty."""
    paths = set(request.update_mask.paths)
    everything = "*" in paths

    def given(field: str) -> bool:
        return everything or field in paths if paths else bool(getattr(request, field))

    return ThreadUpdate(
        name=request.name if given("name") else None,
        metadata=(request.metadata_json or "{}").encode() if given("metadata_json") else None,
        user_id=request.user_id if given("user_id") else None,
        etag=request.etag,
        allow_missing=request.allow_missing,
        app=request.app,
    )


def state_update_of(request: UpdateStateRequest) -> StateUpdate:
    """What is to become of the state."""
    replace = request.HasField("replace")
    change = request.replace if replace else request.merge
    return StateUpdate(
        values=parse_state(change.state_json),
        remove_keys=() if replace else tuple(request.merge.remove_keys),
        replace=replace,
        force=request.force,
        app=request.app,
        as_node=request.as_node,
    )
