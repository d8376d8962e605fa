"""What may be kept of a result: as much as of any message, counted once, and refused where it is given."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine.messages import TextPart, ToolResultPart
from tests.scenarios.payments import Payment, stopped
from tests.scenarios.scripts import ask
from tests.scenarios.sights import Turn
from tests.scenarios.world import Handle, World, refused, snapshot


async def asked(world: World) -> tuple[Handle, Turn]:
    """A thread that waits for what became of a call."""
    return await stopped(world, Payment(world))


async def results(thread: Handle) -> list[dict[str, Any]]:
    """The results in a transcript."""
    return [part for message in await thread.messages() for part in message["content"] if part["type"] == "tool_result"]


@pytest.mark.parametrize("size", [2_000_000, 3_600_000])
async def test_a_result_that_a_person_gives_may_be_as_large_as_a_message(world: World, size: int) -> None:
    thread, turn = await asked(world)
    assert (await thread.decide({turn.approvals[0]: {"result": "x" * size}})).text == "ok"
    (result,) = await results(thread)
    assert (result["outcome"], len(result["structured"])) == ("done", size)
    assert result["content"] == [{"type": "text", "text": f'"{"x" * size}"'}]


async def test_a_result_that_cannot_be_kept_is_refused_when_it_is_given(world: World) -> None:
    thread, turn = await asked(world)
    before = await snapshot(thread)
    with refused("state_too_large", field="decisions.outcome.result_json", limit="3670016"):
        await thread.decide({turn.approvals[0]: {"result": "x" * 3_669_990}})
    assert await snapshot(thread) == before
    assert (await thread.decide({turn.approvals[0]: {"result": "paid"}})).status == "completed"


async def test_arguments_that_an_approval_cannot_show_are_refused(world: World) -> None:
    def note(text: str) -> str:
        return text[:4]

    world.agent(ask("note", text="x" * 2_000_000), "ok", tools=[note], approve=True)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    with refused("state_too_large", field="decisions.approve.arguments_json"):
        await thread.decide({approval: {"arguments": {"text": "y" * 2_000_000}}})
    assert (await thread.decide({approval: {"arguments": {"text": "yyyyyy"}}})).text == "ok"


async def test_a_tool_may_return_json_as_large_as_a_message(world: World) -> None:
    def look() -> dict[str, str]:
        return {"found": "x" * 3_600_000}

    world.agent(ask("look"), "ok", tools=[look])
    thread = await world.thread()
    assert (await thread.send()).text == "ok"
    (result,) = await results(thread)
    assert (result["outcome"], len(result["structured"]["found"])) == ("done", 3_600_000)
    assert (await thread.message("m2.0"))["role"] == "assistant"


def test_text_that_is_the_json_itself_is_held_once() -> None:
    part = ToolResultPart("c", "look", (TextPart('{"n":1.0}'),), b'{"n":1.0}')
    assert (part.content, part.text) == ((), '{"n":1.0}')
    other = ToolResultPart("c", "look", (TextPart("one"),), b'{"n":1.0}')
    assert (other.text, len(other.content)) == ("one", 1)
