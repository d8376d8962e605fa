"""The handle in process and the client's have the same verbs, which take the same and give the same."""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

import clew
import clew.requests
import clew_engine
import clew_engine.options
from tests.scenarios.conftest import SURFACES
from tests.scenarios.handles import PlayedThread
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask, rejected
from tests.scenarios.world import ERRORS, World

# What one of them has alone, and why. The other names, parameters and attributes are the same.
ONLY_THERE = {"timeout": "a call over a network can be given up; one in process is cancelled like any other task"}
ONLY_HERE = {
    "tenant": "a server takes it from the credential",
    "on_busy": "a default of the handle; a server has its own",
    "busy_timeout": "a default of the handle; a server has its own",
    "limits": "a default of the handle; a server has its own",
}
ATTRIBUTES = {
    "said": "the reply's message as the engine holds it",
    "subject": "what an approval is about as the engine holds it",
    "snapshot": "of a run without a thread; in process a workflow's Result and RunFailedError have it, and a reply is of a thread",
    "payload": "in process it holds the engine's own objects; its `type` is compared",
}

THERE, HERE = (clew.Thread, clew.WorkflowThread), (clew_engine.Thread, clew_engine.WorkflowThread)
VERBS = [(kind, name) for kind in range(2) for name in sorted(dir(THERE[kind])) if not name.startswith("_")]


def parameters(method: Callable[..., Any], options: Any) -> dict[str, tuple[str, Any]]:
    """The names of a method's parameters with their kinds and defaults; options that stand together are taken one by one."""
    found: dict[str, tuple[str, Any]] = {}
    for name, each in inspect.signature(method).parameters.items():
        if str(each.annotation).startswith("Unpack["):
            together = getattr(options, each.annotation[len("Unpack[") : -1])
            found |= dict.fromkeys(typing.get_type_hints(together), ("KEYWORD_ONLY", None))
        else:
            found[name] = (each.kind.name, each.default)
    return found


@pytest.mark.parametrize("kind", [0, 1], ids=["Thread", "WorkflowThread"])
def test_both_handles_have_the_same_names(kind: int) -> None:
    here = {name for name in dir(HERE[kind]) if not name.startswith("_")}
    there = {name for of, name in VERBS if of == kind} | {"id", "app"}
    assert here == there, "id and app are attributes of the client's handle"


@pytest.mark.parametrize(("kind", "verb"), VERBS, ids=[f"{THERE[kind].__name__}.{verb}" for kind, verb in VERBS])
def test_a_verb_takes_the_same_in_both(kind: int, verb: str) -> None:
    here = parameters(getattr(HERE[kind], verb), clew_engine.options)
    there = parameters(getattr(THERE[kind], verb), clew.requests)
    assert here == {name: each for name, each in there.items() if name not in ONLY_THERE}


def test_both_handles_are_made_alike() -> None:
    for in_process, client in (
        (clew_engine.Agent.thread, clew.AppHandle.thread),
        (clew_engine.WorkflowApp.thread, clew.WorkflowHandle.thread),
    ):
        here, there = parameters(in_process, None), parameters(client, None)
        assert {name: each for name, each in here.items() if name not in ONLY_HERE} == there


def test_both_results_have_the_same_fields() -> None:
    here = list(clew_engine.Result.__struct_fields__)
    there = [each.name for each in fields(clew.Result)]
    assert here == there


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[list[World]]:
    """A world in process, and the same one through the client."""
    worlds = [World("memory://", surface) for surface in SURFACES.values()]
    yield worlds
    for world in worlds:
        await world.close()


Play = Callable[[Any], Awaitable[Any]]


async def played(world: World, play: Play, *answers: Any) -> Any:
    """What a play on the thread `t` gives, in plain values that two worlds can have in common."""
    world.agent(*answers, tools=[refund], approve=["refund"])
    wrapped = await world.thread(actor="ada")
    assert isinstance(wrapped, PlayedThread)
    thread = wrapped.inner
    try:
        result = await play(thread)
    except ERRORS as error:
        known: Any = error
        result = {"raised": type(error).__name__, "code": known.code, "metadata": dict(known.metadata)}
    try:
        uid = (await thread.info()).thread_uid
    except ERRORS:
        uid = "no thread"
    return plain(result, uid)


