"""Threads that outlive a version of their workflow: brought up to date, or refused by the name of what is missing; never begun anew in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest

from clew_engine import ClewError, Migration, Storage, Workflow, append, pause, step
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError, RunFailedError, StateInvalidError
from tests.workflows.noting import noted


class First(TypedDict, total=False):
    """The state of version 1."""

    name: str
    log: list[str]


class Second(TypedDict, total=False):
    """Of version 2: the name is in two parts."""

    first: str
    last: str
    log: list[str]


def split_name(state: dict[str, Any]) -> dict[str, Any]:
    """From version 1 to 2."""
    first, _, last = state.pop("name").partition(" ")
    return {**state, "first": first, "last": last}


def first(did: list[str]) -> Workflow:
    """Version 1: `look` does something, and asks; then `greet`."""
    flow = Workflow("greeting", state=First, reducers={"log": append})

    @flow.node
    async def look(state: Any) -> dict[str, Any]:
        found = await step("look", lambda: noted(did, "look", state["name"]))
        return {"log": [f"{found}: {pause('sure?', {'type': 'boolean'})}"]}

    flow.node(lambda state: {"log": [f"hello {state['name']}"]}, name="greet")
    flow.start("look")
    flow.edge("look", "greet")
    return flow


def second(did: list[str], migrate: Any = None, name: str = "inspect", state: Any = Second) -> Workflow:
    """Version 2: `look` is called `inspect`, and the state has other keys."""
    steps = {1: Migration(state=split_name, nodes={"look": "inspect"})} if migrate is None else migrate
    flow = Workflow("greeting", state=state, reducers={"log": append}, version=2, migrate=steps)

    @flow.node(name=name)
    async def look(state: Any) -> dict[str, Any]:
        found = await step("look", lambda: noted(did, "look again", "anew"))
        return {"log": [f"{found}, {state['first']}: {pause('sure?', {'type': 'boolean'})}"]}

    flow.node(lambda state: {"log": [f"hello {state['first']} {state['last']}"]}, name="greet")
    flow.start(name)
    flow.edge(name, "greet")
    return flow


async def parked(database: str, did: list[str]) -> None:
    """A thread that waits at its pause, by version 1."""
    async with Storage(database) as storage:
        assert (await first(did).compile(storage).thread("t").run({"name": "Ada Lovelace"})).status.value == "suspended"


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A file that several versions of the code open, one after the other."""
    return f"sqlite://{tmp_path / 'clew.db'}"


async def test_a_thread_that_waits_survives_a_deploy_of_the_same_version(database: str) -> None:
    did: list[str] = []
    await parked(database, did)
    async with Storage(database) as storage:
        result = await first(did).compile(storage).thread("t").resume(True)
    assert result.state == {"name": "Ada Lovelace", "log": ["Ada Lovelace: True", "hello Ada Lovelace"]}
    assert did == ["look"]


async def test_a_thread_that_waits_is_brought_up_to_date_by_the_answer_and_nothing_is_done_twice(database: str) -> None:
    did: list[str] = []
    await parked(database, did)
    async with Storage(database) as storage:
        thread = second(did).compile(storage).thread("t")
        (waiting,) = await thread.approvals()
        with pytest.raises(ArgumentInvalidError):
            await thread.resume("maybe")
        assert await thread.state() == {"name": "Ada Lovelace"}
        result = await thread.decide({waiting.id: {"value": True}})
    assert result.state == {
        "first": "Ada",
        "last": "Lovelace",
        "log": ["Ada Lovelace, Ada: True", "hello Ada Lovelace"],
    }
    assert did == ["look"]


async def test_a_completed_thread_is_brought_up_to_date_by_its_next_run(database: str) -> None:
    did: list[str] = []
    await parked(database, did)
    async with Storage(database) as storage:
        await first(did).compile(storage).thread("t").resume(True)
    async with Storage(database) as storage:
        thread = second(did).compile(storage).thread("t")
        await thread.run({"last": "Byron"})
        assert {key: value for key, value in (await thread.state()).items() if key != "log"} == {
            "first": "Ada",
            "last": "Byron",
        }
        old = (await thread.history(100))[-1]
        assert await thread.state(old["id"]) == {"name": "Ada Lovelace"}
        # Also a rewind to what version 1 wrote.
        await thread.rewind(old["id"])
        assert (await thread.retry()).approvals[0].prompt == "sure?"
        assert (await thread.state())["first"] == "Ada"


