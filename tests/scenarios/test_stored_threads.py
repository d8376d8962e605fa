"""A storage used without an agent: its threads have the verbs and errors of an agent's, but for those that need one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest

import clew.requests
import clew_engine.options
from clew import inbox, listings
from clew_engine import Agent, OfflineModel, Storage, StoredThread, Thread, Workflow, open_storage, pause
from clew_engine.inbox import Approvals
from clew_engine.listings import Threads
from tests.scenarios.heads import standing
from tests.scenarios.scripts import ask
from tests.scenarios.test_parity import NOTHING_THERE, ONLY_THERE, REFUSED, parameters
from tests.scenarios.world import World, refused

NEED_THE_APP = {"send", "stream", "retry", "stream_retry", "resume", "stream_resume", "program"} | {
    f"{stream}{verb}" for stream in ("", "stream_") for verb in ("decide", "approve", "reject")
}


def names(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_it_has_the_verbs_of_an_agents_thread_but_for_those_that_need_it() -> None:
    gone = names(Thread) - names(StoredThread)
    assert gone == (NEED_THE_APP | {f"{name}_sync" for name in NEED_THE_APP}) & names(Thread)
    assert names(StoredThread) < names(Thread)


@pytest.mark.parametrize(("here", "there"), [(Threads, listings.Threads), (Approvals, inbox.Approvals)])
def test_the_listings_take_what_the_clients_take(here: Any, there: Any) -> None:
    taken = parameters(there.list, clew.requests)
    assert parameters(here.list, clew_engine.options) == {
        name: each for name, each in taken.items() if name not in ONLY_THERE
    }


def stored(world: World, thread_id: str = "t") -> StoredThread:
    return world.storage.thread(thread_id, "ada")


def agents(thread: Any) -> Thread:
    assert isinstance(thread.inner, Thread)
    return thread.inner


async def test_it_reads_what_the_agents_handle_reads(here: World) -> None:
    world = here
    world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=["refund"])
    played = await world.thread()
    await played.send(state={"a": 1})
    one, other = agents(played), stored(world)
    newest = (await one.history())[0]["id"]
    message = (await one.messages())[0]["id"]
    reads: list[Callable[[Any], Awaitable[Any]]] = [
        lambda thread: thread.state(),
        lambda thread: thread.state(newest),
        lambda thread: thread.messages(search="hello"),
        lambda thread: thread.message(message),
        lambda thread: thread.history(None),
        lambda thread: thread.checkpoint(newest),
        lambda thread: thread.approvals(),
        lambda thread: thread.info(),
    ]
    for read in reads:
        assert await read(other) == await read(one)
    assert [event async for event in other.watch()] == [event async for event in one.watch()]
    assert await world.storage.approvals.list(app="app") == await one.approvals()
    assert await world.storage.approvals.list(state="approved") == []
    assert [each.thread_id for each in await world.storage.threads.list(status="suspended")] == ["t"]
    assert await world.storage.threads.list(user_id="nobody") == []


async def test_what_it_mends_the_agents_retry_goes_on_with(here: World) -> None:
    at = await standing(here, "failed")
    thread = stored(here)
    (said,) = await thread.messages()
    await thread.update_state({"order": "A-1"})
    await thread.update_message(said["id"], "hello again")
    added = await thread.append_messages([{"role": "system", "content": "be kind"}])
    await thread.delete_message(added[0])
    await thread.update(name="mended", metadata={"by": "ada"})
    turn = await at.thread.retry()
    assert (turn.status, turn.text) == ("completed", "ok")
    assert await at.thread.state() == {"order": "A-1"}
    assert (await thread.messages())[0]["content"] == [{"type": "text", "text": "hello again"}]
    assert (await thread.info()).name == "mended"
    await thread.clear_state()
    assert await thread.state() == {}


@pytest.mark.parametrize("verb", NOTHING_THERE)
async def test_a_thread_that_does_not_exist_is_not_found(here: World, verb: str) -> None:
    with refused("thread_not_found", thread_id="t"):
        await NOTHING_THERE[verb](stored(here))


WRITES = (
    "a limit of nothing",
    "a history of nothing",
    "an unknown order",
    "nothing to add",
    "an unknown role",
    "an id of the engine's",
    "nothing said",
    "nothing to change",
    "a key to set and to remove",
    "a key to remove of what is replaced",
    "a replacement as a node",
    "a reserved key in the state",
    "a state that is no JSON",
    "another version to write",
)


@pytest.mark.parametrize("call", WRITES)
async def test_a_call_is_refused_as_the_agents_is(here: World, call: str) -> None:
    played = await here.thread()
    raised = []
    for thread in (agents(played), stored(here)):
        with pytest.raises(clew_engine.ClewError) as refusal:
            await REFUSED[call](thread)
        raised.append((refusal.value.code, str(refusal.value)))
    assert raised[0] == raised[1]


async def test_a_suspended_and_a_running_thread_are_judged_by_the_table(here: World) -> None:
    at = await standing(here, "suspended")
    thread = stored(here)
    with refused("thread_suspended", approval_ids=at.approval):
        await thread.update_state({"a": 1})
    assert (await thread.update_state({"a": 1}, force=True))["status"] == "suspended"
    cancelled = await thread.cancel()
    assert (cancelled["status"], cancelled["failure_code"]) == ("failed", "cancelled")


async def test_a_busy_thread_is_waited_for_or_not(here: World) -> None:
    at = await standing(here, "running")
    with refused("thread_busy"):
        await stored(here).update_state({"a": 1}, on_busy="reject")
    await at.finish()
    await stored(here).update_state({"a": 1})


class Order(TypedDict, total=False):
    """What the workflow declares."""

    total: int


def shop() -> Workflow:
    flow = Workflow("shop", state=Order)
    flow.node(lambda state: {"total": state["total"] + pause("more?")}, name="add")
    flow.start("add")
    return flow


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A SQLite file: what is in memory is gone with the storage that has the app."""
    return f"sqlite://{tmp_path / 'clew.db'}"


