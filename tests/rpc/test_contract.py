"""What buf cannot see of the contract: that names, errors, paths and shapes hold together across its files."""

from __future__ import annotations

import importlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.api import annotations_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, MethodDescriptor

from clew.v1 import error_pb2, event_pb2

ROOT = Path(__file__).parents[2]
PROTO = ROOT / "proto" / "clew" / "v1"
STUBS = ROOT / "clients" / "python" / "clew" / "v1"
FILES = [importlib.import_module(f"clew.v1.{path.stem}_pb2").DESCRIPTOR for path in sorted(PROTO.glob("*.proto"))]

STATUS_OF_REASON = {
    "THREAD_BUSY": "ABORTED",
    "VERSION_CONFLICT": "ABORTED",
    "REQUEST_ID_REUSED": "ABORTED",
    "LEASE_LOST": "ABORTED",
    "THREAD_SUSPENDED": "FAILED_PRECONDITION",
    "THREAD_INTERRUPTED": "FAILED_PRECONDITION",
    "RESUME_INVALID": "FAILED_PRECONDITION",
    "APPROVAL_ALREADY_DECIDED": "FAILED_PRECONDITION",
    "APPROVAL_EXPIRED": "FAILED_PRECONDITION",
    "CALL_NOT_PENDING": "FAILED_PRECONDITION",
    "APP_MISMATCH": "FAILED_PRECONDITION",
    "THREAD_NOT_FOUND": "NOT_FOUND",
    "CHECKPOINT_NOT_FOUND": "NOT_FOUND",
    "MESSAGE_NOT_FOUND": "NOT_FOUND",
    "APPROVAL_NOT_FOUND": "NOT_FOUND",
    "RUN_NOT_FOUND": "NOT_FOUND",
    "APP_NOT_FOUND": "NOT_FOUND",
    "CANCELLED": "CANCELLED",
    "ID_INVALID": "INVALID_ARGUMENT",
    "STATE_INVALID": "INVALID_ARGUMENT",
    "ARGUMENT_INVALID": "INVALID_ARGUMENT",
    "STATE_TOO_LARGE": "RESOURCE_EXHAUSTED",
    "QUOTA_EXCEEDED": "RESOURCE_EXHAUSTED",
    "STORAGE_FULL": "RESOURCE_EXHAUSTED",
    "STORAGE_UNAVAILABLE": "UNAVAILABLE",
    "STREAM_CUT": "UNAVAILABLE",
    "DATA_CORRUPT": "DATA_LOSS",
    "UNAUTHENTICATED": "UNAUTHENTICATED",
    "PERMISSION_DENIED": "PERMISSION_DENIED",
    "INTERNAL": "INTERNAL",
}
FAILURES = {
    "CANCELLED",
    "LIMIT_EXCEEDED",
    "MODEL_UNAVAILABLE",
    "MODEL_RATE_LIMITED",
    "MODEL_REJECTED",
    "MODEL_INCOMPLETE",
    "TOOL_FAILED",
    "STATE_CONFLICT",
    "WORKER_UNAVAILABLE",
    "REWOUND",
    "UPDATED",
    "THREAD_NOT_FOUND",
    "INTERNAL",
}
PATHS = {
    "CancelRun": "POST /v1/threads/{thread_id}:cancel",
    "GetThread": "GET /v1/threads/{thread_id}",
    "ListThreads": "GET /v1/threads",
    "UpdateThread": "PATCH /v1/threads/{thread_id}",
    "CopyThread": "POST /v1/threads/{thread_id}:copy",
    "DeleteThread": "DELETE /v1/threads/{thread_id}",
    "GetState": "GET /v1/threads/{thread_id}/state",
    "UpdateState": "PUT /v1/threads/{thread_id}/state PATCH /v1/threads/{thread_id}/state",
    "ClearState": "DELETE /v1/threads/{thread_id}/state",
    "ListMessages": "GET /v1/threads/{thread_id}/messages",
    "AppendMessages": "POST /v1/threads/{thread_id}/messages",
    "UpdateMessage": "PATCH /v1/threads/{thread_id}/messages/{message_id}",
    "DeleteMessage": "DELETE /v1/threads/{thread_id}/messages/{message_id}",
    "GetMessage": "GET /v1/threads/{thread_id}/messages/{message_id}",
    "ListCheckpoints": "GET /v1/threads/{thread_id}/checkpoints",
    "GetCheckpoint": "GET /v1/threads/{thread_id}/checkpoints/{checkpoint_id}",
    "Rewind": "POST /v1/threads/{thread_id}:rewind",
    "PutValue": "PUT /v1/cache/{namespace}/values/{key} PUT /v1/cache/value",
    "GetValue": "GET /v1/cache/{namespace}/values/{key} GET /v1/cache/value",
    "DeleteValue": "DELETE /v1/cache/{namespace}/values/{key} DELETE /v1/cache/value",
    "ListKeys": "GET /v1/cache/{namespace}/values GET /v1/cache/keys",
    "ListApprovals": "GET /v1/approvals",
    "GetApproval": "GET /v1/approvals/{approval_id}",
    "ListApps": "GET /v1/apps",
    "GetApp": "GET /v1/apps/{name}",
    "RenewCalls": "POST /v1/workers/{worker_id}:renew",
    "ReportProgress": "POST /v1/workers/{worker_id}:progress",
    "FinishCall": "POST /v1/workers/{worker_id}:finish",
    "DrainWorker": "POST /v1/workers/{worker_id}:drain",
    "ListWorkers": "GET /v1/workers",
}
STARTS_AN_ATTEMPT = {"Send", "Decide", "Resume", "Retry"}
WAITS_FOR_THE_THREAD = {
    "Rewind",
    "UpdateState",
    "ClearState",
    "AppendMessages",
    "UpdateMessage",
    "DeleteMessage",
}
HAS_NO_VERSION = {"UpdateThread"}
# Values of the cache belong to no thread: there is no version to expect, and to do it again does no harm.
# What a worker says is known by its call's idempotency key.
NEEDS_NO_REQUEST_ID = {"PutValue", "DeleteValue", "RenewCalls", "ReportProgress", "FinishCall", "DrainWorker"}
# Its stream gives calls and not events.
GIVES_CALLS = {"Work"}
READS = ("Get", "List", "Watch", "Work")


