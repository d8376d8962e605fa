"""Errors on the wire: one table, one ErrorInfo, nothing of what was not foreseen."""

from __future__ import annotations

import re
from pathlib import Path

import grpc
import pytest
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from structlog.testing import capture_logs

from clew.v1.error_pb2 import ErrorReason, FailureCode
from clew.v1.run_service_pb2 import SendRequest
from clew.v1.thread_service_pb2 import GetThreadRequest
from clew_engine import errors
from clew_engine.checkpoints import Failure
from clew_server.rpc.failures import CODES, FAILURE_CODES, code_of, failure_status, incident_of, refusal_of
from clew_server.rpc.wire.checkpoints import to_failure_code
from clew_storage import DataCorrupt
from tests.support.serving import Served, refusal

PROTO = (Path(__file__).parents[2] / "proto" / "clew" / "v1" / "error.proto").read_text()
# RunFailed tells of it, and it never ends a call.
NOT_A_REFUSAL = {"run_failed"}


def said_in_contract(prefix: str) -> dict[str, str]:
    """The gRPC status that the comment above each value begins with."""
    found: dict[str, str] = {}
    status, before = "", ""
    for line in map(str.strip, PROTO.splitlines()):
        if (begun := re.match(r"// ([A-Z_]+)\. ", line)) and not before.startswith("//"):
            status = begun[1]
        if (value := re.match(rf"{prefix}_([A-Z_]+) = [1-9]", line)) is not None:
            found[value[1]] = status
        before = line
    return found


def test_every_error_of_the_engine_is_a_reason_of_the_contract_with_its_status() -> None:
    contract = said_in_contract("ERROR_REASON")
    for code, kind in errors.error_classes().items():
        if code not in NOT_A_REFUSAL:
            assert code_of(kind.__new__(kind)).name == contract[code.upper()], code


def test_every_reason_of_the_contract_is_one_that_the_server_gives() -> None:
    given = {code.upper() for code in errors.error_classes()} - {"RUN_FAILED"} | {"INTERNAL", "UNSPECIFIED"}
    assert {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} == given  # noqa: SIM118


def test_every_failure_code_has_its_status() -> None:
    contract = said_in_contract("FAILURE_CODE")
    assert {code.upper(): status.name for code, status in FAILURE_CODES.items()} == contract
    assert {f"FAILURE_CODE_{code.upper()}" for code in FAILURE_CODES} == set(FailureCode.keys()) - {
        "FAILURE_CODE_UNSPECIFIED"
    }


def test_an_error_without_a_row_of_its_own_is_what_its_base_is() -> None:
    class NewNotFoundError(errors.NotFoundError):
        code = "new_not_found"

    assert NewNotFoundError not in CODES
    assert code_of(NewNotFoundError("gone")) is grpc.StatusCode.NOT_FOUND


def test_a_busy_thread_says_when_to_try_again() -> None:
    refused = refusal_of(errors.ThreadBusyError("t", 0.0))
    info, retry = ErrorInfo(), RetryInfo()
    assert refused.status.details[0].Unpack(info)
    assert refused.status.details[1].Unpack(retry)
    assert (info.domain, info.reason, dict(info.metadata)) == ("clew", "THREAD_BUSY", {"thread_id": "t"})
    assert retry.retry_delay.seconds == 1


def test_what_is_too_long_for_a_trailer_is_cut() -> None:
    ids = tuple(f"abcdefghjkmnpqrs.a{number}.0" for number in range(1000))
    refused = refusal_of(errors.ThreadSuspendedError("t", ids))
    assert refused.status.ByteSize() < 3000
    info = ErrorInfo()
    refused.status.details[0].Unpack(info)
    assert set(info.metadata["approval_ids"].split(",")) < set(ids)


def test_a_message_of_many_bytes_a_letter_is_cut_between_letters() -> None:
    refused = refusal_of(errors.ResumeInvalidError("🧶" * 1000))
    assert len(refused.status.message.encode()) <= 1024
    assert set(refused.status.message) == {"🧶", "…"}


def test_a_failure_of_an_unknown_code_is_internal_everywhere() -> None:
    status = failure_status(Failure("brand_new", "x", retryable=False))
    assert status.code == grpc.StatusCode.INTERNAL.value[0]
    assert to_failure_code("brand_new") == FailureCode.Value("FAILURE_CODE_INTERNAL")


def test_an_incident_says_its_number_and_nothing_else() -> None:
    refused = incident_of("abc")
    info = ErrorInfo()
    refused.status.details[0].Unpack(info)
    assert (info.reason, dict(info.metadata)) == ("INTERNAL", {"incident_id": "abc"})


async def test_what_was_not_foreseen_is_logged_and_never_sent(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(served.storage.backend.threads, "get_head", broken)
    with capture_logs() as logs:
        refused = await refusal(served.threads.GetThread(GetThreadRequest(thread_id="t")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "hunter2" not in repr(refused)
    (incident,) = [line for line in logs if line["event"] == "incident"]
    assert incident["incident_id"] == refused.metadata["incident_id"]
    assert "hunter2" in repr(incident["exc_info"])


async def test_what_was_not_foreseen_in_a_stream_is_told_the_same_way(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise KeyError("hunter2")

    monkeypatch.setattr(served.storage.backend.threads, "get_head", broken)
    refused = await refusal(served.runs.Send(SendRequest(thread_id="t", text="hi")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert "hunter2" not in repr(refused)


async def test_a_call_is_one_line_of_the_log(served: Served) -> None:
    with capture_logs() as logs:
        await refusal(served.threads.GetThread(GetThreadRequest(thread_id="t")))
    (line,) = [line for line in logs if line["event"] == "call"]
    assert line["method"] == "ThreadService/GetThread"
    assert (line["code"], line["thread_id"]) == ("NOT_FOUND", "t")
    assert line["ms"] >= 0


async def test_what_is_damaged_is_logged_with_its_cause(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def damaged(_: object) -> None:
        raise DataCorrupt("page 7 is not what was written")

    monkeypatch.setattr(served.storage.backend.threads, "get_head", damaged)
    with capture_logs() as logs:
        refused = await refusal(served.threads.GetThread(GetThreadRequest(thread_id="t")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.DATA_LOSS, "DATA_CORRUPT")
    (incident,) = [line for line in logs if line["event"] == "incident"]
    assert (incident["log_level"], "page 7" in repr(incident["exc_info"])) == ("error", True)
