"""The main job through nothing but the generated stubs: the contract has to read well to who has no client of ours."""

from __future__ import annotations

import hashlib
import json

import grpc

from clew.v1.approval_pb2 import APPROVAL_KIND_TOOL_CALL, APPROVAL_STATE_APPROVED, APPROVAL_STATE_PENDING
from clew.v1.approval_service_pb2 import ListApprovalsRequest
from clew.v1.checkpoint_pb2 import (
    CHECKPOINT_SOURCE_FORK,
    CHECKPOINT_STATUS_COMPLETED,
    CHECKPOINT_STATUS_SUSPENDED,
)
from clew.v1.checkpoint_service_pb2 import GetCheckpointRequest, ListCheckpointsRequest, RewindRequest
from clew.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, ROLE_USER, TOOL_OUTCOME_DONE
from clew.v1.run_service_pb2 import DecideRequest, Decision, SendRequest, WatchRequest
from clew.v1.thread_service_pb2 import DeleteThreadRequest, GetStateRequest, GetThreadRequest, ListMessagesRequest
from tests.support.serving import Served, events_of, kinds, logged, refusal


async def test_a_refund_is_asked_approved_watched_rewound_and_deleted(served_on_each: Served) -> None:
    served = served_on_each
    runs, threads, checkpoints = served.runs, served.threads, served.checkpoints

    # A person asks; a tool runs; another one waits for a person.
    asked = await events_of(
        runs.Send(
            SendRequest(
                thread_id="t-1",
                text="please refund my order",
                state_json=b'{"customer": {"id": 9007199254740993}}',
                request_id="first",
                user_id="ada",
            )
        )
    )
    assert kinds(asked) == [
        "run_started",
        "checkpoint_written",
        "checkpoint_written",
        "tool_call_started",
        "tool_call_finished",
        "checkpoint_written",
        "checkpoint_written",
        "approval_requested",
        "checkpoint_written",
        "run_suspended",
    ]
    text = "".join(event.text_delta.text for event in asked if event.HasField("text_delta"))
    assert text == "Let me see. "
    finished = next(event.tool_call_finished for event in asked if event.HasField("tool_call_finished"))
    assert finished.name == "look_up"
    assert finished.outcome == TOOL_OUTCOME_DONE
    assert finished.message.content[0].tool_result.content[0].text.text == "order A-1: 40 EUR"
    assert not any(
        part.HasField("tool_result")
        for event in asked
        for message in event.checkpoint_written.messages
        for part in message.content
    )
    (approval,) = asked[-1].run_suspended.approvals
    assert approval.kind == APPROVAL_KIND_TOOL_CALL
    assert approval.state == APPROVAL_STATE_PENDING
    assert approval.tool == "refund"
    assert json.loads(approval.arguments_json) == {"order": "A-1", "amount": 40}
    assert approval.arguments_digest == hashlib.sha256(approval.arguments_json.encode()).hexdigest()

    # It can be seen from elsewhere, and nothing else is taken meanwhile.
    thread = (await threads.GetThread(GetThreadRequest(thread_id="t-1"))).thread
    assert (thread.status, thread.app, thread.user_id) == (CHECKPOINT_STATUS_SUSPENDED, "support", "ada")
    assert thread.pending_approvals == 1
    assert not thread.HasField("run")
    inbox = await served.approvals.ListApprovals(ListApprovalsRequest(thread_id="t-1"))
    assert [each.id for each in inbox.approvals] == [approval.id]
    assert inbox.version == thread.version
    refused = await refusal(runs.Send(SendRequest(thread_id="t-1", text="hello?")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "THREAD_SUSPENDED")
    assert refused.metadata["approval_ids"] == approval.id

    # The person allows it.
    decided = await events_of(
        runs.Decide(
            DecideRequest(
                thread_id="t-1",
                decisions=[Decision(approval_id=approval.id, approve=Decision.Approve())],
                expected_version=inbox.version,
                request_id="second",
            )
        )
    )
    assert kinds(decided)[0] == "run_started"
    assert decided[0].run_started.attempt == 2
    reply = decided[-1].run_completed.reply
    assert reply.text == "Done: your money is on its way."
    assert reply.message.id == reply.message_id
    assert reply.message.role == ROLE_ASSISTANT

    # What was seen live is what a watch replays, and a repeated request gives its own part of it again.
    replayed = await events_of(runs.Watch(WatchRequest(thread_id="t-1")))
    assert replayed == logged(asked) + logged(decided)
    again = await events_of(
        runs.Send(
            SendRequest(
                thread_id="t-1",
                text="please refund my order",
                state_json=b'{"customer": {"id": 9007199254740993}}',
                request_id="first",
                user_id="ada",
            )
        )
    )
    assert again == logged(asked)
    rest = await events_of(runs.Watch(WatchRequest(thread_id="t-1", after_version=asked[-1].version)))
    assert rest == logged(decided)
    versions = [event.version for event in replayed if event.last_of_version]
    assert versions == list(range(1, reply.version + 1))

    # The transcript, the state and the history.
    listed = await threads.ListMessages(ListMessagesRequest(thread_id="t-1"))
    assert listed.version == reply.version
    roles = [message.role for message in listed.messages]
    assert roles == [ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL, ROLE_ASSISTANT, ROLE_TOOL, ROLE_ASSISTANT]
    state = await threads.GetState(GetStateRequest(thread_id="t-1"))
    assert state.state_json == b'{"customer":{"id": 9007199254740993}}'
    history = await checkpoints.ListCheckpoints(ListCheckpointsRequest(thread_id="t-1"))
    assert [each.version for each in history.checkpoints] == list(range(reply.version, 0, -1))
    suspended = next(each for each in history.checkpoints if each.status == CHECKPOINT_STATUS_SUSPENDED)
    found = await checkpoints.GetCheckpoint(GetCheckpointRequest(thread_id="t-1", checkpoint_id=suspended.id))
    assert found.checkpoint == suspended

    # Back to where it was asked: the same question under another id, which the old answer does not fit.
    rewound = (await checkpoints.Rewind(RewindRequest(thread_id="t-1", checkpoint_id=suspended.id))).checkpoint
    assert (rewound.source, rewound.status) == (CHECKPOINT_SOURCE_FORK, CHECKPOINT_STATUS_SUSPENDED)
    assert rewound.parent_id == suspended.id
    inbox = await served.approvals.ListApprovals(ListApprovalsRequest(thread_id="t-1"))
    (renewed,) = inbox.approvals
    assert renewed.id != approval.id
    assert renewed.arguments_digest == approval.arguments_digest
    old = await served.approvals.ListApprovals(ListApprovalsRequest(state=APPROVAL_STATE_APPROVED))
    assert [each.id for each in old.approvals] == [approval.id]
    rejected = await events_of(
        runs.Decide(
            DecideRequest(
                thread_id="t-1",
                decisions=[Decision(approval_id=renewed.id, reject=Decision.Reject(reason="not this time"))],
            )
        )
    )
    assert rejected[-1].run_completed.reply.text == "It was not allowed."
    listed = await threads.ListMessages(ListMessagesRequest(thread_id="t-1"))
    assert [message.role for message in listed.messages] == roles

    # And gone.
    assert (await threads.DeleteThread(DeleteThreadRequest(thread_id="t-1"))).existed
    assert not (await threads.DeleteThread(DeleteThreadRequest(thread_id="t-1"))).existed
    refused = await refusal(threads.GetThread(GetThreadRequest(thread_id="t-1")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "THREAD_NOT_FOUND")
    refused = await refusal(runs.Watch(WatchRequest(thread_id="t-1", thread_uid=thread.thread_uid)))
    assert refused.reason == "THREAD_NOT_FOUND"
    inbox = await served.approvals.ListApprovals(ListApprovalsRequest())
    assert not inbox.approvals


async def test_a_completed_thread_says_so(served: Served) -> None:
    events = await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
    assert events[-1].run_completed.reply.text == "Hello."
    thread = (await served.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
    assert thread.status == CHECKPOINT_STATUS_COMPLETED
    assert thread.version == events[-1].version