def methods() -> list[MethodDescriptor]:
    return [method for file in FILES for service in file.services_by_name.values() for method in service.methods]


def messages() -> Iterator[Descriptor]:
    waiting = [message for file in FILES for message in file.message_types_by_name.values()]
    while waiting:
        message = waiting.pop()
        waiting += message.nested_types
        yield message


def enums() -> list[EnumDescriptor]:
    return [enum for file in FILES for enum in file.enum_types_by_name.values()]


def fields() -> list[FieldDescriptor]:
    return [field for message in messages() for field in message.fields]


def comment_of(method: MethodDescriptor) -> str:
    """The comments of RPCs reach Python as docstrings of the servicers."""
    service = method.containing_service
    module = importlib.import_module(service.file.name.removesuffix(".proto").replace("/", ".") + "_pb2_grpc")
    servicer = getattr(module, f"{service.name}Servicer")
    return f"{servicer.__doc__}\n{getattr(servicer, method.name).__doc__}"


def http_of(method: MethodDescriptor) -> list[tuple[str, str, str]]:
    """Verb, path and body of each way that a method is reached over HTTP."""
    rule = method.GetOptions().Extensions[annotations_pb2.http]
    if not rule.WhichOneof("pattern"):
        return []
    ways = [(each.WhichOneof("pattern"), each) for each in (rule, *rule.additional_bindings)]
    return [(verb.upper(), getattr(each, verb), each.body) for verb, each in ways]


def words_of(enum: EnumDescriptor, prefix: str) -> set[str]:
    return {value.name.removeprefix(prefix) for value in enum.values if value.number}


def comments_of_values(prefix: str) -> dict[str, str]:
    """Each value of an enum in error.proto with its comment."""
    text = (PROTO / "error.proto").read_text()
    found = re.findall(rf"((?:  // .*\n)+)  {prefix}(\w+) = \d+;", text)
    return {name: comment.replace("  // ", "").replace("\n", " ") for comment, name in found if name != "UNSPECIFIED"}


every_rpc = pytest.mark.parametrize("method", methods(), ids=lambda method: method.name)


def test_every_service_of_the_contract_is_there() -> None:
    assert {service for file in FILES for service in file.services_by_name} == {
        "AppService",
        "ApprovalService",
        "CacheService",
        "CheckpointService",
        "RunService",
        "ThreadService",
        "WorkerService",
    }


def test_a_file_holds_one_service_at_most_and_stubs_are_made_for_each() -> None:
    for file in FILES:
        assert len(file.services_by_name) == (1 if file.name.endswith("_service.proto") else 0), file.name


