"""The offline model: rules, templates, scripts as data, faults, and small talk."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from clew_engine.messages import Message, Outcome, TextPart, ToolResultPart
from clew_engine.models import (
    ModelError,
    ModelRequest,
    ModelResponse,
    OfflineModel,
    ReasoningChunk,
    Rule,
    TextChunk,
    Turn,
    after,
    otherwise,
    when,
)
from tests.models.asking import a_request, assistant, events_of, reply_of

REFUNDS = [
    when(r"refund.*(?P<order_id>A-\d+)").say("Looking up {order_id}.").call("look_up", order_id="{order_id}"),
    after("look_up", is_error=True).say("There is no order {order_id}."),
    after("look_up").call("refund", order_id="{result.id}", amount="{result.total}"),
    after("refund", outcome="rejected").say("It was not approved: {result}"),
    after("refund").say("Refunded {results.look_up.total} for {order_id}."),
    otherwise.say("I can only refund orders."),
]


def answered(name: str, text: str, *, outcome: Outcome = "done", structured: bytes | None = None) -> Message:
    failed = outcome != "done"
    return Message("t", "tool", (ToolResultPart("c", name, (TextPart(text),), structured, failed, outcome),), 0)


def called(response: ModelResponse) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.args)) for call in response.tool_calls]


async def replay(model: OfflineModel, *messages: Message | str) -> ModelResponse:
    return await reply_of(model, a_request(*messages))


async def test_a_rule_for_the_users_text_fills_its_named_groups() -> None:
    reply = await replay(OfflineModel(REFUNDS), "Please REFUND order A-17 now")
    assert reply.text == "Looking up A-17."
    assert called(reply) == [("look_up", {"order_id": "A-17"})]
    assert reply.finish_reason == "tool_call"


async def test_a_rule_for_a_tools_answer_reads_its_fields_with_their_types() -> None:
    reply = await replay(
        OfflineModel(REFUNDS), "refund A-17", assistant(), answered("look_up", '{"id":"A-17","total":12.5}')
    )
    assert called(reply) == [("refund", {"order_id": "A-17", "amount": 12.5})]


async def test_a_structured_result_is_read_before_its_text() -> None:
    found = answered("look_up", "found it", structured=b'{"id":"A-17","total":3}')
    reply = await replay(OfflineModel(REFUNDS), "refund A-17", assistant(), found)
    assert called(reply) == [("refund", {"order_id": "A-17", "amount": 3})]


async def test_results_of_earlier_steps_of_the_turn_can_be_named() -> None:
    reply = await replay(
        OfflineModel(REFUNDS),
        "refund A-17",
        assistant(),
        answered("look_up", '{"id":"A-17","total":12.5}'),
        assistant(),
        answered("refund", "ok"),
    )
    assert reply.text == "Refunded 12.5 for A-17."
    assert reply.finish_reason == "stop"


async def test_a_rejection_reaches_the_model_with_its_reason() -> None:
    rejected = answered("refund", "too much", outcome="rejected")
    assert (await replay(OfflineModel(REFUNDS), "refund A-17", assistant(), rejected)).text == (
        "It was not approved: too much"
    )


async def test_an_error_of_a_tool_has_its_own_rule() -> None:
    failed = answered("look_up", "unknown", outcome="failed")
    assert (await replay(OfflineModel(REFUNDS), "refund A-17", assistant(), failed)).text == "There is no order A-17."


async def test_a_new_turn_does_not_see_the_results_of_the_last() -> None:
    reply = await replay(OfflineModel(REFUNDS), "refund A-17", assistant(), answered("refund", "ok"), "And now?")
    assert reply.text == "I can only refund orders."


async def test_several_calls_of_one_rule_are_made_in_parallel() -> None:
    reply = await replay(OfflineModel([otherwise.call("a", n=1).call("b", n=2)]), "go")
    assert called(reply) == [("a", {"n": 1}), ("b", {"n": 2})]
    assert len({call.id for call in reply.tool_calls}) == 2


async def test_a_rule_may_wait_for_all_of_several_tools() -> None:
    model = OfflineModel([after("a", "b").say("both"), after("a").say("one")])
    both = Message("t", "tool", (*answered("a", "1").tool_results, *answered("b", "2").tool_results), 0)
    assert (await replay(model, "go", assistant(), both)).text == "both"
    assert (await replay(model, "go", assistant(), answered("a", "1"), answered("b", "2"))).text == "both"
    assert (await replay(model, "go", assistant(), answered("a", "1"))).text == "one"


async def test_a_rule_may_be_for_one_turn_only() -> None:
    model = OfflineModel([when("", turn=2).say("second"), otherwise.say("another: {turn}.{step}")])
    assert (await replay(model, "a")).text == "another: 1.1"
    assert (await replay(model, "a", assistant(), "b")).text == "second"


async def test_text_and_thoughts_stream_in_small_chunks() -> None:
    events = await events_of(OfflineModel([otherwise.think("Let me see").say("Here  you\nare")]), a_request())
    assert [event.text for event in events if isinstance(event, ReasoningChunk)] == ["Let", " me", " see"]
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert [chunk.text for chunk in chunks] == ["Here", "  you", "\nare"]
    assert {chunk.part_index for chunk in chunks} == {1}


async def test_braces_that_name_nothing_are_text() -> None:
    reply = await replay(OfflineModel([otherwise.say('{"a": 1} {{user}} { }')]), "x")
    assert reply.text == '{"a": 1} {user} { }'


async def test_a_json_answer_is_filled_inside() -> None:
    reply = await replay(OfflineModel([when(r"(?P<n>\d+)").answer({"n": "{n}", "all": ["{turn}"]})]), "take 5")
    assert json.loads(reply.text) == {"n": "5", "all": [1]}


@pytest.mark.parametrize("template", ["{nobody}", "{result}", "{result.id}", "{results.look_up}", "{user.name}"])
async def test_a_template_that_names_what_is_not_there_is_rejected(template: str) -> None:
    with pytest.raises(ModelError, match="not known") as caught:
        await replay(OfflineModel([otherwise.say(template)]), "x")
    assert (caught.value.code, caught.value.retryable) == ("model_rejected", False)


async def test_no_fitting_rule_is_rejected_with_a_hint() -> None:
    with pytest.raises(ModelError, match=r"no rule for 'hello'.*otherwise"):
        await replay(OfflineModel([when("bye").say("Bye")]), "hello")


async def test_the_same_request_gets_the_same_reply() -> None:
    model = OfflineModel(REFUNDS)
    assert await events_of(model, a_request("refund A-1")) == await events_of(model, a_request("refund A-1"))


async def test_a_function_may_decide() -> None:
    def decide(turn: Turn) -> Rule | str:
        return otherwise.call("look", q=turn.user) if not turn.results else f"Found {{{turn.results[0].text}}}"

    model = OfflineModel.from_function(decide)
    assert called(await replay(model, "keys")) == [("look", {"q": "keys"})]
    assert (await replay(model, "keys", assistant(), answered("look", "user"))).text == "Found {user}"


async def test_a_function_may_wait() -> None:
    async def decide(turn: Turn) -> str:
        await asyncio.sleep(0)
        return turn.user.upper()

    assert (await replay(OfflineModel.from_function(decide), "hey")).text == "HEY"


async def test_what_a_function_raises_is_raised() -> None:
    def decide(_turn: Turn) -> str:
        raise RuntimeError("a bug in a model")

    with pytest.raises(RuntimeError, match="a bug"):
        await replay(OfflineModel.from_function(decide), "x")


async def test_a_long_history_is_not_read_for_one_reply() -> None:
    class Counted(list[Message]):
        reads = 0

        def __getitem__(self, index: Any) -> Any:
            self.reads += 1
            return super().__getitem__(index)

        def __iter__(self) -> Any:
            raise AssertionError("the whole history was read")

    old: list[Message | str] = ["old", assistant(TextPart("yes"))]
    history = Counted(a_request(*old * 500, "refund A-1").messages)
    await events_of(OfflineModel(REFUNDS), ModelRequest(None, history))
    assert history.reads < 10


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


async def test_without_rules_it_makes_small_talk_and_remembers_a_name() -> None:
    model = OfflineModel()
    said: list[Message | str] = []

    async def say(text: str) -> str:
        said.append(text)
        reply = await replay(model, *said)
        said.append(assistant(*reply.content))
        return reply.text

    assert await say("Hello") == "Hello! What is your name?"
    assert await say("what is my name?") == "You have not told me your name yet."
    assert "Ada" in await say("My name is Ada")
    assert await say("What's my name?") == "Your name is Ada."
    assert await say("hey, I'm tired") == "Hello, Ada!"
    assert "offline model" in await say("Who are you?")
    assert await say("what did I say?") == 'You said: "Who are you?"'
    assert "offline" in await say("Where is order {x}?")
    assert await say("Thanks!") == "You are welcome."


async def test_without_rules_it_reads_out_what_a_tool_answered() -> None:
    assert (await replay(OfflineModel(), "x", assistant(), answered("clock", "12:00"))).text == "clock: 12:00"
