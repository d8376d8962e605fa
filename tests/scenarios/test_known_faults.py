"""What another engine of threads was known to get wrong, done right here: an agent's threads and a workflow's, on every backend and surface."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import clew
from clew_engine import END, Agent, StateView, Storage, Workflow, append
from tests.scenarios.checks import check_line, outcomes
from tests.scenarios.scripts import Gate, ScriptedModel, ask
from tests.scenarios.sights import Turn
from tests.scenarios.subjects import Subject
from tests.scenarios.world import World, refused, snapshot
from tests.support.serving import serving

KINDS = pytest.mark.parametrize("kind", ["agent", "workflow"])


@KINDS
async def test_two_runs_on_one_thread_lose_no_answer(world: World, kind: str) -> None:
    subject = Subject(world, kind)
    thread = await subject.answering()
    turns = await asyncio.gather(*(thread.send(subject.said(text)) for text in ("one", "two", "three")))
    assert [turn.status for turn in turns] == ["completed"] * 3
    assert sorted(await subject.answered(thread)) == ["one", "three", "two"]
    await check_line(thread)


@KINDS
async def test_a_message_after_a_crash_is_refused_until_a_retry_and_answered_then(world: World, kind: str) -> None:
    subject, gate = Subject(world, kind), Gate()
    thread = await subject.answering(gate)
    run = thread.stream(subject.said("one"))
    await gate.wait()
    await world.interrupt()
    await run.gone()
    with refused("thread_interrupted"):
        await thread.send(subject.said("two"))
    gate.open()
    assert (await thread.retry()).status == "completed"
    assert (await thread.send(subject.said("two"))).status == "completed"
    assert await subject.answered(thread) == ["one", "two"]


async def test_a_message_after_the_step_limit_is_a_turn_of_an_agent(world: World) -> None:
    subject = Subject(world, "agent")
    thread = await subject.answering(ask("refund", amount=1), limits={"steps": 1})
    assert (await thread.send("one")).failure == "limit_exceeded"
    turn = await thread.send("two")
    assert (turn.status, turn.text) == ("completed", "ok")
    assert await outcomes(thread) == ["done"]


async def test_a_run_after_the_step_limit_is_a_turn_of_a_workflow(world: World) -> None:
    flow = Workflow("app")
    flow.node(lambda state: {"n": state["n"] + 1}, name="more")
    flow.start("more")
    flow.branch("more", lambda state: END if state["n"] == 3 else "more", ["more"])
    world.workflow(flow)
    thread = await world.thread(limits={"steps": 2})
    assert (await thread.send({"n": 0})).failure == "limit_exceeded"
    assert (await thread.send({"n": 2})).status == "completed"
    assert await thread.state() == {"n": 3}


@KINDS
async def test_a_message_while_paused_is_refused_and_told_what_is_waited_for(world: World, kind: str) -> None:
    subject = Subject(world, kind)
    thread = await subject.asking()
    (approval,) = (await thread.send(subject.said("one"))).approvals
    before = await snapshot(thread)
    with refused("thread_suspended", approval_ids=approval):
        await thread.send(subject.said("two"))
    assert await snapshot(thread) == before
    assert (await thread.decide({approval: subject.decision(yes=True)})).status == "completed"
    assert subject.asked == 1


@KINDS
async def test_of_opposite_decisions_at_once_one_wins(world: World, kind: str) -> None:
    subject = Subject(world, kind)
    thread = await subject.asking()
    (approval,) = (await thread.send(subject.said("one"))).approvals
    both = [thread.decide({approval: subject.decision(yes=yes)}) for yes in (True, False)]
    ends = await asyncio.gather(*both, return_exceptions=True)
    won = [yes for yes, end in zip((True, False), ends, strict=True) if isinstance(end, Turn)]
    (lost,) = [end for end in ends if isinstance(end, BaseException)]
    assert getattr(lost, "code", "") == "approval_already_decided"
    assert subject.asked == won.count(True)
    assert (await thread.info())["status"] == "completed"


@KINDS
async def test_an_edited_message_keeps_its_place(world: World, kind: str) -> None:
    thread = await Subject(world, kind).answering()
    ids = await thread.append_messages([{"role": "user", "content": text} for text in ("one", "two", "three")])
    await thread.update_message(ids[1], "changed")
    found = await thread.messages()
    assert [each["id"] for each in found] == ids
    assert [each["content"][0]["text"] for each in found] == ["one", "changed", "three"]
    assert [each["position"] for each in found] == sorted(each["position"] for each in found)


@KINDS
@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": -1}, {"offset": -1}, {"limit": 1, "offset": -5}])
async def test_a_limit_of_nothing_and_an_offset_before_the_first_are_refused(
    world: World, kind: str, wrong: dict[str, int]
) -> None:
    thread = await Subject(world, kind).answering()
    await thread.append_messages([{"role": "user", "content": text} for text in ("one", "two", "three")])
    field = "offset" if "offset" in wrong else "limit"
    with refused("argument_invalid", field=field):
        await thread.messages(**wrong)
    if "offset" not in wrong:
        with refused("argument_invalid", field="limit"):
            await thread.history(wrong["limit"])


async def test_an_offset_and_a_limit_cut_out_what_they_say(world: World) -> None:
    thread = await world.thread()
    await thread.append_messages([{"role": "user", "content": text} for text in "abcde"])

    async def texts(**options: Any) -> str:
        return "".join(each["content"][0]["text"] for each in await thread.messages(**options))

    assert await texts(offset=2) == "cde"
    assert await texts(offset=1, limit=2) == "bc"
    assert await texts(offset=1, limit=2, order="newest_first") == "dc"
    assert await texts(offset=1, search="b") == ""
    assert await texts(offset=5) == await texts(offset=9, limit=1) == ""


@KINDS
async def test_deleting_what_does_not_exist_says_so(world: World, kind: str) -> None:
    thread = await Subject(world, kind).answering()
    assert await thread.delete() is False
    for call in (lambda: thread.delete_message("none"), thread.clear_state, thread.cancel):
        with refused("thread_not_found"):
            await call()
    await thread.append_messages([{"role": "user", "content": "one"}])
    before = await snapshot(thread)
    with refused("message_not_found", message_id="none"):
        await thread.delete_message("none")
    assert await snapshot(thread) == before
    assert [await thread.delete(), await thread.delete()] == [True, False]


@KINDS
async def test_a_write_that_is_refused_in_part_leaves_nothing_behind(world: World, kind: str) -> None:
    subject = Subject(world, kind)
    thread = await subject.asking()
    writes: list[tuple[str, Callable[[], Awaitable[Any]]]] = [
        ("argument_invalid", lambda: thread.append_messages([{"role": "user", "content": text} for text in ("a", "")])),
        ("state_too_large", lambda: thread.update_state({"small": 1, "large": "x" * 1_100_000})),
        ("state_invalid", lambda: thread.update_state({"good": 1, "bad": float("nan")})),
    ]
    for code, write in writes:
        with refused(code):
            await write()
        with refused("thread_not_found"):
            await thread.info()
    (approval,) = (await thread.send(subject.said("one"))).approvals
    before = await snapshot(thread)
    other = approval[:-1] + "9"
    with refused("approval_not_found"):
        await thread.decide({approval: subject.decision(yes=True), other: subject.decision(yes=True)})
    assert await snapshot(thread) == before
    assert subject.asked == 0


async def test_a_step_of_a_workflow_that_fails_in_part_leaves_nothing_in_the_state(world: World) -> None:
    failing = [True]
    flow = Workflow("app", reducers={"log": append})
    flow.node(lambda _: {"log": ["one"]}, name="one")

    @flow.node
    def two(_: StateView) -> dict[str, Any]:
        if failing.pop():
            raise ValueError("no")
        return {"log": ["two"]}

    flow.start("one", "two")
    world.workflow(flow)
    thread = await world.thread()
    assert (await thread.send({"log": []})).failure == "tool_failed"
    assert await thread.state() == {"log": []}
    failing.append(False)
    assert (await thread.retry()).status == "completed"
    assert await thread.state() == {"log": ["one", "two"]}


async def test_a_write_that_the_database_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "clew.db"
    async with Storage(f"sqlite://{file}") as storage:
        thread = Agent("app", model=ScriptedModel("ok"), storage=storage).thread("t")
        await thread.send("one")
        with sqlite3.connect(file) as other:
            # The checkpoint's row is in by the time that this fails.
            other.execute("CREATE TRIGGER broken BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'broken'); END")
        history, messages = await thread.history(), await thread.messages()
        with refused("data_corrupt"):
            await thread.append_messages([{"role": "user", "content": "lost"}], request_id="r")
        assert (await thread.history(), await thread.messages()) == (history, messages)
        with sqlite3.connect(file) as other:
            other.execute("DROP TRIGGER broken")
        assert await thread.append_messages([{"role": "user", "content": "kept"}], request_id="r") == ["m3.0"]
        assert (await thread.send("two")).text == "ok"


async def test_apps_that_name_no_storage_never_share_one() -> None:
    flows = [Workflow("app") for _ in range(2)]
    for flow in flows:
        flow.node(lambda _: {"n": 1}, name="one")
        flow.start("one")
    one, other = (flow.compile() for flow in flows)
    agents = [Agent("app", model=ScriptedModel("ok")) for _ in range(2)]
    await one.thread("t").run({"mine": True})
    await agents[0].thread("t").send("hello")
    for thread in (other.thread("t"), agents[1].thread("t")):
        with refused("thread_not_found"):
            await thread.info()
    # One workflow compiled twice is two apps.
    again = flows[0].compile()
    with refused("thread_not_found"):
        await again.thread("t").info()
    for storage in (one.storage, other.storage, again.storage, *(agent.storage for agent in agents)):
        await storage.close()


async def test_two_servers_of_one_process_never_share_a_storage() -> None:
    async with (
        serving([Agent("app", model=ScriptedModel("ok"))]) as one,
        serving([Agent("app", model=ScriptedModel("ok"))]) as other,
        clew.Client(one.target) as here,
        clew.Client(other.target) as there,
    ):
        await here.app("app").thread("t").send("hello")
        assert await there.threads.list() == []


async def test_two_storages_never_share_a_file_unseen(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with Storage(url):
        with refused("storage_unavailable"):
            await Storage(url).open()


async def test_two_apps_that_share_a_storage_on_purpose_keep_their_threads_apart(world: World) -> None:
    world.agent(name="one")
    flow = Workflow("two")
    flow.node(lambda _: {"n": 1}, name="one")
    flow.start("one")
    world.workflow(flow)
    await (await world.thread(app="one")).send("hello")
    with refused("app_mismatch"):
        await (await world.thread(app="two")).send({})
