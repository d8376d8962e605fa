"""Retention: what nobody uses is let go, what is in use stays, and what is left reads and goes on as before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clew_engine import Retention, Retired, Workflow, append, reads
from clew_engine.errors import ArgumentInvalidError
from clew_engine.paging import Page
from clew_engine.workflows.steps import step
from clew_storage import ThreadKey
from tests.scenarios.eventful import eventful
from tests.scenarios.heads import HEADS, refund, standing
from tests.scenarios.payments import Payment
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import Handle, World, at_version, head_of, refused

DAY_S = 86_400
OLD = Retention(delete_after={"completed": DAY_S, "failed": DAY_S})


async def retire(world: World, policy: Retention, *, dry_run: bool = False) -> list[Retired]:
    """One sweep."""
    return [each async for each in world.storage.retire(policy, dry_run=dry_run)]


async def gone(world: World, policy: Retention, *, dry_run: bool = False) -> list[str]:
    """The ids of what a sweep deletes."""
    return [each.thread_id for each in await retire(world, policy, dry_run=dry_run) if not each.oldest_version]


async def keep_last(world: World, count: int) -> list[tuple[str, int]]:
    """The ids of what a sweep trims, and where their logs begin then."""
    return [(each.thread_id, each.oldest_version) for each in await retire(world, Retention(keep_last=count))]


async def talked(world: World, turns: int = 4) -> Handle:
    """A thread of so many turns, of two checkpoints each."""
    thread = await world.thread()
    for number in range(turns):
        await thread.send(f"turn {number}", state={"turn": number, f"only {number}": number})
    return thread


@pytest.mark.parametrize("head", HEADS)
async def test_a_thread_is_deleted_by_how_it_stands_and_an_interrupted_one_only_when_asked(
    here: World, head: str
) -> None:
    at = await standing(here, head)
    here.clock.advance(2 * DAY_S)
    deleted = head in ("completed", "failed", "cancelled")
    assert await gone(here, OLD) == (["t"] if deleted else [])
    everything = Retention(delete_after=dict.fromkeys(("completed", "failed", "interrupted"), DAY_S))
    assert await gone(here, everything) == (["t"] if head == "interrupted" else [])
    assert bool(await at.thread.history()) == (head in ("suspended", "running"))
    await at.finish()


async def test_age_is_that_of_the_last_write_and_each_status_has_its_own(here: World) -> None:
    here.agent("ok")
    for name in ("a", "b"):
        await (await here.thread(name)).send()
    here.clock.advance(DAY_S)
    await (await here.thread("b")).update_state({"x": 1})
    here.clock.advance(1)
    assert await gone(here, Retention(delete_after={"failed": 1.0})) == []
    assert await gone(here, OLD) == ["a"]
    here.clock.advance(DAY_S)
    assert await gone(here, OLD) == ["b"]


async def test_apps_and_users_narrow_what_goes(here: World) -> None:
    here.agent("ok", name="one")
    here.agent("ok", name="two")
    for name, app, user in (("a", "one", "ada"), ("b", "two", "ada"), ("c", "two", "grace")):
        await (await here.thread(name, app=app)).send(user_id=user)
    here.clock.advance(2 * DAY_S)
    after = {"completed": DAY_S}
    assert await gone(here, Retention(after, apps=["three"]), dry_run=True) == []
    assert await gone(here, Retention(after, apps=["two"], users=["grace"])) == ["c"]
    assert await gone(here, Retention(after, users=["ada", "alan"])) == ["a", "b"]


async def test_a_dry_run_tells_exactly_what_goes_also_while_threads_are_written(here: World) -> None:
    here.agent("ok")
    threads = {name: await here.thread(name) for name in (f"t{number:02}" for number in range(30))}
    for thread in threads.values():
        await thread.send()
        await thread.send()
    here.clock.advance(2 * DAY_S)
    for name in ("t03", "t21"):
        await threads[name].send()
    policy = Retention(OLD.delete_after, keep_last=3)
    told = await retire(here, policy, dry_run=True)
    assert all([await thread.history() for thread in threads.values()]), "nothing has gone"
    writing = [asyncio.ensure_future(threads[name].send()) for name in ("t05", "t29")]
    await asyncio.gather(*writing)
    done = await retire(here, policy)
    left = {f"t{number:02}" for number in (3, 5, 21, 29)}
    assert {each.thread_id for each in told if not each.oldest_version} == set(threads) - {"t03", "t21"}
    assert [each for each in told if each.thread_id not in ("t05", "t29")] == [
        each for each in done if each.thread_id not in ("t05", "t29")
    ]
    assert {name for name, thread in threads.items() if await thread.history()} == left


async def test_a_follower_is_told_and_the_next_send_begins_anew(world: World) -> None:
    thread = await talked(world, 1)
    uid = (await thread.info())["thread_uid"]
    follower = thread.watch(follow=True)
    await follower.until("run_completed")
    world.clock.advance(2 * DAY_S)
    assert await gone(world, OLD) == ["t"]
    with refused("thread_not_found"):
        await follower.turn()
    await thread.send("again")
    assert (await thread.info())["thread_uid"] != uid
    assert [each["version"] for each in await thread.history()] == [2, 1]


async def test_the_newest_checkpoints_stay_and_all_messages(world: World) -> None:
    thread = await talked(world)
    messages, history = await thread.messages(), await thread.history()
    states = {each["id"]: await thread.state(each["id"]) for each in history}
    assert await keep_last(world, 3) == [("t", 6)]
    assert await thread.history() == history[:3]
    assert await thread.messages() == messages
    for each in history[:3]:
        assert await thread.state(each["id"]) == states[each["id"]]
    for each in history[3:]:
        with refused("checkpoint_not_found"):
            await thread.state(each["id"])
        with refused("checkpoint_not_found"):
            await thread.rewind(each["id"])
        with refused("checkpoint_not_found"):
            await thread.copy("copy", each["id"])
    assert await keep_last(world, 3) == []


async def test_the_thread_goes_on_rewinds_and_copies_as_before(world: World) -> None:
    thread = await talked(world)
    assert await keep_last(world, 3) == [("t", 6)]
    copy = await thread.copy("copy", await at_version(thread, 6))
    await thread.rewind(await at_version(thread, 7))
    assert (await thread.send("more")).status == "completed"
    assert await thread.state() == {"turn": 3, **{f"only {number}": number for number in range(4)}}
    texts = [each["content"][0]["text"] for each in await thread.messages() if each["role"] == "user"]
    assert texts == ["turn 0", "turn 1", "turn 2", "turn 3", "more"]
    await thread.delete()
    assert [each["version"] for each in await copy.history()] == [7, 6]
    assert len(await copy.messages()) == 6
    assert (await copy.send("on its own")).status == "completed"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 10])
async def test_every_kept_checkpoint_reads_as_before_whatever_happened_on_the_thread(here: World, count: int) -> None:
    thread, _ = await eventful(here)
    await thread.update_state({"a": 1})
    await thread.rewind((await thread.history())[3]["id"])
    await thread.send("fourth", state={"b": 2})
    history, messages = await thread.history(), await thread.messages()
    events = (await thread.watch().turn()).events
    states = {each["id"]: await thread.state(each["id"]) for each in history}
    ((_, oldest),) = await keep_last(here, count)
    kept = [each for each in history if each["version"] >= oldest]
    assert len(kept) >= count
    assert await thread.history() == kept
    assert await thread.messages() == messages
    assert {each["id"]: await thread.state(each["id"]) for each in kept} == {
        each["id"]: states[each["id"]] for each in kept
    }
    on_line = {each["version"] for each in kept}
    replay = await thread.watch(oldest - 1).turn()
    assert list(replay.events) == [event for event in events if event.version in on_line]


async def test_a_watch_below_begins_with_log_trimmed_and_goes_on_from_the_oldest(world: World) -> None:
    thread = await talked(world)
    whole = (await thread.watch().turn()).events
    uid = (await thread.info())["thread_uid"]
    assert await keep_last(world, 3) == [("t", 6)]
    assert (await thread.watch(thread_uid=uid).turn()).events[0].type == "log_trimmed"
    for cursor in range(9):
        first, *rest = (await thread.watch(cursor).turn()).events
        if cursor < 5:
            assert (first.type, first.data, first.last) == ("log_trimmed", {"oldest": 6}, False)
        else:
            rest = [first, *rest]
        left = [event for event in whole if event.version > max(cursor, 5)]
        assert rest == (left or [whole[-1]])


async def test_a_watch_of_a_run_of_which_only_the_end_is_left_gives_that(world: World) -> None:
    thread = await talked(world, 2)
    runs = [each["run_id"] for each in await thread.history()]
    assert await keep_last(world, 1) == [("t", 4)]
    seen = await thread.watch(run_id=runs[0]).turn()
    assert [event.type for event in seen.events] == ["log_trimmed", "checkpoint_written", "run_completed"]
    with refused("run_not_found"):
        await thread.watch(run_id=runs[-1]).turn()


async def test_a_request_whose_checkpoint_was_trimmed_is_not_done_again(world: World) -> None:
    model = world.agent("ok")
    thread = await world.thread()
    await thread.send("first", request_id="one")
    await thread.update_state({"a": 1}, request_id="two")
    await thread.send("second", request_id="three")
    asked = len(model.requests)
    assert await keep_last(world, 1) == [("t", 5)]
    with refused("checkpoint_not_found"):
        await thread.send("first", request_id="one")
    with refused("checkpoint_not_found"):
        await thread.update_state({"a": 1}, request_id="two")
    with refused("request_id_reused"):
        await thread.send("other", request_id="one")
    assert len(model.requests) == asked


async def test_pages_of_a_version_that_was_trimmed_are_refused_and_not_cut_short(here: World) -> None:
    thread = await talked(here, 2)
    storage, key = here.storage, ThreadKey("", "t")
    listings: list[Callable[[str], Awaitable[Page[Any]]]] = [
        lambda token: reads.list_messages(storage, key, newest_first=False, size=1, token=token),
        lambda token: reads.list_checkpoints(storage, key, size=1, token=token),
    ]
    tokens = [(await listing("")).next_token for listing in listings]
    await thread.send("more")
    assert await keep_last(here, 2) == [("t", 5)]
    for listing, token in zip(listings, tokens, strict=True):
        with refused("checkpoint_not_found"):
            await listing(token)


async def test_what_people_are_asked_stays_and_is_answered(world: World) -> None:
    world.agent([ask("refund", amount=1), ask("refund", amount=2)], "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    first, second = (await thread.send()).approvals
    await thread.decide({first: True})
    asked_at = next(each["version"] for each in await thread.history() if each["source"] == "suspend")
    assert await keep_last(world, 1) == [("t", asked_at)]
    assert [each["id"] for each in await thread.approvals()] == [second]
    decided = await world.storage.backend.approvals.get_approval("", first)
    assert decided is not None
    assert decided.state == "approved", "of the run that goes on it stays, to say who decided what"
    world.clock.advance(9 * DAY_S)
    assert await gone(world, OLD) == []
    assert (await thread.decide({second: {"reject": "no"}})).status == "completed"
    results = [each for each in await thread.messages() if each["role"] == "tool"]
    assert len(results) == 2


async def test_a_retry_after_a_trim_runs_only_what_is_not_recorded(here: World) -> None:
    did: list[str] = []
    failing = [True]
    here.workflow(parts(did, failing))
    thread = await here.thread(app="parts")
    with refused("run_failed"):
        await thread.inner.run()  # type: ignore[attr-defined]
    before = [each["version"] for each in await thread.history()]
    ((_, oldest),) = await keep_last(here, 1)
    assert before[0] > oldest > before[-1], "what the step has recorded stays, and nothing before it"
    failing[0] = False
    await thread.retry()
    assert sorted(did) == ["bad", "bad", "first", "good", "second"]


def parts(did: list[str], failing: list[bool]) -> Workflow:
    """Two nodes of one step after another step; the second fails once both of its inner steps are done."""
    flow = Workflow("parts", reducers={"log": append})

    async def noted(name: str) -> str:
        did.append(name)
        return name

    @flow.node
    async def begin(_: Any) -> dict[str, Any]:
        return {"log": ["begun"]}

    @flow.node
    async def good(_: Any) -> dict[str, Any]:
        return {"log": [await noted("good")]}

    @flow.node
    async def bad(_: Any) -> dict[str, Any]:
        did.append("bad")
        found = [await step(name, lambda name=name: noted(name)) for name in ("first", "second")]
        if failing[0]:
            raise ValueError("not yet")
        return {"log": found}

    flow.start("begin")
    flow.edge("begin", "good")
    flow.edge("begin", "bad")
    return flow


async def test_what_was_started_once_on_a_line_that_went_is_still_asked_about(world: World) -> None:
    payment = Payment(world)
    payment.gate.open()
    thread = await world.thread()
    await thread.send("please")
    (_, asked) = [
        each for each in await thread.history() if each["source"] == "step" and each["status"] == "in_progress"
    ]
    await thread.rewind(asked["id"])
    ((_, oldest),) = await keep_last(world, 2)
    assert oldest == asked["version"]
    assert [each["version"] for each in await thread.history()][1:] == [oldest]
    for target in (thread, await thread.copy("copy")):
        await target.rewind(await at_version(target, oldest))
        assert (await target.retry()).status == "suspended"
        assert [each["kind"] for each in await target.approvals()] == ["tool_outcome"]
    assert len(payment.keys) == 1


def note_down(note: str) -> str:
    """A tool that people are asked about."""
    return f"noted {note}"


async def test_a_deleted_message_takes_with_it_what_is_left_of_its_calls_below_a_trim(world: World) -> None:
    canary = "canary-that-must-be-gone"
    world.agent(ask("note_down", note=canary), "done", tools=[note_down], approve=["note_down"])
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    await thread.decide({approval: {"arguments": {"note": f"{canary} edited"}}})
    asking = (await thread.messages())[1]["id"]
    assert await keep_last(world, 1)
    assert canary in repr(await thread.messages())
    assert len(await thread.delete_message(asking)) == 2
    assert [each["role"] for each in await thread.messages()] == ["user", "assistant"]
    record = await world.storage.backend.approvals.get_approval("", approval)
    assert record is not None
    assert canary not in repr((await thread.messages(), await thread.approvals(), record))


async def test_a_thread_that_is_in_use_is_left_alone(world: World) -> None:
    gate = Gate()
    world.agent("one", "two", [gate, "three"])
    thread = await world.thread()
    await thread.send()
    await thread.send()
    run = thread.stream()
    await gate.wait()
    assert await keep_last(world, 1) == []
    gate.open()
    await run.turn()
    assert await keep_last(world, 1) == [("t", 6)]


async def test_a_thread_of_thousands_of_checkpoints_is_trimmed_a_part_at_a_time(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_engine.trims._STEP", 3)
    thread = await talked(here, 6)
    head, state, messages = await head_of(thread), await thread.state(), await thread.messages()
    assert await keep_last(here, 1) == [("t", 12)]
    assert await thread.history() == [head]
    assert (await thread.state(), await thread.messages()) == (state, messages)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delete_after": {"suspended": 1}},
        {"delete_after": {"completed": -1}},
        {"delete_after": {"completed": float("nan")}},
        {"keep_last": 0},
        {"apps": "support"},
    ],
)
def test_a_policy_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentInvalidError):
        Retention(**wrong)
