"""One approval by its id: the same on every backend, in process and through a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

import clew
import clew_engine.inbox
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle, World, refused
from tests.support.serving import serving


@pytest.fixture(params=["in_process", "grpc"])
async def inbox(request: pytest.FixtureRequest, here: World) -> AsyncIterator[Any]:
    """The inbox of an agent whose every turn asks for a refund."""
    here.agent(*[ask("refund", amount=1)] * 2, "ok", tools=[refund], approve=True, approval_ttl=60)
    if request.param == "in_process":
        yield here.storage.approvals
        return
    async with serving(here.agents, here.storage) as served, clew.Client(served.target) as client:
        yield client.approvals


async def asked(here: World) -> tuple[Handle, str]:
    """A thread that waits, and what for."""
    thread = await here.thread()
    return thread, (await thread.send()).approvals[0]


async def test_one_that_waits_is_read_as_the_list_has_it(here: World, inbox: Any) -> None:
    _, approval = await asked(here)
    found = await inbox.get(approval)
    assert [found] == await inbox.list()
    assert (found.id, found.state, found.arguments) == (approval, "pending", {"amount": 1})


async def test_one_that_was_edited_shows_what_was_decided_beside_what_was_asked(here: World, inbox: Any) -> None:
    thread, approval = await asked(here)
    turn = await thread.decide({approval: {"arguments": {"amount": 40}}})
    found = await inbox.get(approval)
    assert [found] == await inbox.list(state="approved")
    assert (found.state, found.arguments, found.decided_arguments) == ("approved", {"amount": 1}, {"amount": 40})
    (call,) = [part for part in (await thread.messages())[1]["content"] if part["type"] == "tool_call"]
    assert call["args"] == {"amount": 1}, "the model's own"
    assert (await thread.decide({turn.approvals[0]: True})).text == "ok"
    await thread.delete_message("m2.0")
    assert (await inbox.get(approval)).decided_arguments is None


async def test_one_that_was_decided_says_how_and_by_whom(here: World, inbox: Any) -> None:
    thread, approval = await asked(here)
    await thread.decide({approval: {"reject": "too old"}})
    found = await inbox.get(approval)
    assert (found.state, found.reason) == ("rejected", "too old")
    assert found.decided_at_ms is not None
    assert [found] == await inbox.list(state="rejected")


async def test_one_that_was_voided_or_expired_says_so(here: World, inbox: Any) -> None:
    thread, approval = await asked(here)
    await thread.cancel()
    assert (await inbox.get(approval)).state == "void"
    later = (await thread.send()).approvals[0]
    here.clock.advance(61)
    await here.sweep()
    assert (await inbox.get(later)).state == "expired"


async def test_one_that_is_not_there_or_whose_thread_was_deleted_is_not_found(here: World, inbox: Any) -> None:
    thread, approval = await asked(here)
    with refused("approval_not_found", approval_id="0123456789abcdef.a6.0"):
        await inbox.get("0123456789abcdef.a6.0")
    await thread.delete()
    with refused("approval_not_found", approval_id=approval):
        await inbox.get(approval)
    await thread.send()
    with refused("approval_not_found"):
        await inbox.get(approval)


async def test_what_is_no_id_is_refused(inbox: Any) -> None:
    for bad in ("", "a/b", "x" * 129):
        with refused("id_invalid", field="approval_id"):
            await inbox.get(bad)


async def test_a_list_takes_what_it_names(here: World, inbox: Any) -> None:
    _, approval = await asked(here)
    other = await (await here.thread("other")).send(user_id=7)
    assert [each.id for each in await inbox.list()] == [approval, *other.approvals]
    assert [each.id for each in await inbox.list(1)] == [approval]
    assert [each.id for each in await inbox.list(user_id=7)] == other.approvals
    assert [each.id for each in await inbox.list(thread_id="t", app="app")] == [approval]
    assert await inbox.list(state="void") == []
    with refused("argument_invalid", field="state"):
        await inbox.list(state="maybe")
    with refused("thread_not_found"):
        await inbox.list(thread_id="none")


def test_in_process_and_through_a_client_it_has_the_same_blocking_verbs() -> None:
    def verbs(owner: type) -> set[str]:
        return {name for name in dir(owner) if not name.startswith("_")} - {"watch", "watch_sync"}

    assert verbs(clew_engine.inbox.Approvals) == verbs(clew.inbox.Approvals) == {"list", "list_sync", "get", "get_sync"}
