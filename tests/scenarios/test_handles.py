"""The in-process handle: verbs that wait for the reply, agents that share a storage, and the blocking forms."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Mapping
from typing import Any

import pytest

from clew_engine import Agent, Storage, Thread
from clew_engine.errors import RunCancelledError, RunFailedError, ThreadSuspendedError
from tests.scenarios.heads import refund
from tests.scenarios.scripts import Gate, ScriptedModel, ask, rejected
from tests.scenarios.world import World, refused


def made(world: World, *answers: Any, **settings: Any) -> Thread:
    """The handle itself."""
    return Agent("app", model=ScriptedModel(*answers), storage=world.storage, **settings).thread("t", actor="ada")


async def test_a_send_that_fails_raises_and_says_whether_it_may_work_later(here: World) -> None:
    thread = made(here, rejected("why"))
    with pytest.raises(RunFailedError, match="why") as failed:
        await thread.send("hello")
    assert (failed.value.failure_code, failed.value.retryable) == ("model_rejected", False)
    assert failed.value.metadata["run_id"] == (await thread.history())[0]["run_id"]


async def test_a_send_that_is_cancelled_raises(here: World) -> None:
    gate = Gate()
    thread = made(here, gate)
    sending = asyncio.create_task(thread.send("hello"))
    await gate.wait()
    await thread.cancel()
    with pytest.raises(RunCancelledError, match="retry continues it"):
        await sending


async def test_a_reply_says_what_it_took(here: World) -> None:
    reply = await made(here, "ok").send("hello")
    assert (reply.text, reply.status, reply.version, reply.steps, reply.usage.total_tokens) == (
        "ok",
        "completed",
        2,
        1,
        5,
    )
    assert reply.as_dict()["message"]["content"][0]["text"] == "ok"


async def test_approve_without_ids_answers_all_that_waits_and_says_who(here: World) -> None:
    thread = made(here, [ask("refund", amount=1), ask("refund", amount=2)], "ok", tools=[refund], approve=True)
    reply = await thread.send("hello")
    assert (reply.status, len(reply.approvals), reply.text) == ("suspended", 2, "")
    assert (await thread.approve()).text == "ok"
    found = await here.storage.backend.approvals.list_approvals("")
    assert [(record.state.value, b'"by":"ada"' in (record.decision or b"")) for record in found] == [
        ("approved", True)
    ] * 2


async def test_reject_without_ids_rejects_all_with_the_reason(here: World) -> None:
    thread = made(here, ask("refund", amount=1), "ok", tools=[refund], approve=True)
    await thread.send("hello")
    await thread.reject("too much")
    assert (await thread.messages())[2]["content"][0]["content"][0]["text"] == "too much"


async def test_approve_where_nothing_waits_is_refused(here: World) -> None:
    thread = made(here, "ok")
    with refused("resume_invalid"):
        await thread.approve()
    await thread.send("hello")
    with refused("resume_invalid"):
        await thread.reject("no")


async def test_options_of_the_handle_hold_where_a_call_names_none(here: World) -> None:
    gate = Gate()
    agent = Agent("app", model=ScriptedModel(gate, "ok"), storage=here.storage)
    first = asyncio.create_task(agent.thread("t").send("hello"))
    await gate.wait()
    thread = agent.thread("t", on_busy="reject")
    with refused("thread_busy"):
        await thread.send("hello")
    assert (await thread.send("hello", on_busy="interrupt")).text == "ok"
    with pytest.raises(RunCancelledError):
        await first


async def test_agents_on_one_storage_share_its_threads(here: World) -> None:
    thread = made(here, ask("refund", amount=1), tools=[refund], approve=True)
    await thread.send("hello")
    other = made(here, "ok", tools=[refund], approve=True)
    assert (await other.approve()).text == "ok"
    assert len(await thread.messages()) == 4


async def test_an_agent_without_storage_has_one_of_its_own(here: World) -> None:
    one, other = (Agent("app", model=ScriptedModel("ok")) for _ in range(2))
    await one.thread("t").send("hello")
    with refused("thread_not_found"):
        await other.thread("t").messages()
    await one.storage.close()
    await other.storage.close()


async def test_run_keeps_nothing_and_refuses_what_needs_a_person(here: World) -> None:
    agent = Agent("app", model=ScriptedModel("ok"), storage=here.storage)
    assert (await agent.run("hello", mood="good")).text == "ok"
    gated = Agent(
        "app", model=ScriptedModel(ask("refund", amount=1)), tools=[refund], approve=True, storage=here.storage
    )
    with pytest.raises(ThreadSuspendedError):
        await gated.run("hello")


async def test_hooks_see_the_state_and_the_transcript_before_and_after_a_step(here: World) -> None:
    seen: list[tuple[str, list[str], Any]] = []

    class Look:
        async def before_step(self, state: Mapping[str, Any]) -> dict[str, Any]:
            seen.append(("before", [message["role"] for message in state["messages"]], state["mood"]))
            return {"mood": "asked"}

        def after_step(self, state: Mapping[str, Any]) -> dict[str, Any]:
            seen.append(("after", [message["role"] for message in state["messages"]], state["mood"]))
            return {"heard": state["messages"][-1]["content"][0]["text"], "step": state["_clew"]["step"]}

    thread = made(here, "ok", hooks=[Look()])
    await thread.send("hello", mood="good")
    assert seen == [("before", ["user"], "good"), ("after", ["user", "assistant"], "asked")]
    assert await thread.state() == {"mood": "asked", "heard": "ok", "step": 0}


async def test_the_transcript_that_hooks_see_cannot_be_changed(here: World) -> None:
    class Touch:
        def before_step(self, state: Mapping[str, Any]) -> None:
            state["messages"][0]["content"][0]["text"] = "changed"
            with pytest.raises(TypeError):
                state["messages"][0] = {}

    thread = made(here, "ok", hooks=[Touch()])
    await thread.send("hello")
    assert (await thread.messages())[0]["content"][0]["text"] == "hello"


def test_every_verb_has_a_blocking_form() -> None:
    storage = Storage("memory://")
    agent = Agent(
        "app", model=ScriptedModel(ask("refund", amount=1), "ok"), tools=[refund], approve=True, storage=storage
    )
    thread = agent.thread("t")
    assert thread.send_sync("hello").status == "suspended"
    (approval,) = thread.approvals_sync()
    assert [event.type for event in thread.stream_decide_sync({approval.id: True})][-1] == "run_completed"
    assert len(thread.messages_sync()) == 4
    assert thread.state_sync() == {}
    first = thread.history_sync()[-1]["id"]
    assert thread.rewind_sync(first)["status"] == "failed"
    assert thread.retry_sync().text == "ok"
    assert [event.type for event in thread.watch_sync()][-1] == "run_completed"
    assert thread.copy_sync("copy").info_sync().thread_id == "copy"
    assert thread.cancel_sync()["status"] == "completed"
    assert thread.delete_sync() is True
    verbs = {name for name in dir(Thread) if not name.startswith("_") and not name.endswith("_sync")} - {"id", "app"}
    assert {f"{verb}_sync" for verb in verbs} <= set(dir(Thread))
    assert agent.run_sync("hello again").text == "ok"


def test_a_blocking_stream_that_is_left_cancels_its_run() -> None:
    thread = Agent("app", model=ScriptedModel(["half", Gate()])).thread("t")
    for event in thread.stream_sync("hello"):
        if event.type == "text_delta":
            break
    gc.collect()
    assert thread.history_sync()[0]["status"] == "failed"


async def test_a_blocking_call_inside_an_event_loop_is_refused(here: World) -> None:
    with pytest.raises(RuntimeError, match="await the async form"):
        made(here, "ok").send_sync("hello")
