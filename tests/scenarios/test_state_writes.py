"""State from outside a run: replaced, merged, cleared; each a checkpoint that keeps how the thread stands."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from clew_engine import reads
from clew_engine.commands.state import StateUpdate, update_state
from clew_engine.json_text import join_object, split_object
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_storage import ThreadKey
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Counted, ask
from tests.scenarios.world import World, head_of, refused, snapshot, where_calls_are_open

KEY = ThreadKey("", "t")


def none_known(app: str) -> Program:
    raise AssertionError(app)


async def test_a_merge_replaces_whole_values_and_removes_keys(world: World) -> None:
    thread = await world.thread()
    await thread.send(state={"a": {"x": 1}, "b": 2, "c": 3})
    written = await thread.update_state({"a": {"y": None}, "d": None}, remove_keys=["b", "never"])
    assert await thread.state() == {"a": {"y": None}, "c": 3, "d": None}
    assert (written["source"], written["status"], written["version"]) == ("update", "completed", 3)
    assert written == await head_of(thread)


async def test_a_replacement_leaves_nothing_else(world: World) -> None:
    thread = await world.thread()
    await thread.send(state={"a": 1, "b": 2})
    await thread.update_state({"b": [1], "c": {}}, replace=True)
    assert await thread.state() == {"b": [1], "c": {}}
    await thread.update_state(replace=True)
    assert await thread.state() == {}


async def test_what_was_cleared_is_there_in_older_checkpoints_and_messages_stay(world: World) -> None:
    thread = await world.thread()
    await thread.send(state={"a": 1})
    before = await head_of(thread)
    messages = await thread.messages()
    written = await thread.clear_state()
    assert (written["source"], written["status"]) == ("update", "completed")
    assert await thread.state() == {}
    assert await thread.state(before["id"]) == {"a": 1}
    assert await thread.messages() == messages
    await thread.rewind(before["id"])
    assert await thread.state() == {"a": 1}


async def test_the_next_turn_reads_what_was_written(world: World) -> None:
    seen: list[Any] = []

    def instructions(state: Any) -> str:
        seen.append(dict(state).get("mood"))
        return "be kind"

    world.agent("ok", instructions=instructions)
    thread = await world.thread()
    await thread.update_state({"mood": "calm"})
    await thread.send()
    await thread.update_state({"mood": "glad"})
    await thread.send()
    assert seen == ["calm", "glad"]


async def test_a_write_makes_the_thread_and_the_first_send_gives_it_its_app(world: World) -> None:
    thread = await world.thread()
    written = await thread.update_state({"a": 1})
    assert (written["version"], written["status"], written["next"]) == (1, "completed", [])
    assert (await thread.info())["app"] == "app"
    await thread.send()
    assert await thread.state() == {"a": 1}
    assert [each["source"] for each in await thread.history()] == ["step", "input", "update"]


async def test_a_thread_that_an_update_made_is_written_too(world: World) -> None:
    thread = await world.thread()
    await thread.update(name="made", user_id="ada")
    await thread.update_state({"a": 1})
    info = await thread.info()
    assert (info["name"], info["user_id"], info["version"]) == ("made", "ada", 1)


async def test_a_thread_of_no_app_is_sent_to_rewound_and_copied(here: World) -> None:
    thread = await here.thread()
    async with here.storage.calling(KEY):
        for value in (b"1", b"2"):
            await update_state(
                here.storage,
                KEY,
                StateUpdate({"a": value}),
                none_known,
                mutation=Mutation(),
                options=RunOptions(),
            )
    assert (await thread.info())["app"] == ""
    first = (await thread.history())[-1]
    await thread.rewind(first["id"])
    assert (await head_of(thread))["status"] == "completed"
    copy = await thread.copy("u")
    assert await copy.state() == {"a": 1}
    await thread.send()
    assert (await thread.info())["app"] == "app"
    assert await thread.state() == {"a": 1}


async def test_clearing_what_is_not_there_says_so(world: World) -> None:
    thread = await world.thread()
    with refused("thread_not_found"):
        await thread.clear_state()
    with refused("thread_not_found"):
        await thread.info()


async def test_an_unexpected_version_writes_nothing(world: World) -> None:
    thread = await world.thread()
    with refused("version_conflict"):
        await thread.update_state({"a": 1}, expected_version=1)
    await thread.update_state({"a": 1}, expected_version=0)
    before = await snapshot(thread)
    with refused("version_conflict", expected_version="0", version="1"):
        await thread.update_state({"a": 2}, expected_version=0)
    with refused("version_conflict"):
        await thread.clear_state(expected_version=7)
    assert await snapshot(thread) == before


async def test_the_same_request_again_writes_once(world: World) -> None:
    thread = await world.thread()
    first = await thread.update_state({"a": 1}, request_id="r")
    await thread.update_state({"a": 2})
    assert await thread.update_state({"a": 1}, request_id="r") == first
    assert await thread.state() == {"a": 2}
    with refused("request_id_reused"):
        await thread.update_state({"a": 3}, request_id="r")
    with refused("request_id_reused"):
        await thread.clear_state(request_id="r")


@pytest.mark.parametrize(
    ("values", "options", "code"),
    [
        ({"messages": []}, {}, "argument_invalid"),
        ({"_clew": 1}, {}, "argument_invalid"),
        ({}, {"remove_keys": ["messages"]}, "argument_invalid"),
        ({"a": 1}, {"remove_keys": ["a"]}, "argument_invalid"),
        ({"a": 1}, {"remove_keys": ["b"], "replace": True}, "argument_invalid"),
        ({"a": float("nan")}, {}, "state_invalid"),
        ({"a": 1e308 * 10}, {}, "state_invalid"),
        ({"a": "x" * (1 << 20)}, {}, "state_too_large"),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_leaves_nothing_behind(
    world: World, values: dict[str, Any], options: dict[str, Any], code: str
) -> None:
    thread = await world.thread()
    await thread.send(state={"kept": 1})
    before = await snapshot(thread)
    with refused(code):
        await thread.update_state(values, **options)
    assert await snapshot(thread) == before


async def test_the_limit_holds_for_the_state_as_it_would_be(world: World) -> None:
    thread = await world.thread()
    await thread.update_state({"a": "x" * 600_000})
    with refused("state_too_large"):
        await thread.update_state({"b": "x" * 600_000})
    await thread.update_state({"b": "x" * 600_000}, remove_keys=["a"])
    assert list(await thread.state()) == ["b"]


class Order(TypedDict):
    """What the app's state is."""

    order: str


