"""The rules by message and field. A field that is not here makes the server refuse to start: nothing is taken unseen."""

from __future__ import annotations

from typing import Any

from clew_engine.cached_values import MAX_TTL_S
from clew_engine.field_rules import (
    MAX_ACTOR,
    MAX_APPENDED,
    MAX_CACHE_KEY,
    MAX_NAME,
    MAX_NAMESPACE,
    MAX_NODE,
    MAX_REASON,
    MAX_USER_ID,
)
from clew_engine.options import MAX_BUSY_S
from clew_engine.worker_tools import MOST_CALLS, MOST_PROGRESS, MOST_TOOLS
from clew_server.rpc.rules import fields as rule
from clew_server.rpc.rules import messages
from clew_server.rpc.rules.fields import Rule


def ANY(value: Any, field: str) -> None:
    """Any value is fine, as far as its kind (an enum, a message with rules of its own) allows it."""


_QUERY = 256
_KEY = 256
_PAGE: dict[str, Rule] = {"page_size": rule.page_size, "page_token": rule.page_token}
_CHANGE: dict[str, Rule] = {"request_id": rule.request_id, "expected_version": rule.version}
_ACTOR: dict[str, Rule] = {"actor": rule.text_up_to(MAX_ACTOR)}
_BUSY: dict[str, Rule] = {"on_busy": ANY, "busy_timeout": rule.duration_up_to(MAX_BUSY_S)}
_WRITE: dict[str, Rule] = {**_CHANGE, **_BUSY, **_ACTOR, "force": ANY}
_THREAD: dict[str, Rule] = {"thread_id": rule.required_id}

