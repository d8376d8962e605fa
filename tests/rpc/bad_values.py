"""Requests that break no rule, and for each of their fields the values that break its rule."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask

BAD_IDS = ["a/b", "..", ".", "a\0b", "x" * 129, "x" * 10_000, "🧶", "a b", "a%2Fb", "é"]
BAD_REQUIRED_IDS = ["", *BAD_IDS]
BAD_JSON = [
    "{",
    "NaN",
    '{"a": 1, "a": 2}',
    "[1e999]",
    '"\\ud800"',
    "[" * 65 + "]" * 65,
    "1 2",
    "",
    "[" * 10_000 + "]" * 10_000,
]
BAD_OBJECTS = [*BAD_JSON, "[]", "null", "1"]
BAD_DURATIONS = [Duration(seconds=-1), Duration(nanos=-1), Duration(seconds=1, nanos=-1), Duration(nanos=1_000_000_000)]
BAD_BUSY = [*BAD_DURATIONS, Duration(seconds=3600, nanos=1), Duration(seconds=2**62)]
BAD_LIMIT_TIMES = [*BAD_DURATIONS, Duration(), Duration(seconds=2**62)]
BAD_TTLS = [*BAD_DURATIONS, Duration(), Duration(seconds=3_155_760_000, nanos=1), Duration(seconds=2**62)]
BAD_NAMES = ["", "x" * 257, "é" * 129]
BAD_KEYS = ["", "x" * 1025, "é" * 513]
BAD_TEXT = ["x" * 257, "é" * 129, "a\0b"]
BAD_REQUEST_IDS = ["x" * 129, "with space", "é", "a\0b", "a\nb"]
BAD_REASONS = ["r" * 4097]
BAD_STATE = [value.encode() for value in BAD_OBJECTS if value] + [b"\xff", b'{"messages": []}', b'{"_clew": {}}']
BAD_TOKENS = ["nonsense", "é", "x" * 3000, "e30", "W10", "WzFd"]
DECISION: dict[str, Any] = {"approval_id": "a", "approve": {}}
TEXT: dict[str, Any] = {"text": {"text": "hi"}}
NEW: dict[str, Any] = {"role": "ROLE_USER", "content": [TEXT]}
BAD_METADATA = [*filter(None, BAD_OBJECTS), json.dumps({"a": "x" * (64 << 10)})]
TOOL: dict[str, Any] = {"name": "charge"}
CALL: dict[str, Any] = {"thread_id": "t", "idempotency_key": "k"}
PICTURE: dict[str, Any] = {"image": {"mime_type": "image/png", "uri": "https://x/y.png"}}

# A request of each kind that breaks no rule, to be spoiled one field at a time.
GOOD: dict[str, dict[str, Any]] = {
    "SendRequest": {"thread_id": "t", "text": "hi"},
    "DecideRequest": {"thread_id": "t", "decisions": [DECISION]},
    "ResumeRequest": {"thread_id": "t", "value_json": "1"},
    "RetryRequest": {"thread_id": "t"},
    "WatchRequest": {"thread_id": "t"},
    "CancelRunRequest": {"thread_id": "t"},
    "GetThreadRequest": {"thread_id": "t"},
    "ListThreadsRequest": {},
    "UpdateThreadRequest": {"thread_id": "t", "allow_missing": True},
    "CopyThreadRequest": {"thread_id": "t", "target_thread_id": "u"},
    "DeleteThreadRequest": {"thread_id": "t"},
    "GetStateRequest": {"thread_id": "t"},
    "UpdateStateRequest": {"thread_id": "t", "merge": {}},
    "ClearStateRequest": {"thread_id": "t"},
    "ListMessagesRequest": {"thread_id": "t"},
    "AppendMessagesRequest": {"thread_id": "t", "messages": [NEW]},
    "UpdateMessageRequest": {"thread_id": "t", "message_id": "m1.0", "content": [TEXT]},
    "DeleteMessageRequest": {"thread_id": "t", "message_id": "m1.0"},
    "GetMessageRequest": {"thread_id": "t", "message_id": "m1.0"},
    "ListCheckpointsRequest": {"thread_id": "t"},
    "GetCheckpointRequest": {"thread_id": "t", "checkpoint_id": "c"},
    "RewindRequest": {"thread_id": "t", "checkpoint_id": "c"},
    "ListApprovalsRequest": {},
    "GetApprovalRequest": {"approval_id": "a"},
    "WatchApprovalsRequest": {},
    "PutValueRequest": {"namespace": "n", "key": "k", "value_json": "1"},
    "GetValueRequest": {"namespace": "n", "key": "k"},
    "DeleteValueRequest": {"namespace": "n", "key": "k"},
    "ListKeysRequest": {"namespace": "n"},
    "ListAppsRequest": {},
    "GetAppRequest": {"name": "support"},
    "WorkRequest": {"worker_id": "w", "tools": [TOOL]},
    "RenewCallsRequest": {"worker_id": "w", "calls": [CALL]},
    "ReportProgressRequest": {"worker_id": "w", "call": CALL, "progress_json": "1"},
    "FinishCallRequest": {"worker_id": "w", "call": CALL, "error": {"message": "no"}},
    "DrainWorkerRequest": {"worker_id": "w"},
    "ListWorkersRequest": {},
}
# Where a message with rules of its own is tried: in which request, and around what.
PLACES: dict[str, tuple[str, dict[str, Any], str]] = {
    "RunOptions": ("SendRequest", {}, "options"),
    "Limits": ("SendRequest", {}, "options.limits"),
    "Content": ("SendRequest", {}, "content"),
    "Part": ("SendRequest", TEXT, "content.parts"),
    "TextPart": ("SendRequest", {"text": "hi"}, "content.parts.text"),
    "MediaPart": ("SendRequest", PICTURE["image"], "content.parts.image"),
    "Provider": ("SendRequest", {"name": "openai"}, "content.parts.provider"),
    "UpdateStateRequest.Replace": ("UpdateStateRequest", {}, "replace"),
    "UpdateStateRequest.Merge": ("UpdateStateRequest", {}, "merge"),
    "NewMessage": ("AppendMessagesRequest", NEW, "messages"),
    "Decision": ("DecideRequest", DECISION, "decisions"),
    "Decision.Approve": ("DecideRequest", {}, "decisions.approve"),
    "Decision.Reject": ("DecideRequest", {}, "decisions.reject"),
    "Decision.Outcome": ("DecideRequest", {"run_again": {}}, "decisions.outcome"),
    "WorkerTool": ("WorkRequest", TOOL, "tools"),
    "CallName": ("FinishCallRequest", CALL, "call"),
    "CallResult": ("FinishCallRequest", {"structured_json": "1"}, "result"),
    "CallError": ("FinishCallRequest", {"message": "no"}, "error"),
    "Decision.Outcome.RunAgain": ("DecideRequest", {}, "decisions.outcome.run_again"),
}
# Values of each field that break its rule. Enums get a number of their own, and need no row here.
BAD: dict[str, dict[str, list[Any]]] = {
    "*": {
        "thread_id": BAD_REQUIRED_IDS,
        "request_id": BAD_REQUEST_IDS,
        "expected_version": [-1, -(2**63)],
        "page_size": [-1, -(2**31)],
        "page_token": BAD_TOKENS,
        "actor": BAD_TEXT,
        "user_id": BAD_TEXT,
        "app": BAD_IDS,
        "busy_timeout": BAD_BUSY,
        "worker_id": BAD_REQUIRED_IDS,
        "namespace": BAD_NAMES,
        "key": BAD_KEYS,
    },
    "SendRequest": {
        "thread_id": BAD_IDS,
        "text": [""],
        "input_json": [value.encode() for value in BAD_OBJECTS] + [b"{}"],
        "state_json": BAD_STATE,
        "metadata_json": BAD_METADATA,
    },
    "DecideRequest": {"decisions": [[], [DECISION, DECISION]], "snapshot": [b"x"], "app": [*BAD_IDS, "app"]},
    "ResumeRequest": {"snapshot": [b""], "value_json": BAD_JSON, "app": [*BAD_IDS, "app"]},
    "WatchRequest": {
        "thread_uid": BAD_IDS,
        "after_version": [-1],
        "run_id": BAD_IDS,
    },
    "CancelRunRequest": {"run_id": BAD_IDS, "started_by_request_id": BAD_REQUEST_IDS},
    "Limits": {
        "max_steps": [0, -1],
        "max_tokens": [0, -1],
        "max_duration": BAD_LIMIT_TIMES,
        "tool_timeout": BAD_LIMIT_TIMES,
    },
    "Content": {"parts": [[], [{}]]},
    "Part": {
        "reasoning": [{"reasoning": "hm"}],
        "tool_call": [{"id": "a"}],
        "tool_result": [{"tool_call_id": "a"}],
        "unknown_json": ["{}"],
        "image": [{}],
        "audio": [{"mime_type": "audio/wav"}],
        "video": [{"uri": "https://x"}],
        "document": [{"mime_type": "text/plain", "data": b""}],
        "data_json": BAD_JSON,
        "id": BAD_TEXT,
    },
    "MediaPart": {
        "mime_type": ["", "image", "image/", "im age/png", "image/png\n"],
        "data": [b""],
        "uri": ["", "x" * 8193],
        "file_id": ["", "x" * 1025],
        "name": ["x" * 1025, "a\0b"],
    },
    "Provider": {
        "name": ["", *BAD_TEXT],
        "id": ["x" * 1025],
        "details_json": [value for value in BAD_OBJECTS if value],
    },
    "Decision": {
        "approval_id": BAD_REQUIRED_IDS,
        "value_json": BAD_JSON,
        "outcome": [{}],
    },
    "Decision.Approve": {"arguments_json": BAD_OBJECTS},
    "Decision.Reject": {"reason": BAD_REASONS},
    "Decision.Outcome": {"result_json": BAD_JSON, "fail": BAD_REASONS},
    "ListThreadsRequest": {
        "metadata_key": ["x" * 257, "a\0b"],
        "metadata_value": ["alone"],
        "metadata_json": [*BAD_METADATA, '{"a":[1]}', '{"a":{}}', '["a","b"]'],
        "query": BAD_TEXT,
    },
    "UpdateThreadRequest": {
        "name": ["x" * 1025, "a\0b"],
        "metadata_json": BAD_METADATA,
        "update_mask": [
            FieldMask(paths=["nope"]),
            FieldMask(paths=["app"]),
            FieldMask(paths=["name", "metadata_json.a"]),
        ],
        "etag": ["nope", '"-1"', '"1.5"', "x" * 100],
    },
    "CopyThreadRequest": {"target_thread_id": [*BAD_REQUIRED_IDS, "t"], "checkpoint_id": BAD_IDS},
    "GetStateRequest": {"checkpoint_id": BAD_IDS},
    "UpdateStateRequest": {"as_node": ["x" * 513, "é" * 257, "a\0b"]},
    "UpdateStateRequest.Replace": {"state_json": BAD_STATE},
    "UpdateStateRequest.Merge": {"state_json": BAD_STATE, "remove_keys": [["messages"], ["a", "_clew"]]},
    "ListMessagesRequest": {"search": BAD_REASONS},
    "GetMessageRequest": {"message_id": BAD_REQUIRED_IDS},
    "AppendMessagesRequest": {"messages": [[], [NEW] * 501]},
    "NewMessage": {
        "id": [*BAD_IDS, "m1.0", "m007.00"],
        "role": ["ROLE_UNSPECIFIED"],
        "content": [
            [],
            [{}],
            [{"reasoning": {"reasoning": "hm"}}],
            [{"tool_call": {"id": "a"}}],
            [{"tool_result": {"tool_call_id": "a"}}],
        ],
        "metadata_json": BAD_METADATA,
    },
    "UpdateMessageRequest": {
        "message_id": BAD_REQUIRED_IDS,
        "content": [[{}], [{"tool_call": {"id": "a"}}]],
        "metadata_json": BAD_METADATA,
    },
    "DeleteMessageRequest": {"message_id": BAD_REQUIRED_IDS},
    "GetCheckpointRequest": {"checkpoint_id": BAD_REQUIRED_IDS},
    "RewindRequest": {"checkpoint_id": BAD_REQUIRED_IDS},
    "ListApprovalsRequest": {"thread_id": BAD_IDS},
    "GetApprovalRequest": {"approval_id": BAD_REQUIRED_IDS},
    "WatchApprovalsRequest": {"thread_id": BAD_IDS},
    "PutValueRequest": {"value_json": BAD_JSON, "ttl": BAD_TTLS},
    "ListKeysRequest": {"prefix": BAD_KEYS[1:]},
    "GetAppRequest": {"name": BAD_REQUIRED_IDS},
    "WorkRequest": {
        "tools": [[], [TOOL, TOOL], [TOOL] * 201],
        "max_calls": [-1, 1001],
        "thread_id": BAD_IDS,
        "held": [[CALL] * 1001],
    },
    "WorkerTool": {
        "name": ["", "a b", "x" * 65, "é"],
        "description": ["x" * 4097],
        "parameters_schema_json": [*filter(None, BAD_OBJECTS), '{"type":"thing"}'],
        "timeout": BAD_LIMIT_TIMES,
        "max_calls": [-1, 1001],
        "max_tries": [-1, 101],
    },
    "CallName": {"idempotency_key": ["", *BAD_TEXT]},
    "RenewCallsRequest": {"calls": [[CALL] * 1001]},
    "ReportProgressRequest": {"progress_json": [*BAD_JSON, '"' + "x" * (64 << 10) + '"']},
    "CallResult": {"structured_json": BAD_JSON, "content": [[{}], [{"reasoning": {"reasoning": "hm"}}]]},
    "CallError": {"message": ["", "x" * 4097], "retry_after": BAD_BUSY},
    "ListWorkersRequest": {"tool": ["x" * 65, "a\0b"]},
}
