"""Our messages as pydantic-ai's and back, part by part."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic_ai import messages as theirs

from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Outcome,
    Part,
    Provider,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    user_message,
)
from clew_engine.models.conversion import escaped, from_response, mended, to_history, to_parameters
from tests.models.asking import LOOK, a_request, assistant

HERE = "here"
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
details = st.none() | st.dictionaries(texts, st.integers(-(2**63), 2**64 - 1) | texts, min_size=1, max_size=2).map(
    lambda found: {f"x_{key}": value for key, value in found.items()}
)
said = st.builds(
    TextPart, texts, provider=st.none() | details.flatmap(lambda d: st.just(Provider(HERE, details=d) if d else None))
)
thought = st.builds(
    ReasoningPart, texts, provider=st.builds(Provider, st.just(HERE), st.none() | texts, texts, details)
)
drawn = st.builds(
    MediaPart,
    st.just("image"),
    st.just("image/png"),
    st.binary(min_size=1),
    provider=details.map(lambda d: Provider(HERE, details=d) if d else None),
)


@st.composite
def calls(draw: st.DrawFn) -> ToolCallPart:
    call_id = draw(texts)
    return ToolCallPart(call_id, draw(texts), draw(texts), provider=Provider(HERE, call_id, details=draw(details)))


replies = st.lists(st.one_of(said, thought, drawn, calls()), min_size=1, max_size=5)


@given(replies)
def test_what_a_model_said_comes_back_as_it_was_when_it_is_sent_to_it_again(content: list[Part]) -> None:
    (sent,) = to_history([replace(assistant(*content), model="m", provider=Provider(HERE, "r1"))], HERE)
    assert isinstance(sent, theirs.ModelResponse)
    assert from_response(sent, "m").content == tuple(content)


@given(replies)
def test_nothing_signed_goes_to_another_provider(content: list[Part]) -> None:
    for sent in to_history([assistant(*content)], "elsewhere"):
        for part in sent.parts:
            assert not isinstance(part, theirs.ThinkingPart)
            assert getattr(part, "provider_details", None) is None
            assert getattr(part, "provider_name", None) is None


def only_part(message: Message, system: str = HERE) -> Any:
    (sent,) = to_history([message], system)
    (part,) = sent.parts
    return part


def test_a_user_text_is_a_plain_prompt() -> None:
    assert only_part(user_message("Hi")).content == "Hi"


def test_a_system_message_is_a_system_prompt() -> None:
    part = only_part(Message("s", "system", (TextPart("Be kind."),), 0))
    assert isinstance(part, theirs.SystemPromptPart)
    assert part.content == "Be kind."


@pytest.mark.parametrize(
    ("kind", "mime", "url_class"),
    [
        ("image", "image/png", theirs.ImageUrl),
        ("audio", "audio/mpeg", theirs.AudioUrl),
        ("video", "video/mp4", theirs.VideoUrl),
        ("document", "application/pdf", theirs.DocumentUrl),
    ],
)
def test_media_go_out_as_an_address_as_bytes_or_as_a_file(kind: Any, mime: str, url_class: type) -> None:
    (url,) = only_part(user_message(MediaPart(kind, mime, uri="https://example.com/x"))).content
    assert (type(url), url.url, url.media_type) == (url_class, "https://example.com/x", mime)
    (binary,) = only_part(user_message(MediaPart(kind, mime, b"\x00\x01"))).content
    assert (binary.data, binary.media_type) == (b"\x00\x01", mime)
    (file,) = only_part(user_message(MediaPart(kind, mime, file_id="f1")), "openai").content
    assert (file.file_id, file.provider_name) == ("f1", "openai")


def test_a_file_at_another_provider_is_named_and_not_asked_for() -> None:
    file = MediaPart("document", "application/pdf", file_id="f1", name="bill.pdf", provider=Provider("elsewhere"))
    assert only_part(user_message(file)).content == "[document bill.pdf is kept at elsewhere and cannot be shown here]"


def test_a_file_where_no_files_are_kept_is_named() -> None:
    file = MediaPart("document", "application/pdf", file_id="f1")
    assert only_part(user_message(file)).content == "[document f1 is kept at here and cannot be shown here]"


def test_data_are_read_as_their_json() -> None:
    assert only_part(user_message(DataPart(b'{"n":1.0}'))).content == '{"n":1.0}'


def test_a_part_of_a_newer_version_is_left_out() -> None:
    assert only_part(user_message([TextPart("a"), UnknownPart(b'{"type":"scent"}')])).content == "a"


@pytest.mark.parametrize(
    ("outcome", "is_error", "expected"),
    [
        ("done", False, "success"),
        ("done", True, "failed"),
        ("failed", True, "failed"),
        ("rejected", True, "denied"),
        ("cancelled", True, "interrupted"),
        ("unknown", True, "interrupted"),
    ],
)
def test_every_outcome_of_a_call_has_its_word(outcome: Outcome, is_error: bool, expected: str) -> None:
    result = ToolResultPart("call_1_1", "look", (TextPart("a"), TextPart("b")), None, is_error, outcome)
    part = only_part(Message("t", "tool", (result,), 0))
    assert (part.tool_name, part.tool_call_id, part.content, part.outcome) == ("look", "call_1_1", "a\nb", expected)


def test_a_result_with_a_picture_keeps_both() -> None:
    result = ToolResultPart("c", "look", (TextPart("see"), MediaPart("image", "image/png", b"x")))
    text, picture = only_part(Message("t", "tool", (result,), 0)).content
    assert (text, picture.data) == ("see", b"x")


def test_a_structured_result_without_text_is_read_as_its_json() -> None:
    assert only_part(Message("t", "tool", (ToolResultPart("c", "look", (), b'{"a":1}'),), 0)).content == '{"a":1}'


def test_results_and_what_the_user_says_next_are_one_request() -> None:
    results = [Message("t", "tool", (ToolResultPart(f"c{n}", "look"),), 0) for n in (1, 2)]
    calls = assistant(ToolCallPart("c1", "look", "{}"), ToolCallPart("c2", "look", "{}"))
    history = to_history([user_message("Hi"), calls, *results, user_message("And?")], HERE)
    assert [type(message) for message in history] == [theirs.ModelRequest, theirs.ModelResponse, theirs.ModelRequest]
    assert len(history[2].parts) == 3


def test_an_empty_reply_is_left_out() -> None:
    assert len(to_history([user_message("Hi"), assistant(TextPart("")), user_message("Hello?")], HERE)) == 1


def test_control_characters_are_spelt_out_at_this_boundary() -> None:
    assert escaped("a\x00b\tc\nd\x1b[0m\x7f") == "a\\u0000b\tc\nd\\u001b[0m\\u007f"
    nul = TextPart("x\0y")
    history = to_history(
        [user_message(nul), assistant(nul), Message("t", "tool", (ToolResultPart("c", "t", (nul,)),), 0)], HERE
    )
    assert str(history).count("x\\\\u0000y") == 3


def test_instructions_tools_and_schema_are_parameters() -> None:
    schema = {"type": "object"}
    request = replace(a_request(tools=(LOOK,)), output_schema=schema, instructions="Be\0kind.")
    for native, mode in ((True, "native"), (False, "prompted")):
        parameters = to_parameters(request, native)
        assert [tool.name for tool in parameters.function_tools] == ["look"]
        assert parameters.function_tools[0].parameters_json_schema == dict(LOOK.parameters)
        assert [part.content for part in parameters.instruction_parts or ()] == ["Be\\u0000kind."]
        assert parameters.output_mode == mode
        assert parameters.output_object is not None
        assert parameters.output_object.json_schema == schema


@pytest.mark.parametrize(
    ("args", "expected"),
    [('{"a": 1}', '{"a": 1}'), ("{broken", "{broken"), (None, "{}"), ("", "{}"), ({"a": 1}, '{"a":1}')],
)
def test_arguments_are_kept_as_they_were_written(args: Any, expected: str) -> None:
    response = theirs.ModelResponse(parts=[theirs.ToolCallPart("look", args, "c")], provider_name=HERE)
    assert from_response(response, "m").tool_calls[0].args == expected


def test_details_of_a_provider_are_kept_as_json() -> None:
    response = theirs.ModelResponse(
        parts=[theirs.TextPart("a")],
        provider_name=HERE,
        provider_response_id="r1",
        provider_details={
            "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
            "finish_reason": "x",
            "safety": {"at": {1, 2}},
        },
    )
    provider = from_response(response, "asked-for").provider
    assert provider is not None
    assert (provider.name, provider.id) == (HERE, "r1")
    assert json.loads(json.dumps(provider.details)) == {"safety": {"at": "{1, 2}"}}


def test_parts_that_we_have_no_word_for_keep_their_place() -> None:
    response = theirs.ModelResponse(
        parts=[theirs.NativeToolCallPart("web_search", {}, "c"), theirs.TextPart("a")], provider_name=HERE
    )
    first, second = from_response(response, "m").content
    assert isinstance(first, UnknownPart)
    assert second == TextPart("a")


def test_details_that_cannot_be_stored_are_let_go() -> None:
    response = theirs.ModelResponse([theirs.TextPart("a")], provider_name=HERE, provider_details={"n": 2**70})
    assert from_response(response, "m").provider is None


@pytest.mark.parametrize(
    ("text", "expected"), [("\ud83d\ude00", "😀"), ("a\ud83d", "a�"), ("\ude00\ud83db", "��b"), ("plain é", "plain é")]
)
def test_surrogates_of_a_model_are_joined_or_replaced(text: str, expected: str) -> None:
    assert mended(text) == expected
    parts: list[theirs.ModelResponsePart] = [
        theirs.TextPart(text),
        theirs.ThinkingPart(text),
        theirs.ToolCallPart("t", text, "c"),
    ]
    said, thought, call = from_response(theirs.ModelResponse(parts), "m").content
    assert isinstance(said, TextPart)
    assert isinstance(thought, ReasoningPart)
    assert isinstance(call, ToolCallPart)
    assert said.text == thought.reasoning == call.args == expected
