"""The inbox across threads: what waits, and what becomes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc

from clew import ApprovalEvent, Client
from clew.v1 import approval_pb2
from clew.v1 import approval_service_pb2 as pb
from tests.client.scripted import ScriptedServer, broken, for_ever, refuses, replies
from tests.client.telling import approval

MARK = pb.ApprovalEvent(snapshot_end=pb.ApprovalEvent.SnapshotEnd())


def pending(approval_id: str) -> pb.ApprovalEvent:
    return pb.ApprovalEvent(pending=approval(approval_id))


def changed(approval_id: str) -> pb.ApprovalEvent:
    return pb.ApprovalEvent(changed=approval(approval_id, approval_pb2.APPROVAL_STATE_APPROVED))


def inbox(*groups: Any) -> Any:
    async def answer(_request: Any, context: Any) -> AsyncIterator[pb.WatchApprovalsResponse]:
        for group in groups:
            if callable(group):
                await group(context)
            else:
                yield pb.WatchApprovalsResponse(events=group)

    return answer


async def seen(client: Client, count: int) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    async with client.approvals.watch(app="support") as stream:
        async for each in stream:
            found.append(named(each))
            if len(found) == count:
                break
    return found


def named(each: ApprovalEvent) -> tuple[str, str, str]:
    return (each.type, each.approval.id if each.approval else "", each.approval.state if each.approval else "")


async def test_pending_approvals_are_listed(server: ScriptedServer, client: Client) -> None:
    server.on("ListApprovals", replies(pb.ListApprovalsResponse(approvals=[approval("u.a2.1")], next_page_token="p")))
    (found,) = await client.approvals.list(1, thread_id="t-1", state="expired", user_id=7)
    assert (found.id, found.state, found.expires_at_ms) == ("u.a2.1", "pending", None)
    (request,) = server.requests("ListApprovals")
    assert (request.thread_id, request.user_id, request.page_size) == ("t-1", "7", 1)
    assert request.state == approval_pb2.APPROVAL_STATE_EXPIRED


async def test_the_inbox_begins_with_all_that_waits(server: ScriptedServer, client: Client) -> None:
    server.on("WatchApprovals", inbox([pending("a"), MARK], [changed("a"), pending("b")], for_ever))
    assert await seen(client, 4) == [
        ("pending", "a", "pending"),
        ("snapshot_end", "", ""),
        ("changed", "a", "approved"),
        ("pending", "b", "pending"),
    ]
    await server.left.wait()
    assert server.requests("WatchApprovals")[0].app == "support"


async def test_an_inbox_that_breaks_gives_nothing_twice_and_looks_up_what_it_missed(
    server: ScriptedServer, client: Client
) -> None:
    server.on(
        "WatchApprovals",
        inbox([pending("a"), pending("b"), MARK], broken),
        inbox([pending("b"), pending("c"), MARK], for_ever),
    )
    rejected = approval("a", approval_pb2.APPROVAL_STATE_REJECTED)
    server.on("GetApproval", replies(pb.GetApprovalResponse(approval=rejected)))
    assert await seen(client, 5) == [
        ("pending", "a", "pending"),
        ("pending", "b", "pending"),
        ("snapshot_end", "", ""),
        ("pending", "c", "pending"),
        ("changed", "a", "rejected"),
    ]
    assert [request.approval_id for request in server.requests("GetApproval")] == ["a"]
    assert server.requests("ListApprovals") == [], "one is asked for, and not all"


async def test_one_approval_is_read_by_its_id(server: ScriptedServer, client: Client) -> None:
    rejected = approval("u.a2.1", approval_pb2.APPROVAL_STATE_REJECTED, reason="too old")
    server.on("GetApproval", replies(pb.GetApprovalResponse(approval=rejected, version=4)))
    found = await client.approvals.get("u.a2.1")
    assert (found.id, found.state, found.reason) == ("u.a2.1", "rejected", "too old")
    assert [request.approval_id for request in server.requests("GetApproval")] == ["u.a2.1"]


async def test_an_approval_whose_thread_is_gone_is_void(server: ScriptedServer, client: Client) -> None:
    server.on("WatchApprovals", inbox([pending("a"), MARK], broken), inbox([MARK], for_ever))
    server.on("GetApproval", refuses(grpc.StatusCode.NOT_FOUND, "APPROVAL_NOT_FOUND"))
    assert (await seen(client, 3))[-1] == ("changed", "a", "void")