async def test_what_the_app_declares_must_hold(world: World) -> None:
    world.agent("ok", state=Order)
    thread = await world.thread()
    with refused("state_invalid"):
        await thread.update_state({"order": 7})
    with refused("state_invalid"):
        await thread.update_state({"other": 7})
    with refused("thread_not_found"):
        await thread.info()
    await thread.update_state({"order": "A-1"})
    with refused("state_invalid"):
        await thread.update_state({}, remove_keys=["order"])
    await thread.clear_state()
    with refused("state_invalid"):
        await thread.send()
    assert (await thread.send(state={"order": "A-2"})).status == "completed"


async def test_another_apps_thread_is_not_written(world: World) -> None:
    world.agent("ok")
    world.agent("ok", name="other")
    await (await world.thread()).send()
    other = await world.thread(app="other")
    with refused("app_mismatch"):
        await other.update_state({"a": 1})
    with refused("app_mismatch"):
        await other.append_messages([{"role": "user", "content": "hi"}])
    with refused("app_mismatch"):
        await other.update(name="mine")


async def test_bytes_are_kept_as_sent_and_keys_in_the_order_in_which_they_came(here: World) -> None:
    await here.thread()
    text = b'{"z":1.0,"a":[9007199254740993, 1e2],"u":"\\u0000\xc3\xa9"}'
    for values in (split_object(text), split_object(b'{"a": [1],"new":0}')):
        update = StateUpdate(values)
        async with here.storage.calling(KEY):
            await update_state(here.storage, KEY, update, none_known, mutation=Mutation(), options=RunOptions())
    state, _ = await reads.get_state(here.storage, KEY, "")
    assert join_object(state) == b'{"z":1.0,"a":[1],"u":"\\u0000\xc3\xa9","new":0}'
    replaced = StateUpdate(split_object(b'{"u": 2,"z" :1.50}'), replace=True)
    async with here.storage.calling(KEY):
        await update_state(here.storage, KEY, replaced, none_known, mutation=Mutation(), options=RunOptions())
    state, _ = await reads.get_state(here.storage, KEY, "")
    assert join_object(state) == b'{"u":2,"z":1.50}'