async def made_and_left(url: str) -> str:
    """A workflow's thread `t`, first completed and now waiting; gives the checkpoint at which it was completed."""
    async with Storage(url) as storage:
        thread = shop().compile(storage).thread("t")
        await thread.run({"total": 1})
        await thread.resume(1)
        completed: str = (await thread.history(1))[0]["id"]
        await thread.run()
        return completed


async def test_without_the_app_types_are_not_checked_and_its_run_refuses_what_does_not_fit(database: str) -> None:
    await made_and_left(database)
    async with open_storage(database) as storage:
        await storage.thread("t").update_state({"total": "many"}, force=True)
        thread = shop().compile(storage).thread("t")
        with refused("state_invalid"):
            await thread.resume(1)
        # Its app is known to the storage now.
        with refused("state_invalid"):
            await storage.thread("t").update_state({"total": "few"}, force=True)
        await storage.thread("t").update_state({"total": 40}, force=True)
        assert (await thread.resume(2)).state == {"total": 42}


async def test_without_the_app_a_thread_is_copied_rewound_and_deleted(database: str) -> None:
    completed = await made_and_left(database)
    async with open_storage(database) as storage:
        copy = await storage.thread("t").copy("copy")
        assert isinstance(copy, StoredThread)
        assert ((await copy.info()).status, len(await copy.approvals())) == ("suspended", 1)
        rewound = await storage.thread("t").rewind(completed)
        assert (rewound["status"], await storage.thread("t").state()) == ("completed", {"total": 2})
        assert await storage.thread("t").delete() is True
        assert [each.thread_id for each in await storage.threads.list()] == ["copy"]
        assert (await shop().compile(storage).thread("copy").resume(5)).state == {"total": 7}


async def test_what_needs_the_app_is_refused_by_its_name(database: str) -> None:
    await made_and_left(database)
    async with open_storage(database) as storage:
        thread = storage.thread("t")
        first = (await thread.history(None))[-1]["id"]
        for call in (
            lambda: thread.update_state({"total": 1}, as_node="add", force=True),
            lambda: thread.rewind(first),
            lambda: thread.copy("other", first),
        ):
            before = await thread.history(None)
            with refused("app_not_found", app="shop"):
                await call()
            assert await thread.history(None) == before
        with refused("thread_not_found"):
            await storage.thread("other").info()


async def test_a_thread_that_it_makes_is_taken_by_the_first_app_that_runs_on_it(here: World) -> None:
    thread = stored(here)
    await thread.update_state({"a": 1})
    assert (await thread.info()).app == ""
    with refused("argument_invalid", field="as_node"):
        await thread.update_state({"a": 1}, as_node="add")
    flow = Workflow("flow")
    flow.node(lambda state: {"a": state["a"] + 1}, name="add")
    flow.start("add")
    app = flow.compile(here.storage).thread("t")
    assert (await app.update_state({"a": 5}, as_node="add"))["next"] == []
    assert (await thread.info()).app == "flow"
    assert (await app.retry()).state == {"a": 5}


async def test_a_threads_tenant_is_its_own(here: World) -> None:
    await here.storage.thread("t", tenant="one").update_state({"a": 1})
    with refused("thread_not_found"):
        await here.storage.thread("t").info()
    with refused("id_invalid"):
        here.storage.thread("a/b")


@pytest.mark.parametrize(
    ("options", "field"), [({"status": "odd"}, "status"), ({"order": "odd"}, "order"), ({"limit": 0}, "limit")]
)
async def test_a_listing_that_makes_no_sense_is_refused(here: World, options: dict[str, Any], field: str) -> None:
    with refused("argument_invalid", field=field):
        await here.storage.threads.list(**options)


async def test_more_than_a_page_is_listed_newest_first(here: World) -> None:
    for number in range(205):
        await here.storage.thread(f"t{number}").update_state({})
    found = [each.thread_id for each in await here.storage.threads.list(None)]
    assert found == [f"t{number}" for number in reversed(range(205))]
    assert [each.thread_id for each in await here.storage.threads.list(2, query="t20")] == ["t204", "t203"]
    assert [each.thread_id for each in await here.storage.threads.list()] == found[:20]


def refund(amount: int = 1) -> str:
    """A tool that people are asked about."""
    return f"refunded {amount}"


def test_a_script_needs_no_event_loop(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite://{tmp_path / 'clew.db'}")
    agent = Agent("helper", model=OfflineModel(), storage=storage)
    agent.thread("t").send_sync("hello")
    thread = storage.thread("t")
    thread.update_state_sync({"a": 1})
    assert thread.state_sync() == {"a": 1}
    assert thread.copy_sync("other").history_sync(1)[0]["source"] == "fork"
    assert {each.thread_id for each in storage.threads.list_sync()} == {"t", "other"}
    assert thread.delete_sync() is True
    storage.aclose_sync()