_RUNS: dict[str, dict[str, Rule]] = {
    "SendRequest": {
        "thread_id": rule.optional_id,
        "app": rule.optional_id,
        "text": rule.not_empty,
        "content": ANY,
        "input_json": rule.json_object,
        "state_json": rule.state,
        **_CHANGE,
        "options": ANY,
        "user_id": rule.text_up_to(MAX_USER_ID),
        "metadata_json": rule.metadata,
    },
    "DecideRequest": {
        "thread_id": rule.optional_id,
        "decisions": rule.at_least_one,
        **_CHANGE,
        "options": ANY,
        "snapshot": ANY,
        "app": rule.optional_id,
    },
    "ResumeRequest": {
        **_THREAD,
        "snapshot": rule.not_empty,
        "value_json": ANY,
        **_CHANGE,
        "options": ANY,
        "app": rule.optional_id,
    },
    "RetryRequest": {**_THREAD, **_CHANGE, "options": ANY},
    "WatchRequest": {
        **_THREAD,
        "thread_uid": rule.optional_id,
        "after_version": rule.version,
        "run_id": rule.optional_id,
        "follow": ANY,
    },
    "CancelRunRequest": {
        **_THREAD,
        "run_id": rule.optional_id,
        "started_by_request_id": rule.request_id,
        **_CHANGE,
        **_ACTOR,
    },
    "RunOptions": {**_BUSY, "on_disconnect": ANY, "limits": ANY, **_ACTOR},
    "Limits": {
        "max_steps": rule.positive,
        "max_tokens": rule.positive,
        "max_duration": rule.positive_duration,
        "tool_timeout": rule.positive_duration,
    },
    "Decision": {
        "approval_id": rule.required_id,
        "approve": ANY,
        "reject": ANY,
        "value_json": rule.json_value,
        "outcome": ANY,
    },
    "Decision.Approve": {"arguments_json": rule.json_object},
    "Decision.Reject": {"reason": rule.prose_up_to(MAX_REASON)},
    "Decision.Outcome": {"run_again": ANY, "result_json": rule.json_value, "fail": rule.prose_up_to(MAX_REASON)},
    "Decision.Outcome.RunAgain": {},
}
_CONTENT: dict[str, dict[str, Rule]] = {
    "Content": {"parts": rule.at_least_one},
    "Part": {
        "text": ANY,
        "reasoning": ANY,
        "image": ANY,
        "audio": ANY,
        "video": ANY,
        "document": ANY,
        "tool_call": ANY,
        "tool_result": ANY,
        "data_json": rule.json_value,
        "unknown_json": ANY,
        "id": rule.text_up_to(_KEY),
        "provider": ANY,
    },
    "TextPart": {"text": ANY},
    "MediaPart": {
        "mime_type": rule.mime_type,
        "data": rule.not_empty,
        "uri": rule.required_up_to(8192),
        "file_id": rule.required_up_to(1024),
        "name": rule.text_up_to(1024),
    },
    "Provider": {
        "name": rule.required_up_to(_KEY),
        "id": rule.text_up_to(1024),
        "signature": ANY,
        "details_json": rule.optional_json_object,
    },
}
_THREADS: dict[str, dict[str, Rule]] = {
    "GetThreadRequest": {**_THREAD},
    "ListThreadsRequest": {
        **_PAGE,
        "user_id": rule.text_up_to(MAX_USER_ID),
        "app": rule.optional_id,
        "status": ANY,
        "metadata_key": rule.text_up_to(_KEY),
        "metadata_value": rule.text_up_to(1024),
        "query": rule.text_up_to(_QUERY),
        "order": ANY,
        "metadata_json": rule.metadata_filter,
    },
    "UpdateThreadRequest": {
        **_THREAD,
        "name": rule.text_up_to(MAX_NAME),
        "metadata_json": rule.metadata,
        "user_id": rule.text_up_to(MAX_USER_ID),
        "app": rule.optional_id,
        "update_mask": rule.mask_of("name", "metadata_json", "user_id"),
        "allow_missing": ANY,
        "etag": rule.etag,
        "request_id": rule.request_id,
    },
    "CopyThreadRequest": {
        **_THREAD,
        "target_thread_id": rule.required_id,
        "checkpoint_id": rule.optional_id,
        **_CHANGE,
    },
    "DeleteThreadRequest": {**_THREAD, **_CHANGE},
    "GetStateRequest": {**_THREAD, "checkpoint_id": rule.optional_id, "allow_stale": ANY},
    "UpdateStateRequest": {
        **_THREAD,
        "replace": ANY,
        "merge": ANY,
        "app": rule.optional_id,
        **_WRITE,
        "as_node": rule.text_up_to(MAX_NODE),
    },
    "UpdateStateRequest.Replace": {"state_json": rule.state},
    "UpdateStateRequest.Merge": {"state_json": rule.state, "remove_keys": rule.state_keys},
    "ClearStateRequest": {**_THREAD, **_WRITE},
    "ListMessagesRequest": {
        **_THREAD,
        **_PAGE,
        "order": ANY,
        "include_reasoning": ANY,
        "search": rule.prose_up_to(_QUERY),
    },
    "GetMessageRequest": {**_THREAD, "message_id": rule.required_id, "include_reasoning": ANY},
    "AppendMessagesRequest": {
        **_THREAD,
        "messages": rule.from_one_to(MAX_APPENDED),
        "app": rule.optional_id,
        **_WRITE,
    },
    "NewMessage": {
        "id": rule.new_message_id,
        "role": rule.spoken_role,
        "content": rule.at_least_one,
        "metadata_json": rule.metadata,
    },
    "UpdateMessageRequest": {
        **_THREAD,
        "message_id": rule.required_id,
        "content": ANY,
        "metadata_json": rule.metadata,
        **_WRITE,
    },
    "DeleteMessageRequest": {**_THREAD, "message_id": rule.required_id, **_WRITE},
}
_VALUE: dict[str, Rule] = {"namespace": rule.name_up_to(MAX_NAMESPACE), "key": rule.name_up_to(MAX_CACHE_KEY)}
_CACHE: dict[str, dict[str, Rule]] = {
    "PutValueRequest": {
        **_VALUE,
        "value_json": rule.cached_value,
        "ttl": rule.positive_duration_up_to(MAX_TTL_S),
    },
    "GetValueRequest": {**_VALUE},
    "DeleteValueRequest": {**_VALUE},
    "ListKeysRequest": {
        "namespace": rule.name_up_to(MAX_NAMESPACE),
        **_PAGE,
        "prefix": rule.prose_up_to(MAX_CACHE_KEY),
    },
}
_OTHERS: dict[str, dict[str, Rule]] = {
    "ListCheckpointsRequest": {**_THREAD, **_PAGE},
    "GetCheckpointRequest": {**_THREAD, "checkpoint_id": rule.required_id},
    "RewindRequest": {**_THREAD, "checkpoint_id": rule.required_id, **_CHANGE, **_BUSY, **_ACTOR},
    "ListApprovalsRequest": {
        **_PAGE,
        "thread_id": rule.optional_id,
        "app": rule.optional_id,
        "user_id": rule.text_up_to(MAX_USER_ID),
        "state": ANY,
    },
    "GetApprovalRequest": {"approval_id": rule.required_id},
    "WatchApprovalsRequest": {
        "thread_id": rule.optional_id,
        "app": rule.optional_id,
        "user_id": rule.text_up_to(MAX_USER_ID),
    },
    "ListAppsRequest": {**_PAGE},
    "GetAppRequest": {"name": rule.required_id},
}
_CALL: dict[str, Rule] = {"worker_id": rule.required_id, "call": ANY}
_WORKERS: dict[str, dict[str, Rule]] = {
    # What tools are is the engine's rule.
    "WorkRequest": {
        "worker_id": rule.required_id,
        "tools": rule.from_one_to(MOST_TOOLS),
        "max_calls": rule.from_0_to(MOST_CALLS),
        "thread_id": rule.optional_id,
        "held": rule.at_most(MOST_CALLS),
    },
    "WorkerTool": {
        "name": ANY,
        "description": ANY,
        "parameters_schema_json": ANY,
        "once": ANY,
        "timeout": rule.positive_duration,
        "max_calls": ANY,
        "max_tries": ANY,
    },
    "CallName": {**_THREAD, "idempotency_key": rule.required_up_to(_KEY)},
    "RenewCallsRequest": {"worker_id": rule.required_id, "calls": rule.at_most(MOST_CALLS)},
    "ReportProgressRequest": {**_CALL, "progress_json": rule.json_value_up_to(MOST_PROGRESS)},
    "FinishCallRequest": {**_CALL, "result": ANY, "error": ANY},
    "CallResult": {"content": ANY, "structured_json": rule.json_value},
    "CallError": {
        "message": rule.error_text,
        "retryable": ANY,
        "retry_after": rule.duration_up_to(MAX_BUSY_S),
    },
    "DrainWorkerRequest": {"worker_id": rule.required_id},
    "ListWorkersRequest": {**_PAGE, "tool": rule.text_up_to(64)},
}


def _full(names: dict[str, Any]) -> dict[str, Any]:
    return {f"clew.v1.{name}": value for name, value in names.items()}


FIELDS: dict[str, dict[str, Rule]] = _full({**_RUNS, **_CONTENT, **_THREADS, **_CACHE, **_OTHERS, **_WORKERS})
REQUIRED_ONEOFS: dict[str, tuple[str, ...]] = _full(
    {
        "SendRequest": ("input",),
        "ResumeRequest": ("target",),
        "Decision": ("decision",),
        "Decision.Outcome": ("outcome",),
        "Part": ("kind",),
        "MediaPart": ("source",),
        "UpdateStateRequest": ("change",),
        "FinishCallRequest": ("outcome",),
    }
)
WHOLE: dict[str, Rule] = _full(
    {
        "Part": messages.part,
        "SendRequest": messages.send,
        "DecideRequest": messages.decide,
        "ResumeRequest": messages.resume,
        "WatchRequest": messages.watch,
        "ListThreadsRequest": messages.list_threads,
        "UpdateMessageRequest": messages.update_message,
        "ReportProgressRequest": messages.of_call,
        "FinishCallRequest": messages.of_call,
        "CallResult": messages.call_result,
    }
)