@every_rpc
def test_an_rpc_names_only_errors_that_exist(method: MethodDescriptor) -> None:
    words = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b|\bINTERNAL\b|\bUNAUTHENTICATED\b", comment_of(method)))
    prefixes = (
        "FAILURE_CODE_",
        "BUSY_POLICY_",
        "DISCONNECT_POLICY_",
        "CHECKPOINT_STATUS_",
        "CHECKPOINT_SOURCE_",
        "APPROVAL_KIND_",
    )
    reasons = {word for word in words if not word.startswith(prefixes)}
    assert "INTERNAL" in reasons, "no word on how it may end"
    assert reasons <= STATUS_OF_REASON.keys()


@every_rpc
def test_a_unary_rpc_has_its_known_path_and_a_stream_has_none(method: MethodDescriptor) -> None:
    assert " ".join(f"{verb} {path}" for verb, path, _ in http_of(method)) == PATHS.get(method.name, "")
    assert (method.name in PATHS) != method.server_streaming


@every_rpc
def test_what_a_path_names_is_a_text_field_of_the_request(method: MethodDescriptor) -> None:
    for name in re.findall(r"{(\w+)}", " ".join(path for _, path, _ in http_of(method))):
        assert method.input_type.fields_by_name[name].type == FieldDescriptor.TYPE_STRING


def test_what_a_path_cannot_say_has_a_path_of_its_own_without_it() -> None:
    """Names of the cache are any text, and `.` and `..` are steps of a path however they are encoded."""
    others = {
        method.name: [(other.WhichOneof("pattern"), getattr(other, other.WhichOneof("pattern"))) for other in rule.additional_bindings]
        for method in methods()
        if method.containing_service.name == "CacheService"
        and (rule := method.GetOptions().Extensions[annotations_pb2.http]).additional_bindings
    }  # fmt: skip
    assert others == {
        "PutValue": [("put", "/v1/cache/value")],
        "GetValue": [("get", "/v1/cache/value")],
        "DeleteValue": [("delete", "/v1/cache/value")],
        "ListKeys": [("get", "/v1/cache/keys")],
    }


@every_rpc
def test_what_travels_as_query_parameters_is_flat(method: MethodDescriptor) -> None:
    members = {field.name for oneof in method.input_type.oneofs for field in oneof.fields if len(oneof.fields) > 1}
    for verb, _, body in http_of(method):
        if verb in ("GET", "DELETE"):
            assert not body
        else:
            assert body == "*" or body in members, "the whole request, or the one of several forms that it has"
        if body != "*":
            query = [field for field in method.input_type.fields if field.name not in members]
            # The one message among them is written as text, such as 30s.
            nested = [field for field in query if field.message_type and field.message_type.name != "Duration"]
            assert not [field.name for field in (*nested, *(each for each in query if each.is_repeated))]


@every_rpc
def test_a_mutation_can_be_repeated_and_made_conditional(method: MethodDescriptor) -> None:
    by_name = method.input_type.fields_by_name
    mutates = not method.name.startswith(READS) and method.name not in NEEDS_NO_REQUEST_ID
    assert ("request_id" in by_name) == mutates
    if mutates and method.name not in HAS_NO_VERSION:
        assert by_name["expected_version"].has_presence, "0 and unset are not the same"
    assert ("options" in by_name) == (method.name in STARTS_AN_ATTEMPT)
    assert ("on_busy" in by_name) == ("busy_timeout" in by_name) == (method.name in WAITS_FOR_THE_THREAD)


@every_rpc
def test_a_stream_carries_events_in_groups(method: MethodDescriptor) -> None:
    if method.server_streaming and method.name not in GIVES_CALLS:
        (events,) = method.output_type.fields
        assert (events.name, events.number, events.is_repeated) == ("events", 1, True)
        kind = events.message_type
        assert kind is not None
        assert kind.name == ("ApprovalEvent" if method.name == "WatchApprovals" else "Event")
    assert not method.client_streaming


@every_rpc
def test_lists_have_pages_of_one_form(method: MethodDescriptor) -> None:
    if not method.name.startswith("List"):
        return
    asked, given = method.input_type.fields_by_name, method.output_type.fields_by_name
    assert asked["page_size"].type == FieldDescriptor.TYPE_INT32
    assert asked["page_token"].type == given["next_page_token"].type == FieldDescriptor.TYPE_STRING
    assert method.output_type.fields[0].is_repeated
    if "thread_id" in asked:
        assert given["version"].type == FieldDescriptor.TYPE_INT64, "a reader must be able to watch after it"


