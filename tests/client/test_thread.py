"""Each verb of a handle: what it asks, and what it gives."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from clew import (
    ArgumentInvalidError,
    Client,
    Decision,
    IdInvalidError,
    Limits,
    ResumeInvalidError,
    StateInvalidError,
    Thread,
    ThreadInterruptedError,
)
from clew.v1 import (
    app_pb2,
    app_service_pb2,
    approval_service_pb2,
    checkpoint_pb2,
    checkpoint_service_pb2,
    run_pb2,
    thread_pb2,
    thread_service_pb2,
)
from clew.v1 import run_service_pb2 as pb
from tests.client.scripted import Answer, ScriptedServer, refuses, replies, streams
from tests.client.telling import approval, said, started, suspended, turn, written


@pytest.fixture
def thread(client: Client) -> Thread:
    return client.app("support").thread("t-1", actor="ada")


@pytest.mark.parametrize("holder", ["app", "workflow", "client"])
async def test_a_handle_without_an_id_is_refused_before_anything_is_asked(
    server: ScriptedServer, client: Client, holder: str
) -> None:
    handles: dict[str, Any] = {"app": client.app("support"), "workflow": client.workflow("order"), "client": client}
    with pytest.raises(IdInvalidError) as refused:
        handles[holder].thread("")
    assert (refused.value.code, refused.value.field) == ("id_invalid", "thread_id")
    assert server.requests("Send") == []


def pages(*responses: Any) -> list[Answer]:
    return [replies(response) for response in responses]


async def test_send_merges_values_into_the_state(server: ScriptedServer, thread: Thread) -> None:
    server.on("Send", streams(turn()))
    reply = await thread.send("hi", user_id=42, big=2**53 + 1, state={"timeout": None}, metadata={"team": "a"})
    (request,) = server.requests("Send")
    assert (request.app, request.text, request.user_id) == ("support", "hi", "42")
    assert request.state_json == b'{"timeout":null,"big":9007199254740993,"user_id":42}'
    assert request.metadata_json == '{"team":"a"}'
    assert request.options.actor == "ada"
    assert not request.HasField("expected_version")
    assert (reply.text, reply.status, reply.version, reply.run_id) == ("done", "completed", 2, "u.r1")
    assert reply.usage.total_tokens == 5
    assert reply.message is not None
    assert reply.message["content"][0]["text"] == "done"


async def test_send_carries_its_options(server: ScriptedServer, thread: Thread) -> None:
    server.on("Send", streams(turn()))
    await thread.send(
        "hi",
        on_busy="interrupt",
        busy_timeout=1.5,
        limits=Limits(steps=3, tokens=100, seconds=0.5, tool_seconds=2),
        expected_version=0,
        request_id="r-1",
        timeout=30,
    )
    (request,) = server.requests("Send")
    options = request.options
    assert (request.request_id, request.expected_version, request.HasField("expected_version")) == ("r-1", 0, True)
    assert options.on_busy == run_pb2.BUSY_POLICY_INTERRUPT
    assert options.busy_timeout.ToMilliseconds() == 1500
    assert (options.limits.max_steps, options.limits.max_tokens) == (3, 100)
    assert options.limits.max_duration.ToMilliseconds() == 500
    assert options.limits.tool_timeout.seconds == 2


async def test_send_takes_parts_and_a_workflow_a_dict(server: ScriptedServer, thread: Thread) -> None:
    server.on("Send", streams(turn()))
    await thread.send([{"type": "text", "text": "look"}, {"type": "image", "mime_type": "image/png", "data": b"x"}])
    await thread.send({"order": 7})
    parts, flow = server.requests("Send")
    assert [part.WhichOneof("kind") for part in parts.content.parts] == ["text", "image"]
    assert flow.input_json == b'{"order":7}'


@pytest.mark.parametrize(
    ("call", "error", "field"),
    [
        (lambda thread: thread.stream("hi", on_busy="panic"), ArgumentInvalidError, "options.on_busy"),
        (lambda thread: thread.stream("hi", busy_timeout=float("nan")), ArgumentInvalidError, "busy_timeout"),
        (lambda thread: thread.stream("hi", value=float("nan")), StateInvalidError, "state_json"),
        (lambda thread: thread.stream_decide({"a": {"perhaps": 1}}), ArgumentInvalidError, "decisions"),
        (lambda thread: thread.stream_decide({"a": {"approve": False}}), ArgumentInvalidError, "decisions"),
        (lambda thread: thread.stream_decide({"a": "yes"}), ArgumentInvalidError, "decisions"),
        (lambda thread: thread.stream_decide({"a": {"reject": True}}), ArgumentInvalidError, "decisions"),
    ],
)
async def test_what_cannot_be_meant_is_refused_at_once(
    server: ScriptedServer, thread: Thread, call: Any, error: type[ArgumentInvalidError], field: str
) -> None:
    with pytest.raises(error) as raised:
        call(thread)
    assert raised.value.field == field
    assert server.asked == []


async def test_a_suspended_run_replies_with_what_it_asks(server: ScriptedServer, thread: Thread) -> None:
    server.on("Send", streams([started(1), written(1), suspended(2, approval("u.a2.1"))]))
    reply = await thread.send("refund me")
    assert (reply.status, reply.message, reply.version) == ("suspended", None, 2)
    (asked,) = reply.approvals
    assert (asked.id, asked.kind, asked.tool, asked.arguments) == ("u.a2.1", "tool_call", "refund", {"amount": 12})


async def test_approve_without_ids_decides_all_that_it_read(server: ScriptedServer, thread: Thread) -> None:
    first = approval_service_pb2.ListApprovalsResponse(
        approvals=[approval("u.a4.1")], next_page_token="more", version=4
    )
    second = approval_service_pb2.ListApprovalsResponse(approvals=[approval("u.a4.2")], version=4)
    server.on("ListApprovals", *pages(first, second))
    server.on("Decide", streams(turn(5)))
    assert (await thread.approve()).status == "completed"
    (request,) = server.requests("Decide")
    assert [decision.approval_id for decision in request.decisions] == ["u.a4.1", "u.a4.2"]
    assert all(decision.HasField("approve") for decision in request.decisions)
    assert request.expected_version == 4


async def test_approve_names_ids_and_may_edit_arguments(server: ScriptedServer, thread: Thread) -> None:
    server.on("Decide", streams(turn(5)))
    await thread.approve("u.a4.1", arguments={"amount": 5})
    (request,) = server.requests("Decide")
    assert request.decisions[0].approve.arguments_json == '{"amount":5}'
    assert not request.HasField("expected_version")


async def test_reject_tells_the_reason(server: ScriptedServer, thread: Thread) -> None:
    server.on("Decide", streams(turn(5)))
    await thread.reject("too much", "u.a4.1", "u.a4.2")
    (request,) = server.requests("Decide")
    assert [decision.reject.reason for decision in request.decisions] == ["too much", "too much"]


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (thread_pb2.RUN_STATE_UNSPECIFIED, ResumeInvalidError),
        (thread_pb2.RUN_STATE_INTERRUPTED, ThreadInterruptedError),
    ],
)
async def test_approving_where_nothing_waits_says_what_to_do(
    server: ScriptedServer, thread: Thread, state: int, error: type[Exception]
) -> None:
    server.on("ListApprovals", replies(approval_service_pb2.ListApprovalsResponse(version=4)))
    run = thread_pb2.ThreadRun(run_id="u.r1", state=state)  # type: ignore[arg-type]
    server.on("GetThread", replies(thread_service_pb2.GetThreadResponse(thread=thread_pb2.Thread(run=run))))
    with pytest.raises(error):
        await thread.approve()
    assert server.requests("Decide") == []


async def test_approving_on_a_thread_that_is_not_there_has_nothing_to_continue(
    server: ScriptedServer, thread: Thread
) -> None:
    server.on("ListApprovals", refuses(grpc.StatusCode.NOT_FOUND, "THREAD_NOT_FOUND"))
    with pytest.raises(ResumeInvalidError):
        await thread.reject("no")


async def test_decide_says_each_choice_in_either_form(server: ScriptedServer, thread: Thread) -> None:
    server.on("Decide", streams(turn(5)))
    await thread.decide(
        {
            "a": True,
            "b": False,
            "c": {"arguments": {"n": 1}},
            "d": {"reject": "no"},
            "e": {"value": [1]},
            "f": {"run_again": True},
            "g": {"result": None},
            "h": {"fail": "lost"},
        }
    )
    await thread.decide(
        [
            Decision.approve("a"),
            Decision.reject("b"),
            Decision.approve("c", {"n": 1}),
            Decision.reject("d", "no"),
            Decision.answer("e", [1]),
            Decision.run_again("f"),
            Decision.result("g", None),
            Decision.fail("h", "lost"),
        ]
    )
    await thread.decide({"a": "approve", "b": "reject"})
    by_dict, by_list, by_word = server.requests("Decide")
    assert list(by_dict.decisions) == list(by_list.decisions)
    assert [decision.WhichOneof("decision") for decision in by_dict.decisions] == [
        *("approve", "reject", "approve", "reject", "value_json"),
        *("outcome", "outcome", "outcome"),
    ]
    assert list(by_word.decisions) == list(by_dict.decisions)[:2]
    assert by_dict.decisions[6].outcome.result_json == "null"
    assert by_dict.decisions[5].outcome.WhichOneof("outcome") == "run_again"


async def test_approvals_are_what_the_thread_waits_for(server: ScriptedServer, thread: Thread) -> None:
    server.on("ListApprovals", replies(approval_service_pb2.ListApprovalsResponse(approvals=[approval("u.a4.1")])))
    assert [each.id for each in await thread.approvals()] == ["u.a4.1"]
    assert server.requests("ListApprovals")[0].thread_id == "t-1"


async def test_resume_answers_the_one_pause(server: ScriptedServer, thread: Thread) -> None:
    server.on("Resume", streams(turn(5)))
    await thread.resume({"ok": 1}, expected_version=4)
    (request,) = server.requests("Resume")
    assert (request.thread_id, request.value_json, request.expected_version) == ("t-1", '{"ok":1}', 4)


async def test_retry_continues_a_run(server: ScriptedServer, thread: Thread) -> None:
    server.on("Retry", streams(turn(5)))
    assert [each.type async for each in thread.stream_retry()][-1] == "run_completed"
    assert server.requests("Retry")[0].request_id


async def test_cancel_gives_the_head(server: ScriptedServer, thread: Thread) -> None:
    checkpoint = checkpoint_pb2.Checkpoint(
        id="u.3",
        version=3,
        status=checkpoint_pb2.CHECKPOINT_STATUS_FAILED,
        failure_code=1,  # type: ignore[arg-type]
    )
    server.on("CancelRun", *pages(*[pb.CancelRunResponse(checkpoint=checkpoint)] * 2))
    head = await thread.cancel()
    assert (head["id"], head["status"], head["failure_code"]) == ("u.3", "failed", "cancelled")
    assert await thread.cancel("u.r1") == head
    assert [request.run_id for request in server.requests("CancelRun")] == ["", "u.r1"]


async def test_messages_reads_all_pages(server: ScriptedServer, thread: Thread) -> None:
    page = thread_service_pb2.ListMessagesResponse
    server.on(
        "ListMessages",
        *pages(
            page(messages=[said("m1", "a")], next_page_token="p2"),
            page(next_page_token="p3"),
            page(messages=[said("m2", "b")]),
        ),
    )
    assert [each["id"] for each in await thread.messages(reasoning=True)] == ["m1", "m2"]
    assert [request.page_token for request in server.requests("ListMessages")][-3:] == ["", "p2", "p3"]
    assert server.requests("ListMessages")[-1].include_reasoning


async def test_message_reads_one(server: ScriptedServer, thread: Thread) -> None:
    server.on("GetMessage", replies(thread_service_pb2.GetMessageResponse(message=said("m1", "a"))))
    assert (await thread.message("m1"))["role"] == "assistant"
    assert server.requests("GetMessage")[0].message_id == "m1"


async def test_state_keeps_whole_numbers_whole(server: ScriptedServer, thread: Thread) -> None:
    body = b'{"big":9007199254740993,"float":1.0,"none":null}'
    server.on("GetState", *pages(thread_service_pb2.GetStateResponse(state_json=body)))
    state = await thread.state("u.3")
    assert state == {"big": 2**53 + 1, "float": 1.0, "none": None}
    assert isinstance(state["float"], float)
    assert server.requests("GetState")[0].checkpoint_id == "u.3"


async def test_history_gives_the_newest_checkpoints_as_dicts(server: ScriptedServer, thread: Thread) -> None:
    def checkpoint(version: int) -> checkpoint_pb2.Checkpoint:
        return checkpoint_pb2.Checkpoint(
            id=f"u.{version}",
            thread_id="t-1",
            run_id="u.r1",
            parent_id=f"u.{version - 1}" if version > 1 else "",
            version=version,
            attempt=1,
            status=checkpoint_pb2.CHECKPOINT_STATUS_IN_PROGRESS,
            source=checkpoint_pb2.CHECKPOINT_SOURCE_INPUT,
            next=["model"],
        )

    page = checkpoint_service_pb2.ListCheckpointsResponse
    server.on(
        "ListCheckpoints",
        *pages(page(checkpoints=[checkpoint(2)], next_page_token="p"), page(checkpoints=[checkpoint(1)])),
    )
    newest, oldest = await thread.history(5)
    assert newest["parent_id"] == "u.1"
    assert oldest == {
        "id": "u.1",
        "thread_id": "t-1",
        "run_id": "u.r1",
        "parent_id": None,
        "version": 1,
        "status": "in_progress",
        "source": "input",
        "step": 0,
        "attempt": 1,
        "created_at_ms": 0,
        "next": ["model"],
    }
    assert [request.page_size for request in server.requests("ListCheckpoints")] == [5, 4]


async def test_history_asks_no_more_than_it_needs(server: ScriptedServer, thread: Thread) -> None:
    page = checkpoint_service_pb2.ListCheckpointsResponse(
        checkpoints=[checkpoint_pb2.Checkpoint(id="u.1")], next_page_token="p"
    )
    server.on("ListCheckpoints", replies(page))
    assert len(await thread.history(1)) == 1
    assert len(server.requests("ListCheckpoints")) == 1


async def test_rewind_copy_update_and_delete_say_what_they_did(server: ScriptedServer, thread: Thread) -> None:
    server.on(
        "Rewind",
        replies(checkpoint_service_pb2.RewindResponse(checkpoint=checkpoint_pb2.Checkpoint(id="u.9", parent_id="u.3"))),
    )
    server.on("CopyThread", replies(thread_service_pb2.CopyThreadResponse(thread=thread_pb2.Thread(thread_id="t-2"))))
    server.on("UpdateThread", replies(thread_service_pb2.UpdateThreadResponse(thread=thread_pb2.Thread(name="n"))))
    server.on("DeleteThread", *pages(thread_service_pb2.DeleteThreadResponse(existed=True)))
    assert (await thread.rewind("u.3", on_busy="reject", busy_timeout=2))["parent_id"] == "u.3"
    copied = await thread.copy("t-2", "u.3")
    assert (copied.id, copied.app, copied.actor) == ("t-2", "support", "ada")
    assert (await thread.update(name="", metadata={"a": 1}, allow_missing=True)).name == "n"
    assert await thread.delete(expected_version=4) is True
    rewind, copy, update, delete = (request for _, request in server.asked)
    assert (rewind.checkpoint_id, rewind.on_busy, rewind.actor) == ("u.3", run_pb2.BUSY_POLICY_REJECT, "ada")
    assert (copy.target_thread_id, copy.checkpoint_id) == ("t-2", "u.3")
    assert list(update.update_mask.paths) == ["name", "metadata_json"]
    assert (update.metadata_json, update.app, update.allow_missing) == ('{"a":1}', "support", True)
    assert delete.expected_version == 4
    assert all(request.request_id for _, request in server.asked)


async def test_info_tells_how_a_thread_stands(server: ScriptedServer, thread: Thread) -> None:
    wire = thread_pb2.Thread(
        thread_id="t-1",
        metadata_json='{"team":"a"}',
        status=checkpoint_pb2.CHECKPOINT_STATUS_IN_PROGRESS,
        version=3,
        run=thread_pb2.ThreadRun(run_id="u.r1", state=thread_pb2.RUN_STATE_INTERRUPTED, attempt=2),
    )
    server.on("GetThread", replies(thread_service_pb2.GetThreadResponse(thread=wire)))
    info = await thread.info()
    assert (info.status, info.version, info.metadata) == ("in_progress", 3, {"team": "a"})
    assert info.run is not None
    assert (info.run.state, info.run.attempt) == ("interrupted", 2)


async def test_threads_and_apps_are_listed(server: ScriptedServer, client: Client) -> None:
    page = thread_service_pb2.ListThreadsResponse
    server.on(
        "ListThreads",
        *pages(
            page(threads=[thread_pb2.Thread(thread_id="a")], next_page_token="p"),
            page(threads=[thread_pb2.Thread(thread_id="b")]),
        ),
    )
    tool = app_pb2.Tool(name="refund", parameters_schema_json='{"type":"object"}', requires_approval=True)
    app = app_pb2.App(name="support", kind=app_pb2.APP_KIND_AGENT, tools=[tool])
    server.on("ListApps", replies(app_service_pb2.ListAppsResponse(apps=[app])))
    server.on("GetApp", replies(app_service_pb2.GetAppResponse(app=app)))
    found = await client.threads.list(user_id=42, status="failed", metadata=("team", "a"), order="update_time")
    assert [each.thread_id for each in found] == ["a", "b"]
    request = server.requests("ListThreads")[0]
    assert (request.user_id, request.metadata_json) == ("42", '{"team":"a"}')
    assert request.status == checkpoint_pb2.CHECKPOINT_STATUS_FAILED
    assert request.order == thread_service_pb2.THREAD_ORDER_UPDATE_TIME
    (listed,) = await client.apps.list()
    assert listed == await client.apps.get("support")
    assert (listed.kind, listed.tools[0].parameters_schema) == ("agent", {"type": "object"})


async def test_a_handle_holds_only_names(client: Client) -> None:
    thread = client.app("support").thread("t-1", actor="ada")
    assert (thread.id, thread.app, thread.actor) == ("t-1", "support", "ada")
