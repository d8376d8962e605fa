"""The offline model's rules as plain JSON, with every fault that a script can ask for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from clew_engine.models import ModelError, OfflineModel, TextChunk, otherwise
from tests.models.asking import a_request, assistant, events_of
from tests.models.offline_turns import answered, called, replay

SCRIPT: list[dict[str, Any]] = [
    {"when": r"refund (?P<id>\w+)", "do": [{"think": "Hm."}, {"call": "look_up", "args": {"id": "{id}"}}]},
    {"after": "look_up", "outcome": "failed", "do": [{"say": "No {id}."}]},
    {"after": ["look_up"], "do": [{"say": "Found {result.total}."}], "finish": "length"},
    {"when": "^slow", "delay_ms": 1, "do": [{"say": "a b"}]},
    {"when": "^json", "do": [{"answer": {"ok": True}}]},
    {"when": "^busy", "do": [{"fail": "model_rate_limited", "retry_after_s": 2.5}]},
    {"when": "^down", "do": [{"say": "I was"}, {"fail": "model_unavailable", "message": "Down."}]},
    {"when": "^once", "do": [{"fail": "model_incomplete", "times": 1}, {"say": "Now."}]},
    {"when": "^hang", "do": [{"say": "wait"}, {"hang": True}]},
    {"when": "^nothing", "do": []},
    {"when": "^who", "do": [{"call": "no_such_tool"}]},
    {"when": "^bad", "do": [{"call": "look_up", "args": '{"id":'}]},
    {"when": "^twice", "do": [{"call": "a", "id": "same"}, {"call": "b", "id": "same"}]},
    {"do": [{"say": "?"}]},
]


@pytest.fixture
def scripted() -> OfflineModel:
    return OfflineModel.from_data(json.loads(json.dumps(SCRIPT)))


async def test_a_script_is_the_rules_as_data(scripted: OfflineModel) -> None:
    assert called(await replay(scripted, "refund A1")) == [("look_up", {"id": "A1"})]
    assert (
        await replay(scripted, "refund A1", assistant(), answered("look_up", "", outcome="failed"))
    ).text == "No A1."
    found = await replay(scripted, "refund A1", assistant(), answered("look_up", '{"total":2}'))
    assert (found.text, found.finish_reason) == ("Found 2.", "length")
    assert (await replay(scripted, "slowly")).text == "a b"
    assert (await replay(scripted, "json")).text == '{"ok":true}'
    assert (await replay(scripted, "hello")).text == "?"


async def test_a_script_can_fail_with_a_code(scripted: OfflineModel) -> None:
    with pytest.raises(ModelError) as caught:
        await replay(scripted, "busy")
    failure = caught.value
    assert (failure.code, failure.retryable, failure.retry_after_s) == ("model_rate_limited", True, 2.5)


async def test_a_script_can_fail_in_the_middle_of_its_text(scripted: OfflineModel) -> None:
    stream = scripted.stream(a_request("down"))
    assert [await anext(stream), await anext(stream)] == [TextChunk(0, "I"), TextChunk(0, " was")]
    with pytest.raises(ModelError, match="Down"):
        await anext(stream)


async def test_a_script_can_fail_a_number_of_times_for_each_text(scripted: OfflineModel) -> None:
    for text in ("once", "once more"):
        with pytest.raises(ModelError):
            await replay(scripted, text)
        assert (await replay(scripted, text)).text == "Now."


async def test_a_script_can_hang_until_it_is_cancelled(scripted: OfflineModel) -> None:
    said = asyncio.Event()

    async def read() -> None:
        async for _ in scripted.stream(a_request("hang")):
            said.set()

    reader = asyncio.create_task(read())
    await said.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_a_script_can_end_with_nothing(scripted: OfflineModel) -> None:
    reply = await replay(scripted, "nothing")
    assert (reply.content, reply.finish_reason) == ((), "stop")


async def test_a_script_can_call_badly(scripted: OfflineModel) -> None:
    assert (await replay(scripted, "who")).tool_calls[0].name == "no_such_tool"
    assert (await replay(scripted, "bad")).tool_calls[0].args == '{"id":'
    assert [call.id for call in (await replay(scripted, "twice")).tool_calls] == ["same", "same"]


async def test_a_delay_can_be_cancelled() -> None:
    reader = asyncio.create_task(events_of(OfflineModel([otherwise.say("never").delayed(3_600_000)]), a_request()))
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


@pytest.mark.parametrize(
    ("script", "place"),
    [
        ({}, "a script must be a list"),
        ([7], r"rules\[0\] must be an object"),
        ([{"wenn": "x"}], r"rules\[0\] has unknown fields: wenn"),
        ([{"when": "("}], r"rules\[0\]\.when is not a pattern"),
        ([{"when": 7}], r"rules\[0\]\.when cannot be 7"),
        ([{"after": "a", "outcome": "maybe"}], r"rules\[0\]\.outcome must be one of"),
        ([{"do": [7]}], r"rules\[0\]\.do\[0\] must be an object"),
        ([{"do": [{"shout": "x"}]}], r"rules\[0\]\.do\[0\] needs one of"),
        ([{"do": [{"say": 7}]}], r"rules\[0\]\.do\[0\]\.say must be text"),
        ([{"do": [{"say": "a"}, {"call": "t", "args": []}]}], r"rules\[0\]\.do\[1\]\.args cannot be"),
        ([{"do": [{"fail": "model_tired"}]}], r"rules\[0\]\.do\[0\]\.fail must be one of"),
        ([{"do": [{"fail": "model_rejected", "when": 1}]}], r"rules\[0\]\.do\[0\] has unknown fields: when"),
    ],
)
def test_a_script_that_is_wrong_is_refused_with_its_place(script: Any, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        OfflineModel.from_data(script)