@pytest.mark.parametrize("enum", enums(), ids=lambda enum: enum.name)
def test_an_enum_begins_with_unspecified(enum: EnumDescriptor) -> None:
    zero = enum.values_by_number[0]
    assert zero.name.endswith("_UNSPECIFIED")


def test_error_reasons_are_those_that_a_thread_promises() -> None:
    assert words_of(error_pb2.ErrorReason.DESCRIPTOR, "ERROR_REASON_") == STATUS_OF_REASON.keys()


def test_every_error_reason_says_its_status_and_what_to_do_next() -> None:
    comments = comments_of_values("ERROR_REASON_")
    assert {name: comment.split(".")[0] for name, comment in comments.items()} == STATUS_OF_REASON
    assert [name for name, comment in comments.items() if "Next: " not in comment] == []


def test_failure_codes_are_those_that_a_thread_promises() -> None:
    assert words_of(error_pb2.FailureCode.DESCRIPTOR, "FAILURE_CODE_") == FAILURES


def test_every_failure_code_says_a_status_that_grpc_has() -> None:
    comments = comments_of_values("FAILURE_CODE_")
    assert comments.keys() == FAILURES
    for comment in comments.values():
        assert grpc.StatusCode[comment.split(".")[0]] is not grpc.StatusCode.OK


def test_events_are_the_kinds_of_the_contract() -> None:
    (payload,) = event_pb2.Event.DESCRIPTOR.oneofs
    assert {field.name for field in payload.fields} == {
        "run_queued",
        "run_started",
        "text_delta",
        "reasoning_delta",
        "message_discarded",
        "tool_call_started",
        "tool_call_progress",
        "tool_call_finished",
        "approval_requested",
        "checkpoint_written",
        "state_returned",
        "log_trimmed",
        "heartbeat",
        "run_suspended",
        "run_completed",
        "run_failed",
    }
    for field in payload.fields:
        kind = field.message_type
        assert kind is not None
        assert re.sub(r"(?<!^)(?=[A-Z])", "_", kind.name).lower() == field.name
    frequent = [field for field in payload.fields if field.name.endswith("_delta")]
    assert all(field.number <= 15 for field in frequent), "what is sent most has a tag of one byte"


def test_an_id_a_version_and_a_json_value_have_one_type_everywhere() -> None:
    types: dict[str, set[int]] = defaultdict(set)
    for field in fields():
        if re.search(r"(^|_)(id|uid|json|version)$", field.name):
            types[field.name].add(field.type)
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}


def test_data_travels_as_written() -> None:
    for field in fields():
        if field.name.endswith("_json"):
            assert field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES), field.full_name
        if field.message_type:
            assert field.message_type.full_name not in {
                "google.protobuf.Struct",
                "google.protobuf.Value",
                "google.protobuf.Any",
            }, field.full_name


def test_times_and_durations_are_the_well_known_ones() -> None:
    for field in fields():
        kind = field.message_type.full_name if field.message_type else ""
        assert field.name.endswith("_time") == (kind == "google.protobuf.Timestamp"), field.full_name
        assert not field.name.endswith(("_ms", "_seconds")), field.full_name
        if field.name.endswith(("_timeout", "_duration")):
            assert kind == "google.protobuf.Duration", field.full_name


def test_versions_positions_and_tokens_do_not_overflow() -> None:
    for field in fields():
        if re.fullmatch(r"\w*(version|position|tokens|offset)", field.name) and field.name != "last_of_version":
            assert field.type == FieldDescriptor.TYPE_INT64, field.full_name


def test_the_tenant_is_nowhere_in_the_contract() -> None:
    assert not [field.full_name for field in fields() if "tenant" in field.name]


def test_the_service_config_retries_unavailable_alone_on_every_service() -> None:
    config = json.loads((PROTO / "service_config.json").read_text())
    (rule,) = config["methodConfig"]
    assert rule["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert {entry["service"] for entry in rule["name"]} == {
        service.full_name for file in FILES for service in file.services_by_name.values()
    }


def test_the_python_client_ships_the_same_service_config() -> None:
    assert (STUBS / "service_config.json").read_bytes() == (PROTO / "service_config.json").read_bytes()


def test_grpc_takes_the_service_config() -> None:
    options = [("grpc.service_config", (PROTO / "service_config.json").read_text())]
    with grpc.insecure_channel("127.0.0.1:1", options) as channel:
        with pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary("/clew.v1.AppService/ListApps", bytes, bytes)(b"", timeout=0.2)
        # A config that it finds fault with is INVALID_ARGUMENT; this one only finds nobody at home.
        assert refused.value.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
