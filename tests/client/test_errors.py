"""From a status to the one class that stands for it."""

from __future__ import annotations

import pickle
from typing import Any

import grpc
import pytest

from clew import (
    ClewError,
    Client,
    DataCorruptError,
    DeadlineExceededError,
    ExhaustedError,
    InternalError,
    InvalidError,
    NotFoundError,
    ThreadBusyError,
    ThreadSuspendedError,
    UnavailableError,
)
from clew.errors import error_classes
from clew.v1 import error_pb2, thread_service_pb2
from tests.client.scripted import ScriptedServer, refuses, replies

REASONS = [
    value.name.removeprefix("ERROR_REASON_") for value in error_pb2.ErrorReason.DESCRIPTOR.values if value.number
]


async def refused(
    server: ScriptedServer, client: Client, code: grpc.StatusCode, *details: str, **more: Any
) -> ClewError:
    server.on("GetThread", refuses(code, *details, **more))
    with pytest.raises(ClewError) as raised:
        await client.thread("t-1").info()
    return raised.value


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_of_the_contract_has_a_class_of_its_own(reason: str) -> None:
    found = error_classes()[reason.lower()]
    assert reason.lower() == found.CODE
    assert found is not ClewError


def test_no_two_classes_share_a_code() -> None:
    classes: list[type[ClewError]] = [ClewError]
    for each in classes:
        classes += each.__subclasses__()
    assert len({each.CODE for each in classes}) == len(classes)


async def test_a_refusal_carries_its_code_metadata_and_text(server: ScriptedServer, client: Client) -> None:
    error = await refused(
        server, client, grpc.StatusCode.FAILED_PRECONDITION, "THREAD_SUSPENDED", approval_ids="u.a4.1,u.a4.2"
    )
    assert isinstance(error, ThreadSuspendedError)
    assert (error.code, error.message, error.approval_ids) == ("thread_suspended", "no", ("u.a4.1", "u.a4.2"))
    assert error.__cause__ is None


async def test_the_time_to_wait_is_in_seconds(server: ScriptedServer, client: Client) -> None:
    server.on("GetThread", refuses(grpc.StatusCode.ABORTED, "THREAD_BUSY", retry_after=0.25))
    with pytest.raises(ThreadBusyError) as raised:
        await client.thread("t-1").info()
    assert raised.value.retry_after == 0.25


async def test_the_field_that_breaks_a_rule_is_named(server: ScriptedServer, client: Client) -> None:
    error = await refused(server, client, grpc.StatusCode.INVALID_ARGUMENT, "ID_INVALID", field="thread_id")
    assert isinstance(error, InvalidError)
    assert error.field == "thread_id"


async def test_a_reason_that_is_not_known_is_treated_by_its_status(server: ScriptedServer, client: Client) -> None:
    error = await refused(server, client, grpc.StatusCode.NOT_FOUND, "SHELF_NOT_FOUND", shelf="7")
    assert type(error) is NotFoundError
    assert (error.code, error.metadata) == ("shelf_not_found", {"shelf": "7"})


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, DeadlineExceededError, "deadline_exceeded"),
        (grpc.StatusCode.UNAVAILABLE, UnavailableError, "unavailable"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ExhaustedError, "resource_exhausted"),
        (grpc.StatusCode.DATA_LOSS, DataCorruptError, "data_loss"),
        (grpc.StatusCode.INTERNAL, InternalError, "internal"),
        (grpc.StatusCode.UNIMPLEMENTED, ClewError, "unimplemented"),
    ],
)
async def test_a_status_without_a_reason_has_a_class_too(
    server: ScriptedServer, client: Client, status: grpc.StatusCode, kind: type[ClewError], code: str
) -> None:
    error = await refused(server, client, status)
    assert type(error) is kind
    assert error.code == code


async def test_details_that_cannot_be_read_are_passed_over(server: ScriptedServer, client: Client) -> None:
    async def garbage(_request: object, context: grpc.aio.ServicerContext[object, object]) -> None:
        await context.abort(grpc.StatusCode.NOT_FOUND, "gone", (("grpc-status-details-bin", b"\xff\xff\xff"),))

    server.on("GetThread", garbage)
    with pytest.raises(NotFoundError, match="refused the call with NOT_FOUND"):
        await client.thread("t-1").info()


async def test_a_call_that_takes_too_long_says_so(server: ScriptedServer) -> None:
    server.on("GetThread", refuses(grpc.StatusCode.UNAVAILABLE), replies(thread_service_pb2.GetThreadResponse()))
    async with Client(server.target, timeout=0.0001) as client:
        with pytest.raises(DeadlineExceededError):
            await client.thread("t-1").info()


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(ThreadBusyError("busy", metadata={"thread_id": "t"}, retry_after=1.0)))
    assert (error.message, error.metadata, error.retry_after) == ("busy", {"thread_id": "t"}, 1.0)