async def test_an_interrupted_step_is_brought_up_to_date_by_the_retry(database: str) -> None:
    ran: list[str] = []

    def version(number: int, **settings: Any) -> Workflow:
        flow = Workflow("w", reducers={"log": append}, version=number, **settings)
        old = number == 1
        flow.node(lambda _: noted(ran, "good", {"log": ["good"]}), name="good" if old else "fine")

        async def other(_: Any) -> dict[str, Any]:
            got = await step("get", lambda: noted(ran, "got", number))
            if old:
                raise ValueError("not in this version")
            return {"log": [got]}

        flow.node(other, name="bad" if old else "better")
        flow.node(lambda _: {"log": ["end"]}, name="end")
        names = ("good", "bad") if old else ("fine", "better")
        flow.start(*names)
        flow.edge(names, "end")
        return flow

    async with Storage(database) as storage:
        with pytest.raises(RunFailedError):
            await version(1).compile(storage).thread("t").run()
    async with Storage(database) as storage:
        newer = version(2, migrate={1: Migration(nodes={"good": "fine", "bad": "better"})})
        assert (await newer.compile(storage).thread("t").retry()).state == {"log": ["good", 1, "end"]}
    assert sorted(ran) == ["good", "got"]


async def test_several_versions_are_gone_through_in_order(database: str) -> None:
    async with Storage(database) as storage:
        await parked_at(storage, 1)

    def step_to(number: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda state: {**state, "seen": [*state.get("seen", ()), number]}

    async with Storage(database) as storage:
        flow = asking(4, {1: step_to(2), 2: None, 3: step_to(4)})
        assert (await flow.compile(storage).thread("t").resume(1)).state == {"kept": 1.0, "seen": [2, 4], "got": 1}


def asking(version: int, migrate: Any = None, node: str = "ask") -> Workflow:
    """A workflow that only asks."""
    flow = Workflow("asking", version=version, migrate=migrate)
    flow.node(lambda _: {"got": pause("?")}, name=node)
    flow.start(node)
    return flow


async def parked_at(storage: Storage, version: int) -> None:
    """A thread that waits, by that version."""
    await asking(version).compile(storage).thread("t").run({"kept": 1.0})


async def refused(storage: Storage, flow: Workflow) -> ClewError:
    """What the answer to a parked thread is refused with; it waits on, and nothing is written."""
    thread = flow.compile(storage).thread("t")
    version = (await thread.history(1))[0]["version"]
    with pytest.raises(ClewError) as refusal:
        await thread.resume(True)
    assert (await thread.history(1))[0]["version"] == version
    assert len(await thread.approvals()) == 1
    return refusal.value


async def test_a_version_without_a_way_to_it_is_refused_both_ways(storage: Storage) -> None:
    await parked_at(storage, 2)
    too_new = await refused(storage, asking(3))
    assert isinstance(too_new, ResumeInvalidError)
    assert "`migrate` an entry for 2" in too_new.message
    too_old = await refused(storage, asking(1))
    assert isinstance(too_old, ResumeInvalidError)
    assert "of version 2" in too_old.message


async def test_a_removed_node_is_named_and_a_new_run_may_leave_it(storage: Storage) -> None:
    did: list[str] = []
    await first(did).compile(storage).thread("t").run({"name": "Ada Lovelace"})
    newer = second(did, migrate={1: split_name})
    gone = await refused(storage, newer)
    assert isinstance(gone, ResumeInvalidError)
    assert "'look'" in gone.message
    thread = newer.compile(storage).thread("t")
    await thread.cancel()
    with pytest.raises(ResumeInvalidError, match="'look'"):
        await thread.retry()
    assert (await thread.run()).status.value == "suspended"
    assert (await thread.state())["first"] == "Ada"


async def test_a_removed_key_is_named(storage: Storage) -> None:
    did: list[str] = []
    await first(did).compile(storage).thread("t").run({"name": "Ada Lovelace"})
    gone = await refused(storage, second(did, migrate={1: Migration(nodes={"look": "inspect"})}))
    assert isinstance(gone, StateInvalidError)
    assert "state.name" in gone.message


@pytest.mark.parametrize("wrong", [lambda state: state["none"], lambda state: None, lambda state: {"first": {1}}])
async def test_a_migrator_that_raises_or_gives_no_state_is_told(storage: Storage, wrong: Any) -> None:
    did: list[str] = []
    await first(did).compile(storage).thread("t").run({"name": "Ada Lovelace"})
    error = await refused(storage, second(did, migrate={1: Migration(state=wrong, nodes={"look": "inspect"})}))
    assert isinstance(error, StateInvalidError)


async def test_a_removed_join_is_named(storage: Storage) -> None:
    def joining(joined: bool) -> Workflow:
        flow = Workflow("w", reducers={"log": append})
        flow.node(lambda _: None, name="quick")
        flow.node(lambda _: {"log": [pause("?")]}, name="slow")
        flow.node(lambda _: None, name="first")
        flow.node(lambda _: {"log": ["end"]}, name="end")
        flow.start("quick", "first")
        flow.edge("first", "slow")
        flow.edge(("quick", "slow") if joined else "slow", "end")
        return flow

    await joining(True).compile(storage).thread("t").run()
    assert "'end'" in (await refused(storage, joining(False))).message


def test_migrations_that_lead_nowhere_are_refused_when_they_are_declared() -> None:
    for version, migrate in ((1, {1: None}), (3, {3: None}), (0, {})):
        with pytest.raises(ArgumentInvalidError, match=r"workflow\.(version|migrate)"):
            Workflow("w", version=version, migrate=migrate)


async def test_a_snapshot_of_an_older_version_is_brought_up_to_date_and_what_it_had_done_is_not_done_again() -> None:
    did: list[str] = []
    old = await first(did).compile().run({"name": "Ada Lovelace"})
    assert old.snapshot is not None
    newer = second(did)
    newer.node(lambda _: {"log": [str(pause("and?"))]}, name="ask")
    newer.edge("greet", "ask")
    app = newer.compile()
    again = await app.resume(old.snapshot, True)
    assert again.snapshot is not None
    result = await app.resume(again.snapshot, "more")
    assert result.state["log"] == ["Ada Lovelace, Ada: True", "hello Ada Lovelace", "more"]
    assert did == ["look"]


async def test_a_snapshot_keeps_what_was_recorded_before_the_names_changed() -> None:
    ran: list[str] = []

    def twice(version: int) -> Workflow:
        name = "old" if version == 1 else "new"
        flow = Workflow("twice", version=version, migrate={1: Migration(nodes={"old": "new"})} if version == 2 else {})

        async def ask(_: Any) -> dict[str, Any]:
            await step("once", lambda: noted(ran, name))
            return {"got": [pause("one?"), pause("two?")]}

        flow.node(ask, name=name)
        flow.start(name)
        return flow

    result = await twice(1).compile().run()
    for answer in ("a", "b"):
        assert result.snapshot is not None
        result = await twice(2).compile().resume(result.snapshot, answer)
    assert (result.state, ran) == ({"got": ["a", "b"]}, ["old"])


async def test_a_snapshot_of_a_pause_after_the_last_node_goes_on() -> None:
    flow = Workflow("w")
    flow.node(lambda _: {"a": 1}, name="a")
    flow.start("a")
    app = flow.compile(pause_after=["a"])
    snapshot = (await app.run()).snapshot
    assert snapshot is not None
    assert (await app.resume(snapshot, None)).status.value == "completed"


async def test_a_state_of_an_older_version_is_not_written_over_from_outside(storage: Storage) -> None:
    did: list[str] = []
    await first(did).compile(storage).thread("t").run({"name": "Ada Lovelace"})
    await first(did).compile(storage).thread("t").resume(True)
    thread = second(did).compile(storage).thread("t")
    with pytest.raises(StateInvalidError, match="older version"):
        await thread.update_state({"first": "Grace"})
    await thread.run()
    await thread.cancel()
    await thread.update_state({"first": "Grace"})
    assert (await thread.state())["first"] == "Grace"
