"""Every cell of the table "Head x command" of docs: what a command does to a thread, by its head."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.scenarios.heads import HEADS, Standing, standing
from tests.scenarios.sights import Turn
from tests.scenarios.world import World, head_of, refused, snapshot

COMMANDS = ("send", "decide", "retry", "rename", "write", "rewind", "cancel", "delete")
# What follows, a word a cell: a refusal's code, or the name of one of the checks below. `rename` is UpdateThread, which never waits.
TABLE = {
    "none": (
        "turn",
        "resume_invalid",
        "resume_invalid",
        "made",
        "begun",
        "checkpoint_not_found",
        "thread_not_found",
        "false",
    ),
    "completed": ("turn", "resume_invalid", "resume_invalid", "changed", "kept", "new_head", "stays", "true"),
    "suspended": (
        "thread_suspended",
        "goes_on",
        "resume_invalid",
        "changed",
        "thread_suspended",
        "new_head",
        "cancelled",
        "true",
    ),
    "failed": ("turn", "resume_invalid", "goes_on", "changed", "kept", "new_head", "stays", "true"),
    "cancelled": ("turn", "resume_invalid", "goes_on", "changed", "kept", "new_head", "stays", "true"),
    "running": (
        "thread_busy",
        "thread_busy",
        "thread_busy",
        "changed",
        "thread_busy",
        "thread_busy",
        "cancelled",
        "true",
    ),
    "interrupted": (
        "thread_interrupted",
        "thread_interrupted",
        "goes_on",
        "changed",
        "thread_interrupted",
        "new_head",
        "cancelled",
        "true",
    ),
}
CELLS = [
    (head, command, outcome) for head, row in TABLE.items() for command, outcome in zip(COMMANDS, row, strict=True)
]


async def issue(command: str, at: Standing) -> Any:
    """Give a command to a thread."""
    thread = at.thread
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "send": lambda: thread.send("again"),
        "decide": lambda: thread.decide({at.approval: True}),
        "retry": thread.retry,
        "rename": lambda: thread.update(name="changed"),
        "write": lambda: thread.update_state({"written": 1}),
        "rewind": lambda: thread.rewind(at.checkpoint),
        "cancel": thread.cancel,
        "delete": thread.delete,
    }
    return await calls[command]()


def test_the_table_has_every_head() -> None:
    assert tuple(TABLE) == HEADS


@pytest.mark.parametrize(("head", "command", "outcome"), CELLS, ids=[f"{head}-{command}" for head, command, _ in CELLS])
async def test_cell(world: World, head: str, command: str, outcome: str) -> None:
    at = await standing(world, head, on_busy="reject")
    before = await snapshot(at.thread)
    if outcome not in CHECKS:
        with refused(outcome):
            await issue(command, at)
        assert await snapshot(at.thread) == before
    else:
        await CHECKS[outcome](at, before, await issue(command, at))
    await at.finish() if outcome != "true" else None


@pytest.mark.parametrize("head", [head for head in HEADS if head != "none"])
async def test_messages_are_written_like_state(world: World, head: str) -> None:
    at = await standing(world, head, on_busy="reject")
    before = await snapshot(at.thread)
    message = before["messages"][0]["id"] if before["messages"] else "m1.0"
    outcome = TABLE[head][COMMANDS.index("write")]
    writes: list[Callable[[], Awaitable[Any]]] = [
        lambda: at.thread.append_messages([{"role": "user", "content": "more"}]),
        lambda: at.thread.update_message(message, "changed"),
        lambda: at.thread.delete_message(message),
        at.thread.clear_state,
    ]
    for write in writes:
        if outcome in CHECKS:
            before = await snapshot(at.thread)
            await write()
            await _kept(at, before, await head_of(at.thread))
        else:
            with refused(outcome):
                await write()
            assert await snapshot(at.thread) == before
    await at.finish()


@pytest.mark.parametrize("head", [head for head in HEADS if head != "suspended"])
async def test_resume_is_judged_like_decide(world: World, head: str) -> None:
    at = await standing(world, head, on_busy="reject")
    before = await snapshot(at.thread)
    with refused(TABLE[head][COMMANDS.index("decide")]):
        await at.thread.resume("yes")
    assert await snapshot(at.thread) == before
    await at.finish()


async def test_resume_of_a_thread_that_waits_for_no_pause_names_what_it_waits_for(world: World) -> None:
    at = await standing(world, "suspended")
    before = await snapshot(at.thread)
    with refused("argument_invalid") as refusal:
        await at.thread.resume("yes")
    assert at.approval in str(refusal.value)
    assert await snapshot(at.thread) == before


async def test_a_send_to_a_suspended_thread_names_the_approvals(world: World) -> None:
    at = await standing(world, "suspended")
    with refused("thread_suspended", approval_ids=at.approval):
        await at.thread.send()


@pytest.mark.parametrize(("head", "state"), [("running", "running"), ("interrupted", "interrupted")])
async def test_get_thread_says_whether_a_run_is_alive(world: World, head: str, state: str) -> None:
    at = await standing(world, head)
    info = await at.thread.info()
    assert info["run"] == {"run_id": (await head_of(at.thread))["run_id"], "state": state, "attempt": 1}
    await at.finish()


@pytest.mark.parametrize("head", ["completed", "suspended", "failed", "cancelled"])
async def test_get_thread_tells_of_no_run_where_none_is_in_progress(world: World, head: str) -> None:
    at = await standing(world, head)
    assert (await at.thread.info())["run"] is None


async def test_a_failed_turn_stays_as_it_was_when_a_new_turn_comes(world: World) -> None:
    at = await standing(world, "failed")
    before = await at.thread.history()
    await at.thread.send("again")
    assert (await at.thread.history())[-len(before) :] == before


async def _turn(at: Standing, before: dict[str, Any], turn: Turn) -> None:
    assert (turn.status, turn.text) == ("completed", "ok")
    history = await at.thread.history()
    assert history[len(history) - len(before["history"]) :] == before["history"]
    assert history[0]["run_id"] not in {each["run_id"] for each in before["history"]}
    assert history[0]["attempt"] == 1


async def _goes_on(at: Standing, before: dict[str, Any], turn: Turn) -> None:
    assert (turn.status, turn.text) == ("completed", "ok")
    head = await head_of(at.thread)
    assert head["run_id"] == before["history"][0]["run_id"]
    assert head["attempt"] == before["history"][0]["attempt"] + 1


async def _made(at: Standing, _: dict[str, Any], info: dict[str, Any]) -> None:
    assert (info["name"], info["version"], info["status"]) == ("changed", 0, None)


async def _changed(at: Standing, before: dict[str, Any], info: dict[str, Any]) -> None:
    assert info["name"] == "changed"
    after = await snapshot(at.thread)
    assert after["history"] == before["history"]
    assert after["approvals"] == before["approvals"]
    assert info["status"] == before["info"]["status"]


async def _begun(at: Standing, _: dict[str, Any], written: dict[str, Any]) -> None:
    assert (written["version"], written["status"], written["source"]) == (1, "completed", "update")
    assert await at.thread.state() == {"written": 1}


async def _kept(at: Standing, before: dict[str, Any], written: dict[str, Any]) -> None:
    head, older = await head_of(at.thread), before["history"][0]
    assert head == written
    assert (head["version"], head["source"]) == (older["version"] + 1, "update")
    for name in ("status", "next", "run_id", "attempt", "step"):
        assert head[name] == older[name]
    assert await at.thread.approvals() == before["approvals"]


async def _new_head(at: Standing, before: dict[str, Any], written: dict[str, Any]) -> None:
    head, target = await head_of(at.thread), before["history"][0]
    assert head == written
    assert (head["version"], head["parent_id"], head["source"]) == (target["version"] + 1, at.checkpoint, "fork")
    assert head["run_id"] != target["run_id"]


async def _cancelled(at: Standing, before: dict[str, Any], written: dict[str, Any]) -> None:
    head = await head_of(at.thread)
    assert head == written
    assert (head["status"], head["failure_code"]) == ("failed", "cancelled")
    assert head["run_id"] == before["history"][0]["run_id"]
    assert await at.thread.approvals() == []


async def _stays(at: Standing, before: dict[str, Any], head: dict[str, Any]) -> None:
    assert head == before["history"][0]
    assert await snapshot(at.thread) == before


async def _true(at: Standing, _: dict[str, Any], existed: bool) -> None:
    assert existed is True
    with refused("thread_not_found"):
        await at.thread.info()
    if at.run is not None and not at.run.over:
        with refused("thread_not_found"):
            await at.run.turn()


async def _false(at: Standing, _: dict[str, Any], existed: bool) -> None:
    assert existed is False


CHECKS: dict[str, Callable[[Standing, dict[str, Any], Any], Awaitable[None]]] = {
    "turn": _turn,
    "goes_on": _goes_on,
    "made": _made,
    "begun": _begun,
    "changed": _changed,
    "kept": _kept,
    "new_head": _new_head,
    "cancelled": _cancelled,
    "stays": _stays,
    "true": _true,
    "false": _false,
}
