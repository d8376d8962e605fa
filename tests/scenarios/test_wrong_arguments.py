"""Every public verb, each of its parameters, and values that it does not take: only ClewErrors come out, and those of types name the field."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import clew
import clew.requests
import clew_engine
import clew_engine.options
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ScriptedModel
from tests.scenarios.world import ERRORS
from tests.support.serving import serving

# What no parameter takes that is declared with a type; and what many do not take.
NOTHING = object()
WRONG: tuple[Any, ...] = (
    NOTHING,
    5,
    -1,
    True,
    "x",
    "\ud800",
    "a\0b",
    b"x",
    1.5,
    float("nan"),
    float("inf"),
    2**70,
    1e300,
    10**400,
    [1],
    ["x", 5],
    {"a": NOTHING},
    {5: 5},
    {"type": "text"},
    [{"type": "text", "text": 5}],
    [{"role": 5, "content": "x"}],
    [{"role": "user", "content": 5}],
    [{"role": "user", "content": [5]}],
    [{"role": "user", "content": [{"type": ["text"]}]}],
    [{"role": "user", "content": "x", "id": 5}],
    [{"role": "user", "content": "x", "metadata": 5}],
    {"a": {"reject": 5}},
    {"a": {"fail": "\ud800"}},
    (("a", 1),),
)
# What the other parameters are given.
GOOD: dict[str, Any] = {
    "message": "hello",
    "text": "hello",
    "message_id": "m1.0",
    "checkpoint_id": "0000000000000000.1",
    "target_id": "copied",
    "decisions": {"a": True},
    "value": 1,
    "messages": [{"role": "user", "content": "x"}],
    "approval_id": "a",
    "namespace": "n",
    "key": "k",
    "name": "app",
    "thread_id": "t",
    "snapshot": {},
}
# What a verb looks at itself may be named as the wire names it.
NAMED = {"message": "input", "text": "input", "values": "input", "value": "value_json"}
Verb = tuple[str, str]


def verbs(kind: type, path: str) -> list[Verb]:
    """The public verbs of a class; the blocking forms are made of them."""
    names = [name for name in dir(kind) if not name.startswith("_") and not name.endswith("_sync")]
    return [(path, name) for name in names if inspect.isfunction(getattr(kind, name))]


HERE = [
    *verbs(clew_engine.Thread, "thread"),
    *verbs(clew_engine.WorkflowThread, "flow_thread"),
    ("agent", "thread"),
    ("agent", "run"),
    ("flow", "thread"),
    ("flow", "run"),
    ("flow", "resume"),
    ("flow", "decide"),
    ("storage", "thread"),
    ("threads", "list"),
    ("approvals", "list"),
    ("approvals", "get"),
    *(("cache", name) for name in ("put", "get", "delete", "keys")),
]
THERE = [
    *verbs(clew.Thread, "thread"),
    *verbs(clew.WorkflowThread, "flow_thread"),
    *verbs(clew.AppHandle, "agent"),
    *verbs(clew.WorkflowHandle, "flow"),
    *(("client", name) for name in ("app", "workflow", "thread")),
    *verbs(type(clew.Client("x").threads), "threads"),
    *verbs(type(clew.Client("x").apps), "apps"),
    *verbs(type(clew.Client("x").approvals), "approvals"),
    *verbs(type(clew.Client("x").cache), "cache"),
]


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncIterator[Callable[[str], dict[str, Any]]]:
    """What the verbs belong to, in process and through the client."""
    storage = clew_engine.Storage("memory://")
    agent = clew_engine.Agent(
        "app", model=ScriptedModel(*["ok"] * 500), tools=[refund], approve=["refund"], storage=storage
    )
    made = clew_engine.Workflow("flow")
    made.node(lambda _: {"done": 1}, name="one")
    made.start("one")
    flow = made.compile(storage)
    async with serving([agent, flow], storage) as served, clew.Client(served.target) as client:
        here = {
            "thread": agent.thread("t"),
            "flow_thread": flow.thread("f"),
            "agent": agent,
            "flow": flow,
            "storage": storage,
            "threads": storage.threads,
            "approvals": storage.approvals,
            "cache": storage.cache,
        }
        there = {
            "thread": client.app("app").thread("t"),
            "flow_thread": client.workflow("flow").thread("f"),
            "agent": client.app("app"),
            "flow": client.workflow("flow"),
            "client": client,
            "threads": client.threads,
            "apps": client.apps,
            "approvals": client.approvals,
            "cache": client.cache,
        }
        yield lambda surface: here if surface == "here" else there


def parameters(method: Any, options: Any) -> dict[str, inspect.Parameter | str]:
    """A verb's parameters; options that stand together one by one, as the text of their types."""
    found: dict[str, inspect.Parameter | str] = {}
    for name, each in inspect.signature(method).parameters.items():
        if str(each.annotation).startswith("Unpack["):
            together = getattr(options, str(each.annotation)[len("Unpack[") : -1])
            found |= {key: kind.__forward_arg__ for key, kind in together.__annotations__.items()}
        else:
            found[name] = each
    return found