def plain(value: Any, uid: str) -> Any:
    """Names and values alone: without times, and with one uid for all."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value.replace(uid, "UID")
    if isinstance(value, Mapping):
        return {name: _timeless(name, plain(each, uid)) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, uid) for each in value]
    if is_dataclass(value) or isinstance(value, Struct):
        names = [name for name in dir(value) if not name.startswith("_") and name not in ATTRIBUTES]
        found = {name: getattr(value, name) for name in names}
        return plain({name: each for name, each in found.items() if not callable(each)}, uid)
    if isinstance(value, clew.Thread | clew_engine.Thread):
        return {"id": value.id, "app": value.app, "actor": value.actor}
    return value


def _timeless(name: str, value: Any) -> Any:
    return "a time" if name.endswith("_ms") and value is not None else value


async def the_turn(thread: Any) -> Any:
    return await thread.send("hello", user_id=7, mood="good", state={"limits": 1}, metadata={"team": "a"})


async def a_part(thread: Any) -> Any:
    await thread.send([{"type": "text", "text": "see"}, {"type": "data", "data": {"a": 2**53 + 1}}])
    return await thread.messages()


async def the_reads(thread: Any) -> Any:
    await the_turn(thread)
    (message, *_), (checkpoint, *_) = await thread.messages(), await thread.history(None)
    return {
        "info": await thread.info(),
        "state": await thread.state(),
        "then": await thread.state(checkpoint["id"]),
        "messages": await thread.messages(reasoning=True),
        "message": await thread.message(message["id"]),
        "history": await thread.history(),
        "newest": await thread.history(1),
        "checkpoint": await thread.checkpoint(checkpoint["id"]),
        "approvals": await thread.approvals(),
    }


async def the_question(thread: Any) -> Any:
    reply = await thread.send("hello")
    return {"reply": reply, "approvals": await thread.approvals(), "info": await thread.info()}


async def an_edited_approval(thread: Any) -> Any:
    await thread.send("hello")
    events = [event async for event in thread.stream_approve(arguments={"amount": 2})]
    return {"events": events, "messages": await thread.messages()}


async def a_rejection(thread: Any) -> Any:
    await thread.send("hello")
    events = [event async for event in thread.stream_reject("too much")]
    return {"events": events, "messages": await thread.messages()}


async def the_changes(thread: Any) -> Any:
    made = await thread.update(name="one", allow_missing=True, request_id="r1")
    await thread.send("hello", on_busy="reject", busy_timeout=1, expected_version=0, request_id="r2")
    first = (await thread.history())[-1]["id"]
    return {
        "made": made,
        "changed": await thread.update(metadata={"a": 1}, user_id=7, etag=made.etag),
        "rewound": await thread.rewind(first, on_busy="wait", busy_timeout=1, expected_version=2, request_id="r3"),
        "retried": await thread.retry(on_busy="wait"),
        "cancelled": await thread.cancel(request_id="r4"),
        "copied": await thread.copy("copy", request_id="r5"),
        "watched": [event async for event in thread.watch()],
    }


async def the_writes(thread: Any) -> Any:
    await thread.send("hello")
    busy = {"on_busy": "reject", "busy_timeout": 1}
    said = [
        {"role": "user", "content": "more", "id": "mine", "metadata": {"own": 1}},
        {"role": "system", "content": "so"},
    ]
    return {
        "merged": await thread.update_state({"a": 1, "b": 2}, request_id="r1", expected_version=2, **busy),
        "removed": await thread.update_state(remove_keys=["b"], force=True),
        "replaced": await thread.update_state({"c": [1.5]}, replace=True),
        "state": await thread.state(),
        "cleared": await thread.clear_state(request_id="r2"),
        "added": await thread.append_messages(said, metadata={"batch": 1}, request_id="r3", **busy),
        "edited": await thread.update_message("mine", [{"type": "text", "text": "less"}], metadata={}, request_id="r4"),
        "found": await thread.messages(search="LESS", order="newest_first", limit=1),
        "deleted": await thread.delete_message("mine", request_id="r5", **busy),
        "messages": await thread.messages(),
        "events": [event async for event in thread.watch(2)],
    }


async def the_end(thread: Any) -> Any:
    await thread.send("hello")
    return [await thread.delete(expected_version=2, request_id="r1"), await thread.delete()]


async def a_failure(thread: Any) -> Any:
    try:
        await thread.send("hello")
    except ERRORS as error:
        failed: Any = error
        told = (type(error).__name__, failed.code, failed.failure_code, failed.retryable, failed.run_id, str(error))
        return {"told": told, "history": await thread.history()}


PLAYS: dict[Play, tuple[Any, ...]] = {
    the_turn: ("ok",),
    a_part: ("ok",),
    the_reads: ("ok",),
    the_question: (ask("refund", amount=7), "ok"),
    an_edited_approval: (ask("refund", amount=7), "ok"),
    a_rejection: (ask("refund", amount=7), "ok"),
    the_changes: ("ok",),
    the_writes: ("ok",),
    the_end: ("ok",),
    a_failure: (rejected("why"),),
}


@pytest.mark.parametrize(("play", "answers"), PLAYS.items(), ids=[play.__name__ for play in PLAYS])
async def test_a_verb_gives_the_same_in_both(both: list[World], play: Play, answers: tuple[Any, ...]) -> None:
    here, there = [await played(world, play, *answers) for world in both]
    assert here == there
    assert "raised" not in here


NOTHING_THERE: dict[str, Play] = {
    "messages": lambda thread: thread.messages(),
    "message": lambda thread: thread.message("m1.0"),
    "history": lambda thread: thread.history(),
    "checkpoint": lambda thread: thread.checkpoint("0000000000000000.1"),
    "state": lambda thread: thread.state(),
    "info": lambda thread: thread.info(),
    "approvals": lambda thread: thread.approvals(),
    "update": lambda thread: thread.update(name="one"),
    "copy": lambda thread: thread.copy("copy"),
    "cancel": lambda thread: thread.cancel(),
    "clear_state": lambda thread: thread.clear_state(),
    "update_message": lambda thread: thread.update_message("m1.0", "x"),
    "delete_message": lambda thread: thread.delete_message("m1.0"),
}


@pytest.mark.parametrize("verb", NOTHING_THERE)
async def test_a_thread_that_does_not_exist_is_not_found(both: list[World], verb: str) -> None:
    for world in both:
        refusal = await played(world, NOTHING_THERE[verb])
        assert (refusal["raised"], refusal["code"]) == ("ThreadNotFoundError", "thread_not_found")
        assert refusal["metadata"] == {"thread_id": "t"}


REFUSED: dict[str, Play] = {
    "approve: False": lambda thread: thread.decide({"a": {"approve": False}}),
    "approve: arguments": lambda thread: thread.decide({"a": {"approve": {"amount": 1}}}),
    "run_again: False": lambda thread: thread.decide({"a": {"run_again": False}}),
    "reject: no text": lambda thread: thread.decide({"a": {"reject": 1}}),
    "an unknown choice": lambda thread: thread.decide({"a": {"perhaps": True}}),
    "an unknown word": lambda thread: thread.decide({"a": "perhaps"}),
    "two choices": lambda thread: thread.decide({"a": {"value": 1, "reject": "no"}}),
    "arguments: no dict": lambda thread: thread.decide({"a": {"arguments": [1]}}),
    "arguments: None": lambda thread: thread.decide({"a": {"arguments": None}}),
    "a value that is no JSON": lambda thread: thread.decide({"a": {"value": float("nan")}}),
    "no decisions": lambda thread: thread.decide({}),
    "approve where nothing waits": lambda thread: thread.approve(),
    "reject where nothing waits": lambda thread: thread.reject("no"),
    "resume where nothing waits": lambda thread: thread.resume(1),
    "retry where nothing failed": lambda thread: thread.retry(),
    "an unknown policy": lambda thread: thread.send("hello", on_busy="perhaps"),
    "another version": lambda thread: thread.send("hello", expected_version=5),
    "a reserved key": lambda thread: thread.send("hello", messages=1),
    "a part of no kind": lambda thread: thread.send([{"type": "perhaps"}]),
    "an empty message": lambda thread: thread.send(""),
    "a limit of nothing": lambda thread: thread.messages(limit=0),
    "a history of nothing": lambda thread: thread.history(0),
    "an unknown order": lambda thread: thread.messages(order="sideways"),
    "nothing to add": lambda thread: thread.append_messages([]),
    "an unknown role": lambda thread: thread.append_messages([{"role": "critic", "content": "x"}]),
    "an id of the engine's": lambda thread: thread.append_messages([{"role": "user", "content": "x", "id": "m1.0"}]),
    "nothing said": lambda thread: thread.append_messages([{"role": "user", "content": []}]),
    "nothing to change": lambda thread: thread.update_message("m1.0"),
    "a key to set and to remove": lambda thread: thread.update_state({"a": 1}, remove_keys=["a"]),
    "a key to remove of what is replaced": lambda thread: thread.update_state(remove_keys=["a"], replace=True),
    "a node of an agent": lambda thread: thread.update_state({"a": 1}, as_node="read"),
    "a replacement as a node": lambda thread: thread.update_state({"a": 1}, replace=True, as_node="read"),
    "a key to remove as a node": lambda thread: thread.update_state(remove_keys=["a"], as_node="read"),
    "a reserved key in the state": lambda thread: thread.update_state({"messages": []}),
    "a state that is no JSON": lambda thread: thread.update_state({"a": float("nan")}),
    "another version to write": lambda thread: thread.clear_state(expected_version=5),
}


@pytest.mark.parametrize("call", REFUSED)
async def test_a_call_is_refused_with_the_same_code_in_both(both: list[World], call: str) -> None:
    here, there = [await played(world, REFUSED[call]) for world in both]
    assert (here["raised"], here["code"]) == (there["raised"], there["code"])
    assert here["metadata"].keys() == there["metadata"].keys()
