"""Every field of every request has its rule: a matrix made from the descriptors, each bad value sent over the wire."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from clew.v1 import (
    app_service_pb2,
    approval_service_pb2,
    cache_service_pb2,
    checkpoint_service_pb2,
    message_pb2,
    run_pb2,
    run_service_pb2,
    thread_service_pb2,
    worker_pb2,
    worker_service_pb2,
)
from clew_server.rpc.rules import ANY, FIELDS
from tests.rpc.bad_values import BAD, GOOD, PLACES
from tests.support.serving import Served, events_of, refusal

MODULES = (
    app_service_pb2,
    approval_service_pb2,
    cache_service_pb2,
    checkpoint_service_pb2,
    run_service_pb2,
    thread_service_pb2,
    worker_service_pb2,
)
STUBS = {
    "AppService": "apps",
    "ApprovalService": "approvals",
    "CacheService": "cache",
    "CheckpointService": "checkpoints",
    "RunService": "runs",
    "ThreadService": "threads",
    "WorkerService": "workers",
}
METHODS = [
    method
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]
REQUESTS = {method.input_type.name: method for method in METHODS}

# A rule that is told under another field's name, because two fields break it together.
TOLD_AS = {
    ("ListThreadsRequest", "metadata_value"): "metadata_key",
}


@dataclass(frozen=True)
class Row:
    """One bad value in one field."""

    request: str
    message: str
    field: str
    place: str
    value: Any

    def __str__(self) -> str:
        return f"{self.message}.{self.field}={str(self.value)[:24]!r}"


def descriptor_of(message: str) -> Descriptor:
    for module in (*MODULES, run_pb2, message_pb2, worker_pb2):
        outer, *inner = message.split(".")
        found: Descriptor | None = module.DESCRIPTOR.message_types_by_name.get(outer)
        for name in inner:
            found = found.nested_types_by_name[name] if found else None
        if found is not None:
            return found
    raise AssertionError(message)


def requested_messages() -> Iterator[Descriptor]:
    """Every message that a request is made of, but for the well-known ones."""
    waiting = [method.input_type for method in METHODS]
    seen: set[str] = set()
    while waiting:
        message = waiting.pop()
        if message.full_name in seen or not message.full_name.startswith("clew.v1."):
            continue
        seen.add(message.full_name)
        yield message
        waiting += [field.message_type for field in message.fields if field.message_type is not None]


# Thoughts are refused whole; calls and results only AppendMessages takes, and what they may hold is a rule of the engine's.
NEVER_SENT = {"clew.v1.ReasoningPart", "clew.v1.ToolCall", "clew.v1.ToolResult"}


def bad_values(message: str, field: FieldDescriptor) -> list[Any]:
    own = BAD.get(message, {})
    if field.enum_type is not None:
        return [99, -1, *own.get(field.name, [])]
    if field.name in own:
        return own[field.name]
    return BAD["*"].get(field.name, [])


def rows() -> Iterator[Row]:
    for message in (*GOOD, *PLACES):
        request, _, place = PLACES.get(message, (message, {}, ""))
        for field in descriptor_of(message).fields:
            for value in bad_values(message, field):
                yield Row(request, message, field.name, place, value)


def spoiled(row: Row) -> Any:
    """A good request with one bad value in it."""
    request = descriptor_of(row.request)
    whole = dict(GOOD[row.request])
    if not row.place:
        return make(request, whole | {row.field: row.value}, row.field)
    _, around, _ = PLACES[row.message]
    inner: Any = make(descriptor_of(row.message), around | {row.field: row.value}, row.field)
    if row.message == "Decision.Outcome.RunAgain":
        return None
    for name in reversed(row.place.split(".")[1:]):
        if name in ("image", "text", "provider") and row.message != "Part":
            inner = message_pb2.Part(
                **({name: inner} if name != "provider" else {"provider": inner, "text": {"text": "hi"}})
            )
        elif name == "parts":
            inner = run_service_pb2.Content(parts=[inner])
        elif name == "limits":
            inner = run_pb2.RunOptions(limits=inner)
        else:
            inner = run_service_pb2.Decision(approval_id="a", **{name: inner})
    first = row.place.split(".")[0]
    if first == "content":
        whole.pop("text")
    return make(request, whole | {first: [inner] if first in ("decisions", "messages", "tools") else inner}, first)


def make(descriptor: Descriptor, values: dict[str, Any], spoiled_field: str) -> Any:
    """A message of these values; of a oneof the spoiled member is the one that stays."""
    oneof = descriptor.fields_by_name[spoiled_field].containing_oneof
    if oneof is not None:
        others = {field.name for field in oneof.fields} - {spoiled_field}
        values = {name: value for name, value in values.items() if name not in others}
    return GetMessageClass(descriptor)(**values)


def stub_for(served: Served, request: str) -> Any:
    method = REQUESTS[request]
    return getattr(getattr(served, STUBS[method.containing_service.name]), method.name)


ROWS = list(rows())


def test_every_field_of_every_request_is_in_the_table_of_rules() -> None:
    for message in requested_messages():
        if message.full_name not in NEVER_SENT:
            assert set(FIELDS[message.full_name]) == {field.name for field in message.fields}, message.full_name


def test_the_table_has_no_message_that_the_contract_does_not() -> None:
    assert set(FIELDS) | NEVER_SENT == {message.full_name for message in requested_messages()}


@pytest.mark.parametrize("full_name", sorted(FIELDS))
def test_a_field_has_bad_values_here_or_any_value_is_fine(full_name: str) -> None:
    message = full_name.removeprefix("clew.v1.")
    for field in descriptor_of(message).fields:
        nested = field.message_type is not None and field.message_type.full_name in FIELDS
        tried = bool(bad_values(message, field)) or nested or (message, field.name) in TRIED_TOGETHER
        assert tried or FIELDS[full_name][field.name] is ANY, f"{message}.{field.name}"


# Fields whose rule is about another field too; see the tests below.
TRIED_TOGETHER: set[tuple[str, str]] = set()


@pytest.mark.parametrize("message", sorted({row.message for row in ROWS}))
async def test_a_bad_value_is_refused_by_the_name_of_its_field_and_nothing_is_written(
    served: Served, message: str
) -> None:
    for row in (row for row in ROWS if row.message == message):
        request = spoiled(row)
        refused = await refusal(stub_for(served, row.request)(request, timeout=20))
        assert refused.code == grpc.StatusCode.INVALID_ARGUMENT, row
        assert refused.reason in ("ARGUMENT_INVALID", "ID_INVALID", "STATE_INVALID"), row
        expected = TOLD_AS.get((row.message, row.field), row.field)
        assert expected in refused.metadata["field"].split("."), (row, refused)
        if row.place:
            assert refused.metadata["field"].startswith(row.place.split(".")[0]), (row, refused)
    listed = await served.threads.ListThreads(thread_service_pb2.ListThreadsRequest())
    assert not listed.threads


@pytest.mark.parametrize("request_name", sorted(GOOD))
async def test_the_request_that_the_matrix_spoils_breaks_no_rule_itself(served: Served, request_name: str) -> None:
    call = stub_for(served, request_name)(GetMessageClass(descriptor_of(request_name))(**GOOD[request_name]))
    try:
        if request_name in ("WatchApprovalsRequest", "WorkRequest"):
            await call.read()
            call.cancel()
        elif REQUESTS[request_name].server_streaming:
            await events_of(call)
        else:
            await call
    except grpc.aio.AioRpcError as error:
        if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION):
            raise


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (run_service_pb2.SendRequest(thread_id="t"), "input"),
        (run_service_pb2.SendRequest(text="hi", expected_version=0), "expected_version"),
        (run_service_pb2.ResumeRequest(value_json="1"), "target"),
        (run_service_pb2.ResumeRequest(snapshot=b"s", expected_version=1), "expected_version"),
        (
            run_service_pb2.DecideRequest(thread_id="t", decisions=[run_service_pb2.Decision(approval_id="a")]),
            "decision",
        ),
        (run_service_pb2.WatchRequest(thread_id="t", run_id="r", follow=True), "follow"),
        (thread_service_pb2.ListThreadsRequest(metadata_key="a", metadata_json='{"a":1}'), "metadata_json"),
        (thread_service_pb2.UpdateStateRequest(thread_id="t"), "change"),
        (thread_service_pb2.UpdateMessageRequest(thread_id="t", message_id="m1.0"), "content"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
async def test_what_is_missing_or_does_not_go_together_is_refused(served: Served, request_: Any, field: str) -> None:
    refused = await refusal(stub_for(served, type(request_).__name__)(request_))
    assert refused.reason == "ARGUMENT_INVALID"
    assert refused.metadata["field"].split(".")[-1] == field


async def test_bytes_that_are_no_message_are_refused_as_an_argument(served: Served) -> None:
    call: Any = served.channel.unary_unary("/clew.v1.ThreadService/GetThread")
    refused = await refusal(call(b"\xff\xff\xff"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "ARGUMENT_INVALID")
    refused = await refusal(call(b"\x0a\x02\xff\xfe"))
    assert refused.metadata["field"] == "request"


async def test_a_token_of_another_listing_is_refused(served: Served) -> None:
    for number in range(3):
        await served.threads.UpdateThread(
            thread_service_pb2.UpdateThreadRequest(thread_id=f"t{number}", allow_missing=True)
        )
    page = await served.threads.ListThreads(thread_service_pb2.ListThreadsRequest(page_size=2))
    assert page.next_page_token
    token = page.next_page_token
    for request in (
        thread_service_pb2.ListThreadsRequest(page_token=token, user_id="ada"),
        thread_service_pb2.ListThreadsRequest(page_token=token, order=thread_service_pb2.THREAD_ORDER_UPDATE_TIME),
        thread_service_pb2.ListThreadsRequest(page_token=token[:-2]),
    ):
        refused = await refusal(served.threads.ListThreads(request))
        assert refused.metadata["field"] == "page_token"
    rest = await served.threads.ListThreads(thread_service_pb2.ListThreadsRequest(page_token=token))
    assert [thread.thread_id for thread in (*page.threads, *rest.threads)] == ["t2", "t1", "t0"]


async def test_a_token_whose_version_was_changed_is_refused(served: Served) -> None:
    for number in range(2):
        await events_of(served.runs.Send(run_service_pb2.SendRequest(thread_id="t", text=f"{number}")))
    calls: tuple[tuple[Any, Any], ...] = (
        (served.threads.ListMessages, thread_service_pb2.ListMessagesRequest),
        (served.checkpoints.ListCheckpoints, checkpoint_service_pb2.ListCheckpointsRequest),
    )
    for call, request in calls:
        token = (await call(request(thread_id="t", page_size=1))).next_page_token
        seal, place, version = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        for forged in ((place, 99999), (place, -1), (place, 1), (place + 1, version)):
            changed = base64.urlsafe_b64encode(json.dumps([seal, *forged]).encode()).decode().rstrip("=")
            refused = await refusal(call(request(thread_id="t", page_size=1, page_token=changed)))
            assert (refused.reason, refused.metadata["field"]) == ("ARGUMENT_INVALID", "page_token")