def call(method: Any, known: dict[str, inspect.Parameter | str], name: str, value: Any) -> Any:
    """The call with one wrong value, and right ones where some are needed."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for each, parameter in known.items():
        if isinstance(parameter, str):
            if each == name:
                kwargs[each] = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            args += [value] if each == name else []
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= {"mood": value} if each == name else {}
        elif parameter.kind is parameter.KEYWORD_ONLY:
            kwargs |= {each: value} if each == name else {}
        elif each == name:
            args.append(value)
        elif parameter.default is parameter.empty:
            args.append(b"x" if each == "snapshot" and "bytes" in str(parameter.annotation) else GOOD[each])
        else:
            args.append(parameter.default)
    return method(*args, **kwargs)


async def outcome(made: Any) -> None:
    """Await it, or read it to its end."""
    if inspect.isawaitable(made):
        await made
    elif hasattr(made, "__aiter__"):
        async for _ in made:
            pass


@pytest.mark.parametrize(
    ("surface", "verb"),
    [*(("here", verb) for verb in HERE), *(("there", verb) for verb in THERE)],
    ids=lambda each: ".".join(each) if isinstance(each, tuple) else each,
)
async def test_a_wrong_value_is_refused_by_the_name_of_its_field(
    objects: Callable[[str], dict[str, Any]], surface: str, verb: Verb
) -> None:
    path, name = verb
    method = getattr(objects(surface)[path], name)
    known = parameters(method, clew_engine.options if surface == "here" else clew.requests)
    for parameter, declared in known.items():
        for value in WRONG:
            raised: Any = None
            try:
                async with asyncio.timeout(0.5 if name == "watch" else 20):
                    await outcome(call(method, known, parameter, value))
            except ERRORS as error:
                raised = error
            except TimeoutError:
                assert name == "watch", f"{parameter}={value!r}"
            except Exception as error:  # noqa: BLE001 - whatever it is, it should not be
                pytest.fail(f"{surface} {path}.{name}({parameter}={value!r}): {type(error).__name__}: {error}")
            if value is NOTHING and str(getattr(declared, "annotation", declared)) != "Any":
                names = (parameter, NAMED.get(parameter, parameter))
                assert raised is not None, f"{surface} {path}.{name}({parameter}=object()) is accepted"
                assert raised.code in ("argument_invalid", "id_invalid", "state_invalid")
                assert any(each.rstrip("s") in raised.metadata["field"] for each in names)


async def test_an_argument_that_there_is_not_is_no_option(objects: Callable[[str], dict[str, Any]]) -> None:
    for surface in ("here", "there"):
        with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
            await objects(surface)["thread"].update_state({"a": 1}, bogus=2)


# The verbs of both that take the version that is expected.
VERSIONED = [
    verb
    for kind, path in ((clew_engine.Thread, "thread"), (clew_engine.WorkflowThread, "flow_thread"))
    for verb in verbs(kind, path)
    if verb in THERE and "expected_version" in parameters(getattr(kind, verb[1]), clew_engine.options)
]


async def refusal(objects: Callable[[str], dict[str, Any]], surface: str, verb: Verb, value: int) -> object:
    """Code, message and fields of the refusal of a verb with this `expected_version`."""
    method = getattr(objects(surface)[verb[0]], verb[1])
    known = parameters(method, clew_engine.options if surface == "here" else clew.requests)
    with pytest.raises(ERRORS) as refused:
        await outcome(call(method, known, "expected_version", value))
    error: Any = refused.value
    return error.code, error.message, error.metadata


@pytest.mark.parametrize("value", [-1, -(10**30), 2**63, 10**30])
@pytest.mark.parametrize("verb", VERSIONED, ids=" ".join)
async def test_a_version_that_cannot_be_is_refused_in_process_as_by_the_client(
    objects: Callable[[str], dict[str, Any]], verb: Verb, value: int
) -> None:
    here = await refusal(objects, "here", verb, value)
    assert here == await refusal(objects, "there", verb, value)
    assert "('argument_invalid', 'expected_version: " in repr(here)


@pytest.mark.parametrize("name", ["approve", "stream_approve", "reject", "stream_reject"])
async def test_who_decides_all_at_another_version_is_told_so_in_process_as_by_the_client(
    objects: Callable[[str], dict[str, Any]], name: str
) -> None:
    here = await refusal(objects, "here", ("thread", name), 2**63 - 1)
    assert here == await refusal(objects, "there", ("thread", name), 2**63 - 1)
    assert "is at version 0, not at 9223372036854775807" in repr(here)
    await objects("here")["thread"].update_state({"a": 1})
    here = await refusal(objects, "here", ("thread", name), 7)
    assert here == await refusal(objects, "there", ("thread", name), 7)
    assert "is at version 1, not at 7" in repr(here)
