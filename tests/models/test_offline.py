"""The offline model: rules, templates, scripts as data, faults, and small talk."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from clew_engine.messages import Message, TextPart
from clew_engine.models import (
    ModelError,
    ModelRequest,
    OfflineModel,
    ReasoningChunk,
    Rule,
    TextChunk,
    Turn,
    after,
    otherwise,
    when,
)
from tests.models.asking import a_request, assistant, events_of
from tests.models.offline_turns import answered, called, replay

REFUNDS = [
    when(r"refund.*(?P<order_id>A-\d+)").say("Looking up {order_id}.").call("look_up", order_id="{order_id}"),
    after("look_up", is_error=True).say("There is no order {order_id}."),
    after("look_up").call("refund", order_id="{result.id}", amount="{result.total}"),
    after("refund", outcome="rejected").say("It was not approved: {result}"),
    after("refund").say("Refunded {results.look_up.total} for {order_id}."),
    otherwise.say("I can only refund orders."),
]


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
