"""Copy: a thread of its own that shares nothing with its source."""

from __future__ import annotations

from tests.scenarios.heads import refund, standing
from tests.scenarios.payments import Payment
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import Handle, World, head_of, refused, snapshot


async def conversation(world: World) -> Handle:
    """A thread of two completed turns."""
    world.agent("one", "two", "three", "four")
    thread = await world.thread()
    await thread.send("first", mood="good")
    await thread.send("second", mood="bad")
    return thread


async def test_a_copy_has_the_messages_their_ids_and_versions_and_the_state(world: World) -> None:
    thread = await conversation(world)
    copied = await thread.copy("copy")
    assert await copied.messages() == await thread.messages()
    assert await copied.state() == {"mood": "bad"}
    assert [each["version"] for each in await copied.history()] == [5, 4, 3, 2, 1]
    assert (await head_of(copied))["source"] == "fork"
    assert (await copied.info())["thread_uid"] != (await thread.info())["thread_uid"]


async def test_a_copy_up_to_a_checkpoint_ends_there(world: World) -> None:
    thread = await conversation(world)
    copied = await thread.copy("copy", (await thread.history())[-2]["id"])
    assert [each["content"][0]["text"] for each in await copied.messages()] == ["first", "one"]
    assert await copied.state() == {"mood": "good"}
    assert (await copied.send("third")).text == "three"
    assert len(await thread.messages()) == 4


async def test_source_and_copy_go_their_own_ways(world: World) -> None:
    thread = await conversation(world)
    copied = await thread.copy("copy")
    before = await snapshot(thread)
    await copied.send("third", mood="other")
    assert await snapshot(thread) == before
    await thread.send("fourth")
    assert [each["content"][0]["text"] for each in await copied.messages()][-2:] == ["third", "three"]


async def test_a_deleted_source_leaves_the_copy_whole(world: World) -> None:
    thread = await conversation(world)
    copied = await thread.copy("copy")
    before = await snapshot(copied)
    assert await thread.delete() is True
    assert await snapshot(copied) == before
    assert (await copied.send("third")).text == "three"
    assert (await copied.rewind((await copied.history())[-2]["id"]))["status"] == "completed"


async def test_a_deleted_copy_leaves_the_source_whole(world: World) -> None:
    thread = await conversation(world)
    copied = await thread.copy("copy")
    before = await snapshot(thread)
    assert await copied.delete() is True
    assert await snapshot(thread) == before


async def test_a_copy_of_a_running_thread_is_a_rewound_run_that_retry_continues(world: World) -> None:
    gate = Gate()
    world.agent([gate, "mine"], "its own")
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    copied = await thread.copy("copy")
    head = await head_of(copied)
    assert (head["status"], head["failure_code"]) == ("failed", "rewound")
    assert (await copied.retry()).text == "its own"
    gate.open()
    assert (await run.turn()).text == "mine"


async def test_a_copy_of_a_suspended_thread_has_approvals_of_its_own(world: World) -> None:
    at = await standing(world, "suspended")
    copied = await at.thread.copy("copy")
    (approval,) = await copied.approvals()
    assert approval["id"] != at.approval
    assert (approval["thread_id"], approval["arguments"]) == ("copy", {"amount": 7})
    with refused("approval_not_found"):
        await copied.decide({at.approval: True})
    assert (await copied.decide({approval["id"]: True})).status == "completed"
    assert [each["id"] for each in await at.thread.approvals()] == [at.approval]
    assert (await at.thread.decide({at.approval: True})).status == "completed"


async def test_a_copy_rewound_to_an_older_suspended_checkpoint_asks_what_was_asked_there(world: World) -> None:
    at = await standing(world, "suspended")
    await at.thread.decide({at.approval: True})
    copied = await at.thread.copy("copy")
    await at.thread.delete()
    suspended = next(each for each in await copied.history() if each["status"] == "suspended")
    assert (await copied.rewind(suspended["id"]))["status"] == "suspended"
    (approval,) = await copied.approvals()
    assert (approval["tool"], approval["arguments"]) == ("refund", {"amount": 7})
    assert (await copied.decide({approval["id"]: True})).status == "completed"


async def test_a_copy_rewound_to_a_partly_decided_checkpoint_asks_what_was_still_open(world: World) -> None:
    world.agent([ask("refund", amount=1), ask("refund", amount=2)], "ok", tools=[refund], approve=True)
    thread = await world.thread()
    first, second = (await thread.send()).approvals
    await thread.decide({first: True})
    partly = (await head_of(thread))["version"]
    await thread.decide({second: True})
    copied = await thread.copy("copy")
    await thread.delete()
    target = next(each for each in await copied.history() if each["version"] == partly)
    assert (await copied.rewind(target["id"]))["status"] == "suspended"
    assert [each["arguments"] for each in await copied.approvals()] == [{"amount": 2}]


async def test_a_copy_asks_about_the_once_calls_that_its_source_started(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    copied = await thread.copy("copy")
    assert (await copied.retry()).status == "suspended"
    assert len(payment.keys) == 1
    payment.gate.open()
    await run.turn()


async def test_a_target_that_exists_is_refused(world: World) -> None:
    thread = await conversation(world)
    other = await world.thread("other")
    await other.send()
    before = await snapshot(other)
    with refused("version_conflict"):
        await thread.copy("other")
    assert await snapshot(other) == before


async def test_a_copy_needs_a_source_a_checkpoint_of_it_and_another_id(world: World) -> None:
    thread = await conversation(world)
    nothing = await world.thread("nothing")
    with refused("thread_not_found"):
        await nothing.copy("copy")
    with refused("checkpoint_not_found"):
        await thread.copy("copy", "0" * 16 + ".1")
    with refused("argument_invalid"):
        await thread.copy("t")
    with refused("id_invalid"):
        await thread.copy("a/b")
    with refused("thread_not_found"):
        await (await world.thread("copy")).info()


async def test_a_copy_of_another_version_than_expected_is_refused(world: World) -> None:
    thread = await conversation(world)
    with refused("version_conflict"):
        await thread.copy("copy", expected_version=7)
    with refused("thread_not_found"):
        await (await world.thread("copy")).info()
    await thread.copy("copy", expected_version=4)


async def test_a_checkpoint_off_the_line_can_be_copied(world: World) -> None:
    thread = await conversation(world)
    last = await head_of(thread)
    await thread.rewind((await thread.history())[-2]["id"])
    copied = await thread.copy("copy", last["id"])
    assert [each["content"][0]["text"] for each in await copied.messages()] == ["first", "one", "second", "two"]
