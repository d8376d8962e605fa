"""Sealed snapshots that were touched or made up, and requests that misuse them."""

from __future__ import annotations

import os
from typing import Any

import grpc

from clew.v1.run_service_pb2 import DecideRequest, ResumeRequest
from tests.support.serving import events_of, kinds, refusal, serving
from tests.workflows.sealed_apps import NOTHING_MORE, adding, paused


async def test_what_was_altered_forged_or_cut_is_refused_and_nothing_more_is_said() -> None:
    async with serving([adding()]) as served, serving([adding()]) as other:
        snapshot = await paused(served)
        foreign = await paused(other)
        places = [0, 5, 6, 10, 14, 15, 30, len(snapshot) // 2, len(snapshot) - 1]
        altered = [snapshot[:at] + bytes((snapshot[at] ^ 1,)) + snapshot[at + 1 :] for at in places]
        cut = [snapshot[:size] for size in (1, 4, 6, 7, 14, 26, 41, len(snapshot) - 1)]
        spoilt = [*altered, *cut, foreign, snapshot + b"\0", b"x", b"clew\x01\xff", b'{"format":1}', os.urandom(500)]
        for each in spoilt:
            for call in (
                served.runs.Resume(ResumeRequest(snapshot=each, value_json="1")),
                served.runs.Decide(DecideRequest(snapshot=each, decisions=[{"approval_id": "a", "value_json": "1"}])),  # type: ignore[list-item]
            ):
                refused = await refusal(call)
                assert refused.code == grpc.StatusCode.FAILED_PRECONDITION
                assert (refused.reason, refused.message, refused.metadata) == ("RESUME_INVALID", NOTHING_MORE, {})
        assert kinds(await events_of(served.runs.Resume(ResumeRequest(snapshot=snapshot, value_json="1"))))


async def test_a_request_names_a_thread_or_a_snapshot_and_no_version_with_it() -> None:
    async with serving([adding()]) as served:
        decision: Any = {"approval_id": "a", "value_json": "1"}
        wrong = {
            "thread_id": DecideRequest(decisions=[decision]),
            "snapshot": DecideRequest(thread_id="t", snapshot=b"x", decisions=[decision]),
            "expected_version": DecideRequest(snapshot=b"x", expected_version=1, decisions=[decision]),
        }
        for field, request in wrong.items():
            assert (await refusal(served.runs.Decide(request))).metadata["field"] == field
