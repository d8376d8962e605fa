"""`approve()`, `reject()` and `resume()` under a request id that comes again: one effect, and the first one's outcome."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from clew_engine import Workflow, pause
from tests.scenarios.handles import PlayedThread
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask
from tests.scenarios.world import World, refused


async def waiting(world: World, *answers: Any) -> Any:
    """The plain handle on a thread that waits with what the answers ask for."""
    world.agent(*answers, tools=[refund], approve=["refund"])
    thread = cast("PlayedThread", await world.thread()).inner
    await thread.send("hello")
    return thread


@pytest.mark.parametrize("verb", ["approve", "reject"])
async def test_the_same_decision_on_all_again_has_the_first_outcome(world: World, verb: str) -> None:
    thread = await waiting(world, ask("refund", amount=7), "done")
    first = await getattr(thread, verb)(request_id="q")
    again = await getattr(thread, verb)(request_id="q")
    assert (again.text, again.version) == (first.text, first.version)


async def test_it_is_found_by_a_later_handle_while_other_approvals_wait(world: World) -> None:
    thread = await waiting(world, ask("refund", amount=1), ask("refund", amount=2), "done")
    first = await thread.approve(request_id="q")
    assert first.status == "suspended"
    later = cast("PlayedThread", await world.thread()).inner
    again = await later.approve(request_id="q")
    assert (again.status, again.version) == ("suspended", first.version)
    assert [approval.id for approval in again.approvals] == [approval.id for approval in first.approvals]
    await later.approve(request_id="next")
    assert (await later.approve(request_id="q")).version == first.version


async def test_it_is_found_behind_a_decision_on_some_of_them(world: World) -> None:
    thread = await waiting(world, [ask("refund", amount=1), ask("refund", amount=2), ask("refund", amount=3)], "done")
    one, *_ = await thread.approvals()
    await thread.approve(one.id)
    first = await thread.reject("no", request_id="q")
    assert (await thread.reject("no", request_id="q")).version == first.version
    with refused("request_id_reused"):
        await thread.reject("another reason", request_id="q")


async def test_another_body_under_the_id_is_refused(world: World) -> None:
    thread = await waiting(world, ask("refund", amount=7), "done")
    await thread.approve(request_id="q")
    with refused("request_id_reused"):
        await thread.reject(request_id="q")


async def test_a_new_id_decides_nothing_twice(world: World) -> None:
    thread = await waiting(world, ask("refund", amount=7), "done")
    await thread.approve(request_id="q")
    with refused("resume_invalid"):
        await thread.approve(request_id="another")


async def test_many_of_the_same_at_once_have_one_effect(world: World) -> None:
    thread = await waiting(world, ask("refund", amount=7), "done")
    replies = await asyncio.gather(*(thread.approve(request_id="q") for _ in range(5)))
    assert len({reply.version for reply in replies}) == 1


async def test_it_is_found_after_a_rewind(world: World) -> None:
    thread = await waiting(world, ask("refund", amount=7), "done")
    asked = (await thread.history(1))[0]["id"]
    first = await thread.approve(request_id="q")
    await thread.rewind(asked)
    assert (await thread.approve(request_id="q")).version == first.version
    assert len(await thread.approvals()) == 1


async def test_the_same_resume_again_has_the_first_outcome(world: World) -> None:
    flow = Workflow("app")
    flow.node(lambda _: {"by": pause("who?")}, name="sign")
    flow.start("sign")
    world.workflow(flow)
    thread = cast("PlayedThread", await world.thread()).inner
    await thread.stream({}).reply()
    first = await thread.stream_resume("ada", request_id="q").reply()
    again = await thread.stream_resume("ada", request_id="q").reply()
    assert (again.status, again.version) == (first.status, first.version)