async def test_a_forced_write_to_a_suspended_thread_keeps_its_approvals(world: World) -> None:
    at = await standing(world, "suspended")
    thread = at.thread
    with refused("thread_suspended", approval_ids=at.approval):
        await thread.update_state({"a": 1})
    with refused("thread_suspended"):
        await thread.clear_state()
    asked = await thread.approvals()
    written = await thread.update_state({"a": 1}, force=True)
    assert (written["status"], written["next"]) == ("suspended", ["tools"])
    assert await thread.approvals() == asked
    turn = await thread.decide({at.approval: True})
    assert (turn.status, turn.text) == ("completed", "ok")
    assert await thread.state() == {"a": 1}


async def test_a_suspended_head_that_was_written_is_rewound_to_with_its_questions(world: World) -> None:
    at = await standing(world, "suspended")
    thread = at.thread
    written = await thread.update_state({"a": 1}, force=True)
    await thread.decide({at.approval: True})
    await thread.rewind(written["id"])
    (again,) = await thread.approvals()
    assert again["id"] != at.approval
    assert (await thread.decide({again["id"]: True})).text == "ok"


async def test_a_failed_thread_that_was_written_is_retried(world: World) -> None:
    at = await standing(world, "failed")
    written = await at.thread.update_state({"a": 1})
    assert (written["status"], written["next"]) == ("failed", ["model"])
    assert written.get("failure", written.get("failure_code"))
    turn = await at.thread.retry()
    assert (turn.status, turn.text) == ("completed", "ok")


@pytest.mark.parametrize("head", ["completed", "failed", "suspended"])
async def test_a_watcher_of_a_written_thread_is_told_how_it_stands(world: World, head: str) -> None:
    at = await standing(world, head)
    before = (await head_of(at.thread))["version"]
    await at.thread.update_state({"a": 1}, force=True)
    turn = await at.thread.watch(before).turn()
    (told,) = turn.of("checkpoint_written")
    assert (told.data["source"], told.data["status"]) == ("update", head)
    assert turn.status == head
    if head == "suspended":
        assert turn.approvals == [at.approval]


async def test_a_write_waits_for_the_run_that_holds_the_thread(world: World) -> None:
    at = await standing(world, "running")
    with refused("thread_busy"):
        await at.thread.update_state({"a": 1}, on_busy="reject")
    await at.finish()
    await at.thread.update_state({"a": 1})
    assert await at.thread.state() == {"a": 1}


async def test_a_write_may_interrupt_the_run(world: World) -> None:
    at = await standing(world, "running")
    written = await at.thread.update_state({"a": 1}, on_busy="interrupt")
    assert (written["status"], written["source"]) == ("failed", "update")
    assert at.run is not None
    assert (await at.run.turn()).failure == "cancelled"


async def test_a_write_of_a_thread_with_an_open_call_keeps_the_call(world: World) -> None:
    counted = Counted()
    world.agent(ask("count", n=1), "ok", tools=[counted.count])
    thread = await world.thread()
    await thread.send()
    await thread.rewind(await where_calls_are_open(thread))
    await thread.update_state({"a": 1})
    turn = await thread.retry()
    assert (turn.text, counted.calls) == ("ok", [1, 1])


async def test_keys_to_remove_are_a_list_and_no_text(world: World) -> None:
    thread = await world.thread()
    await thread.update_state({"a": 1, "b": 2})
    with refused("argument_invalid", field="remove_keys"):
        await thread.update_state(remove_keys="ab")
    assert await thread.state() == {"a": 1, "b": 2}
