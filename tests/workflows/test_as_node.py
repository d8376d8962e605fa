"""State written in a node's name: reduced as what the node returned, and a retry goes on with what follows the node. In process and over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Annotated, Any, TypedDict

import pytest

import clew
from clew_engine import (
    END,
    Agent,
    App,
    ClewError,
    Migration,
    OfflineModel,
    Storage,
    Workflow,
    append,
    merge,
    pause,
    step,
)
from clew_engine.models.offline_rules import otherwise
from tests.support.serving import serving

ERRORS: tuple[type[Exception], ...] = (ClewError, clew.ClewError)
# A thread of the app of this name, in process or of a client; both have the same verbs.
Threads = Callable[..., Any]


class Order(TypedDict, total=False):
    """What the workflows work on."""

    total: int
    paid: int
    log: Annotated[list[str], append]
    checks: Annotated[dict[str, bool], merge]
    largest: Annotated[int, lambda old, new: max(old or 0, new)]


@pytest.fixture(params=["in_process", "grpc"])
async def surface(request: pytest.FixtureRequest, storage: Storage) -> AsyncIterator[Callable[..., Any]]:
    """Serves apps, and gives what makes handles on their threads."""
    async with AsyncExitStack() as stack:

        async def serve(*flows: Workflow | Agent, **compiled: Any) -> Threads:
            apps: Sequence[App] = [
                flow.compile(storage, **compiled) if isinstance(flow, Workflow) else flow for flow in flows
            ]
            if request.param == "in_process":
                by_name: dict[str, Any] = {app.name: app for app in apps}
                return lambda thread_id="t", app=apps[0].name: by_name[app].thread(thread_id)
            served = await stack.enter_async_context(serving(apps, storage))
            client = await stack.enter_async_context(clew.Client(served.target))
            return lambda thread_id="t", app=apps[0].name: client.workflow(app).thread(thread_id)

        yield serve


@contextmanager
def refused(code: str, *words: str, **metadata: str) -> Any:
    """A call that is refused with this code, these words and this metadata."""
    with pytest.raises(ERRORS) as refusal:
        yield refusal
    error: Any = refusal.value
    assert error.code == code, error
    assert all(word in str(error) for word in words), error
    assert {name: error.metadata.get(name) for name in metadata} == metadata


async def everything(thread: Any) -> Any:
    """All that a refused write must leave as it was."""
    return (await thread.history(None), await thread.state(), await thread.approvals())


def shop(*failing: str) -> Workflow:
    """Read, then two checks side by side, then, by the total, ship or the end. Nodes that are named fail."""
    flow = Workflow("shop", state=Order)

    def node(name: str, **values: Any) -> None:
        def run(_: Any) -> dict[str, Any]:
            if name in failing:
                raise ValueError(f"{name} is down")
            return {"log": [name], **values}

        flow.node(run, name=name)

    node("read", total=5)
    node("stock", checks={"stock": True})
    node("credit", checks={"credit": True})
    node("weigh")
    node("ship")
    flow.start("read")
    flow.edge("read", "stock")
    flow.edge("read", "credit")
    flow.edge(("stock", "credit"), "weigh")
    flow.branch("weigh", lambda state: "ship" if state["total"] > 10 else END, ["ship"])
    return flow


async def failed(thread: Any, values: dict[str, Any] | None = None) -> None:
    with pytest.raises(ERRORS):
        await thread.run(values or {})


async def test_the_values_are_reduced_and_the_retry_goes_on_with_what_follows(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread, {"log": ["began"], "largest": 7})
    before = (await thread.history(1))[0]
    written = await thread.update_state({"total": 50, "log": ["by hand"], "largest": 3}, as_node="read")
    assert (written["status"], written["source"], written["next"]) == ("failed", "update", ["stock", "credit"])
    assert (written["failure_code"], written["retryable"]) == ("updated", True)
    assert "'read'" in written["failure_message"]
    assert (written["run_id"], written["step"]) == (before["run_id"], before["step"] + 1)
    assert await thread.state() == {"total": 50, "log": ["began", "by hand"], "largest": 7}
    result = await thread.retry()
    assert (result.status, result.steps) == ("completed", 4)
    assert result.state["log"] == ["began", "by hand", "stock", "credit", "weigh", "ship"]
    assert result.run_id == before["run_id"]


@pytest.mark.parametrize(("total", "follows"), [(11, ["ship"]), (1, [])])
async def test_a_branch_chooses_by_the_state_as_written(surface: Any, total: int, follows: list[str]) -> None:
    thread = (await surface(shop("weigh")))()
    await failed(thread)
    written = await thread.update_state({"total": total}, as_node="weigh")
    assert written["next"] == follows
    assert (await thread.retry()).state["log"] == ["read", "stock", "credit", *follows]


async def test_where_nothing_follows_the_retry_completes_the_run(surface: Any) -> None:
    thread = (await surface(shop("weigh")))()
    await failed(thread)
    written = await thread.update_state({"log": ["done by hand"]}, as_node="ship")
    assert (written["status"], written["next"], written["failure_code"]) == ("failed", [], "updated")
    result = await thread.retry()
    assert (result.status, result.state["log"][-1]) == ("completed", "done by hand")
    with refused("resume_invalid"):
        await thread.retry()


async def test_a_completed_run_stays_and_another_goes_on_from_the_node(surface: Any) -> None:
    thread = (await surface(shop()))()
    over = await thread.run()
    written = await thread.update_state({"total": 50}, as_node="weigh")
    assert (written["status"], written["next"], written["step"], written["attempt"]) == ("failed", ["ship"], 1, 1)
    assert written["run_id"] != over.run_id
    result = await thread.retry()
    assert (result.run_id, result.status, result.steps) == (written["run_id"], "completed", 2)
    ended = [event.type async for event in thread.watch(run_id=over.run_id)]
    assert ended[-1] == "run_completed"


async def test_a_thread_begins_in_the_middle(surface: Any) -> None:
    thread = (await surface(shop()))()
    written = await thread.update_state({"total": 50}, as_node="weigh")
    assert (written["version"], written["next"]) == (1, ["ship"])
    assert (await thread.info()).app == "shop"
    assert (await thread.retry()).state == {"total": 50, "log": ["ship"]}


async def test_side_by_side_the_node_is_done_and_what_others_did_counts(surface: Any) -> None:
    thread = (await surface(shop("credit")))()
    await failed(thread)
    written = await thread.update_state({"checks": {"credit": False}}, as_node="credit")
    assert written["next"] == ["weigh"]
    assert await thread.state() == {"total": 5, "log": ["read", "stock"], "checks": {"stock": True, "credit": False}}
    assert (await thread.retry()).status == "completed"


async def test_side_by_side_with_a_node_that_is_not_done_the_values_wait_for_it(surface: Any) -> None:
    failing = ["stock", "credit"]
    flow = Workflow("both", state=Order)
    did: list[str] = []

    for name in ("stock", "credit"):

        def check(_: Any, name: str = name) -> dict[str, Any]:
            if name in failing:
                raise ValueError("down")
            did.append(name)
            return {"log": [name], "checks": {name: True}}

        flow.node(check, name=name)
    flow.node(lambda _: {"log": ["end"]}, name="end")
    flow.start("stock", "credit")
    flow.edge(("stock", "credit"), "end")
    thread = (await surface(flow))()
    await failed(thread)
    written = await thread.update_state({"log": ["by hand"], "checks": {"credit": True}}, as_node="credit")
    assert (written["status"], written["failure_code"], written["next"]) == ("failed", "updated", ["stock", "credit"])
    assert await thread.state() == {}
    await thread.update_state({"log": ["by hand again"], "checks": {"credit": False}}, as_node="credit")
    failing.clear()
    result = await thread.retry()
    assert result.state == {"log": ["stock", "by hand again", "end"], "checks": {"stock": True, "credit": False}}
    assert did == ["stock"]


async def test_a_forced_write_voids_what_was_asked_and_the_run_moves_on(surface: Any) -> None:
    flow = Workflow("w", state=Order)
    flow.node(lambda _: {"paid": pause("how much?", {"type": "integer"})}, name="pay")
    flow.node(lambda state: {"log": [f"paid {state['paid']}"]}, name="tell")
    flow.start("pay")
    flow.edge("pay", "tell")
    thread = (await surface(flow))()
    (asked,) = (await thread.run()).approvals
    before = await everything(thread)
    with refused("thread_suspended"):
        await thread.update_state({"paid": 3}, as_node="pay")
    assert await everything(thread) == before
    written = await thread.update_state({"paid": 3}, as_node="pay", force=True)
    assert (written["status"], written["next"], await thread.approvals()) == ("failed", ["tell"], [])
    with refused("resume_invalid"):
        await thread.decide({asked.id: {"value": 5}})
    assert (await thread.retry()).state == {"paid": 3, "log": ["paid 3"]}


async def test_of_two_that_ask_the_other_asks_again(surface: Any) -> None:
    flow = Workflow("w", reducers={"log": append})
    for name in ("ada", "bob", "eve"):
        flow.node(lambda _, name=name: {"log": [[name, pause(name)]]}, name=name)
    flow.start("ada", "bob", "eve")
    thread = (await surface(flow))()
    asked = {each.prompt: each.id for each in (await thread.run()).approvals}
    await thread.decide({asked["eve"]: {"value": "counts only with the last"}})
    await thread.update_state({"log": [["ada", "by hand"]]}, as_node="ada", force=True)
    asked = {each.prompt: each.id for each in (await thread.retry()).approvals}
    assert sorted(asked) == ["bob", "eve"]
    result = await thread.decide({asked["bob"]: {"value": 1}, asked["eve"]: {"value": 2}})
    assert result.state == {"log": [["ada", "by hand"], ["bob", 1], ["eve", 2]]}


async def test_static_pauses_before_and_after_are_asked_by_the_retry(surface: Any) -> None:
    thread = (await surface(shop("weigh"), pause_before=["ship"], pause_after=["weigh"]))()
    await failed(thread)
    await thread.update_state({"total": 50}, as_node="weigh")
    result = await thread.retry()
    assert [each.prompt for each in result.approvals] == [{"after": "weigh"}, {"before": "ship"}]
    first, second = result.approvals
    with pytest.raises(ERRORS, match="after weigh was rejected: no"):
        await thread.decide({first.id: {"reject": "no"}, second.id: {"value": True}})
    (again,) = (await thread.retry()).approvals
    assert again.prompt == {"after": "weigh"}
    assert (await thread.resume(True)).state["log"] == ["read", "stock", "credit", "ship"]


async def test_a_static_pause_after_the_last_node_is_asked_too(surface: Any) -> None:
    thread = (await surface(shop("weigh"), pause_after=["ship"]))()
    await failed(thread)
    await thread.update_state({}, as_node="ship")
    (asked,) = (await thread.retry()).approvals
    assert asked.prompt == {"after": "ship"}
    assert (await thread.resume(True)).status == "completed"


async def test_what_was_done_in_the_step_before_is_not_taken_for_the_next(surface: Any) -> None:
    flow = Workflow("loop", reducers={"log": append})
    broken = [True]

    async def turn(state: Any) -> dict[str, Any]:
        done = await step("work", lambda: len(state.get("log", ())))
        if broken.pop():
            raise ValueError("down")
        return {"log": [done], "n": state.get("n", 0) + 1}

    flow.node(turn, name="turn")
    flow.start("turn")
    flow.branch("turn", lambda state: "turn" if state["n"] < 3 else END, ["turn"])
    thread = (await surface(flow))()
    await failed(thread)
    broken += [False] * 5
    await thread.update_state({"log": ["by hand"], "n": 1}, as_node="turn")
    assert (await thread.retry()).state == {"log": ["by hand", 1, 2], "n": 3}


UNFIT: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a key that is not declared": ({"colour": "red"}, "state.colour", ("'read'", "declares no such key", "total")),
    "a value of another type": ({"total": "many"}, "state.total", ("'read'", "integer")),
    "an element of another type": ({"log": [1]}, "state.log", ("'read'", "string")),
    "no list to append": ({"log": "text"}, "state.log", ("'read'",)),
    "what the author's reducer makes": ({"largest": "x"}, "state.largest", ("'read'",)),
}


@pytest.mark.parametrize("case", UNFIT)
async def test_values_that_the_node_cannot_return_are_refused_before_anything_is_written(
    surface: Any, case: str
) -> None:
    values, field, words = UNFIT[case]
    thread = (await surface(shop("read")))()
    await failed(thread)
    before = await everything(thread)
    with refused("state_invalid", field, *words, field=field, node="read"):
        await thread.update_state(values, as_node="read")
    assert await everything(thread) == before


REFUSED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a node that is not there": ({"as_node": "reed"}, ("'reed'", "read, stock, credit, weigh, ship")),
    "the end": ({"as_node": END}, ("no node",)),
    "a replacement": ({"as_node": "read", "replace": True}, ("replaces and removes nothing",)),
    "keys to remove": ({"as_node": "read", "remove_keys": ["total"]}, ("replaces and removes nothing",)),
    "a name that is too long": ({"as_node": "x" * 513}, ()),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_no_node_does_is_refused_before_anything_is_written(surface: Any, case: str) -> None:
    options, words = REFUSED[case]
    thread = (await surface(shop("read")))()
    await failed(thread)
    before = await everything(thread)
    with refused("argument_invalid", *words, field="as_node"):
        await thread.update_state({"log": ["x"]}, **options)
    assert await everything(thread) == before


async def test_a_branch_that_fails_is_told_before_anything_is_written(surface: Any) -> None:
    flow = Workflow("w")
    flow.node(lambda _: {}, name="only")
    flow.start("only")
    flow.branch("only", lambda state: state["nowhere"])
    thread = (await surface(flow))()
    with refused("argument_invalid", "the branch after 'only' failed", "KeyError", field="as_node", node="only"):
        await thread.update_state({"a": 1}, as_node="only")
    with refused("thread_not_found"):
        await thread.info()


async def test_two_that_wrote_one_key_are_told_of(surface: Any) -> None:
    flow = Workflow("w")
    broken = [True]

    def second(_: Any) -> dict[str, Any]:
        if broken:
            raise ValueError("down")
        return {}

    flow.node(lambda _: {"a": 1}, name="first")
    flow.node(second, name="second")
    flow.start("first", "second")
    thread = (await surface(flow))()
    await failed(thread)
    with refused("state_invalid", "'first'", "'second'", "no reducer", field="state.a"):
        await thread.update_state({"a": 2}, as_node="second")


async def test_a_thread_of_an_agent_has_no_nodes(surface: Any, storage: Storage) -> None:
    agent = Agent("helper", model=OfflineModel([otherwise.say("hello")]), storage=storage)
    threads = await surface(shop(), agent)
    thread = threads("a", "helper")
    with refused("argument_invalid", "'helper' is an agent", "'read'", field="as_node", node="read"):
        await thread.update_state({"total": 1}, as_node="read")
    with refused("thread_not_found"):
        await thread.info()


async def test_a_request_that_comes_again_has_its_first_outcome(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread)
    first = await thread.update_state({"total": 50}, as_node="read", request_id="r")
    await thread.retry()
    assert await thread.update_state({"total": 50}, as_node="read", request_id="r") == first
    with refused("request_id_reused"):
        await thread.update_state({"total": 50}, as_node="stock", request_id="r")
    with refused("request_id_reused"):
        await thread.update_state({"total": 50}, request_id="r")


async def test_an_expected_version_is_compared(surface: Any) -> None:
    thread = (await surface(shop("read")))()
    await failed(thread)
    with refused("version_conflict"):
        await thread.update_state({"total": 50}, as_node="read", expected_version=1)


async def test_a_node_that_is_gone_is_no_dead_end(storage: Storage) -> None:
    old = Workflow("w")
    old.node(lambda _: {"log": pause("well?")}, name="gone")
    old.start("gone")
    await old.compile(storage).thread("t").run()
    new = Workflow("w")
    new.node(lambda _: {"log": "new"}, name="here")
    new.node(lambda state: {"end": state["log"]}, name="end")
    new.start("here")
    new.edge("here", "end")
    thread = new.compile(storage).thread("t")
    await thread.update_state({"log": "by hand"}, as_node="here", force=True)
    assert (await thread.retry()).state == {"log": "by hand", "end": "by hand"}


async def test_nodes_with_new_names_are_known_by_these(storage: Storage) -> None:
    def flow(version: int, first: str, second: str, third: str, **upgrade: Any) -> Any:
        made = Workflow("w", version=version, **upgrade)
        made.node(lambda _: {"a": 1 // 0 if version == 1 else 1}, name=first)
        made.node(lambda _: {"b": 2}, name=second)
        made.node(lambda state: {"c": state["a"] + state["b"]}, name=third)
        made.start(first, second)
        made.edge((first, second), third)
        return made.compile(storage, pause_after=[first]).thread("t")

    await failed(flow(1, "one", "two", "three"))
    names = {"one": "uno", "two": "due", "three": "tre"}
    thread = flow(2, "uno", "due", "tre", migrate={1: Migration(nodes=names)})
    written = await thread.update_state({"a": 40}, as_node="uno")
    assert (written["next"], await thread.state()) == (["tre"], {"a": 40, "b": 2})
    assert [each.prompt for each in (await thread.retry()).approvals] == [{"after": "uno"}]
    later = {"uno": "yi", "tre": "san"}
    upgraded = flow(3, "yi", "due", "san", migrate={1: Migration(nodes=names), 2: Migration(nodes=later)})
    assert (await upgraded.resume(True)).state == {"a": 40, "b": 2, "c": 42}
