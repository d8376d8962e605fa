"""State is kept as the bytes that were sent, a top-level key at a time; what JSON or storage cannot hold is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clew_engine import ToolContext, commands, reads
from clew_engine.json_text import join_object
from clew_engine.messages import DataPart, TextPart, ToolCallPart
from clew_engine.options import Mutation, NewThread, RunOptions
from clew_engine.program import Program
from clew_engine.state import parse_state
from clew_storage import ThreadKey
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import World, refused

KEY = ThreadKey("", "t")
TEXT = b'{"z": 9007199254740993, "a":1.0,"e":1e2, "u":"\\u00e9\xc3\xa9\\u0000", "n":null, "d":{"b":1, "a":[ ]}}'


async def put(world: World, program: Program, text: bytes) -> None:
    """A send with a state as a server passes it on: bytes."""
    values = parse_state(text)
    stream = commands.send(
        world.storage,
        KEY,
        program,
        (TextPart("hello"),),
        values,
        new=NewThread(),
        mutation=Mutation(),
        options=RunOptions(),
    )
    await stream.reply()


async def got(world: World) -> bytes:
    """The state as bytes."""
    values, _ = await reads.get_state(world.storage, KEY, "")
    return join_object(values)


def served(world: World, **settings: Any) -> Program:
    """An agent that says ok."""
    world.agent("ok", **settings)
    return world.agents[0].program


async def test_values_are_kept_byte_for_byte(here: World) -> None:
    program = served(here)
    await put(here, program, TEXT)
    assert await got(here) == (
        b'{"z":9007199254740993,"a":1.0,"e":1e2,"u":"\\u00e9\xc3\xa9\\u0000","n":null,"d":{"b":1, "a":[ ]}}'
    )


async def test_reads_join_values_in_first_write_order(here: World) -> None:
    program = served(here)
    await put(here, program, b'{"b":1,"a":2}')
    await put(here, program, b'{"c":3,"b":4}')
    assert await got(here) == b'{"b":4,"a":2,"c":3}'


async def test_a_merge_replaces_whole_top_level_values_and_null_is_one(here: World) -> None:
    program = served(here)
    await put(here, program, b'{"a":{"x":1},"b":1}')
    await put(here, program, b'{"a":{"y":2},"b":null}')
    assert await got(here) == b'{"a":{"y":2},"b":null}'


async def test_values_survive_from_one_side_to_the_other(world: World) -> None:
    values = {
        "big": 2**53 + 1,
        "float": 1.0,
        "huge": 10**30,
        "text": "zwölf \x00 日本",
        "none": None,
        "deep": {"b": 1, "a": []},
    }
    world.agent("ok")
    thread = await world.thread()
    await thread.send(state=values)
    state = await thread.state()
    assert state == values
    assert list(state) == list(values)
    assert type(state["float"]) is float


async def test_only_keys_that_code_returned_are_encoded_anew(here: World) -> None:
    class Touch:
        def after_step(self, state: Mapping[str, Any]) -> dict[str, Any]:
            return {"mine": state["theirs"]}

    await put(here, served(here, hooks=[Touch()]), b'{"theirs":[1.0,  2]}')
    assert await got(here) == b'{"theirs":[1.0,  2],"mine":[1.0,2]}'


async def test_changing_a_value_in_place_has_no_effect(here: World) -> None:
    class Touch:
        def before_step(self, state: Mapping[str, Any]) -> None:
            state["list"].append(2)
            assert state["list"] == [1]

    def touch(context: ToolContext) -> str:
        context.state["list"].append(3)
        return str(context.state["list"])

    model = here.agent(ask("touch"), "ok", hooks=[Touch()], tools=[touch])
    thread = await here.thread()
    await thread.send(list=[1])
    assert await thread.state() == {"list": [1]}
    assert model.heard()[-1] == ("done", "[1]")


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'{"a":1' + b"0" * 400 + b"}",
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"b":2}}',
        b'{"a":"\\ud800"}',
        b'{"\\udc00":1}',
        b'{"a":"\xff"}',
        b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
        b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b"[1]",
        b"1",
        b"{",
        b'{"a":1} 2',
        b'{"a":01}',
        b"{'a':1}",
    ],
    ids=lambda text: text[:14].decode("latin-1"),
)
def test_what_cannot_be_kept_is_state_invalid(text: bytes) -> None:
    with refused("state_invalid"):
        parse_state(text)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 10**400, "\ud800", {"\udc00": 1}, [[{"deep": float("nan")}]], b"bytes"],
    ids=["nan", "inf", "huge", "surrogate", "surrogate key", "deep nan", "bytes"],
)
async def test_what_cannot_be_kept_is_refused_before_anything_is_written(world: World, value: Any) -> None:
    world.agent("ok")
    thread = await world.thread()
    with refused("state_invalid"):
        await thread.send(mood=value)
    assert await thread.history() == []


@pytest.mark.parametrize("metadata", [{"a": float("nan")}, {"a": "\ud800"}, {1: 2}])
async def test_metadata_that_cannot_be_kept_is_refused(here: World, metadata: Any) -> None:
    here.agent("ok")
    thread = await here.thread()
    with refused("state_invalid"):
        await thread.send(metadata=metadata)
    with refused("state_invalid"):
        await thread.update(metadata=metadata)
    assert await thread.history() == []


async def test_state_may_be_64_deep_with_its_own_braces_and_not_more(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    deep: Any = 1
    for _ in range(63):
        deep = [deep]
    await thread.send(deep=deep)
    assert await thread.state() == {"deep": deep}
    with refused("state_invalid"):
        await thread.send(deep=[deep])


async def test_a_state_over_its_limit_is_refused_and_nothing_is_written(world: World) -> None:
    world.tune(state_limit=1000)
    world.agent("ok")
    thread = await world.thread()
    with refused("state_too_large"):
        await thread.send(mood="x" * 1000)
    assert await thread.history() == []
    await thread.send(one="x" * 600)
    with refused("state_too_large"):
        await thread.send(two="x" * 600)
    assert list(await thread.state()) == ["one"]
    await thread.send(one="y" * 900)


async def test_a_message_over_its_limit_is_refused_and_nothing_is_written(world: World) -> None:
    world.tune(message_limit=1000)
    world.agent("ok")
    thread = await world.thread()
    with refused("state_too_large"):
        await thread.send("x" * 1000)
    assert await thread.history() == []


@pytest.mark.parametrize("key", ["messages", "_clew"])
async def test_the_engines_own_keys_are_refused(world: World, key: str) -> None:
    world.agent("ok")
    thread = await world.thread()
    with refused("argument_invalid"):
        await thread.send(state={key: []})
    assert await thread.history() == []


async def test_state_holds_neither_the_transcript_nor_the_engines_values(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send(mood="good")
    assert await thread.state() == {"mood": "good"}


async def test_the_state_at_an_older_checkpoint_is_what_it_was(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send(mood="good")
    first = (await thread.history())[0]["id"]
    await thread.send(mood="bad", more=1)
    assert await thread.state(first) == {"mood": "good"}
    with refused("checkpoint_not_found"):
        await thread.state("0" * 16 + ".1")


@pytest.mark.parametrize("content", ["", [], [TextPart("")], [DataPart(b"{NaN")], [ToolCallPart("c", "t", "{}")]])
async def test_a_message_of_nothing_or_of_what_no_user_says_is_refused(here: World, content: Any) -> None:
    here.agent("ok")
    thread = await here.thread()
    with refused("argument_invalid"):
        await thread.send(content)
    assert await thread.history() == []


@pytest.mark.parametrize("text", ["\ud800", 5, None], ids=["surrogate", "number", "none"])
async def test_a_message_that_is_no_text_is_refused(here: World, text: Any) -> None:
    here.agent("ok")
    thread = await here.thread()
    with refused("argument_invalid"):
        await thread.send(text)
    assert await thread.history() == []


async def test_values_of_a_run_under_way_are_those_it_began_with(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    thread = await world.thread()
    run = thread.stream(mood="good")
    await gate.wait()
    assert await thread.state() == {"mood": "good"}
    gate.open()
    await run.turn()
