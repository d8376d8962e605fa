"""The stored message: what it refuses, what its bytes cost, and that nothing is lost in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Part,
    Provider,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
    content_of,
    user_message,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))  # every character, NUL too, but no half of a pair
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
raw_json = st.sampled_from([b"1.0", b'{"a":9007199254740993000000000}', b'[1e400, "\\u0000"]', b"null", b"{"])
providers = st.builds(Provider, texts, st.none() | texts, st.none() | texts, st.none() | json_objects)
strangers = st.none() | st.dictionaries(st.sampled_from(["x_new", "x_newer"]), json_values, min_size=1)
common: dict[str, Any] = {
    "part_id": st.none() | texts,
    "provider": st.none() | providers,
    "extra": strangers,
}
media = st.builds(MediaPart, st.sampled_from(["image", "audio", "video", "document"]), texts, st.binary(), **common)
links = st.builds(MediaPart, st.just("image"), texts, uri=texts, name=st.none() | texts, **common)
files = st.builds(MediaPart, st.just("document"), texts, file_id=texts, **common)
plain = st.builds(TextPart, texts, **common)
values = st.builds(DataPart, raw_json, **common)
unknowns = st.sampled_from([UnknownPart(b'{"type":"hologram","depth":3}'), UnknownPart(b'{"type":"scent"}')])
results = st.builds(
    ToolResultPart,
    texts,
    texts,
    st.lists(plain | media | values | unknowns, max_size=3).map(tuple),
    st.none() | raw_json,
    st.booleans(),
    st.sampled_from(["done", "failed", "rejected", "cancelled", "unknown"]),
    **common,
)
calls = st.builds(ToolCallPart, texts, texts, texts, **common)
thoughts = st.builds(ReasoningPart, texts, **common)
parts: st.SearchStrategy[Part] = st.one_of(plain, media, links, files, values, unknowns, results, calls, thoughts)
counts = st.integers(0, 2**53)
messages = st.builds(
    Message,
    texts,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(parts, max_size=4).map(tuple),
    counts,
    counts,
    counts,
    model=st.none() | texts,
    usage=st.none() | st.builds(Usage, counts, counts, counts, counts, counts),
    finish_reason=st.none() | texts,
    provider=st.none() | providers,
    metadata=st.none() | json_objects,
    extra=strangers,
)


def decoded(message: Message, body: bytes) -> Message:
    return decode_message(
        body,
        message_id=message.id,
        created_at_ms=message.created_at_ms,
        position=message.position,
        version=message.version,
    )


@given(messages)
def test_every_message_survives_its_bytes(message: Message) -> None:
    assert decoded(message, encode_message(message)) == message


@given(messages)
def test_the_view_of_every_message_is_plain_json(message: Message) -> None:
    json.dumps(message.as_dict(reasoning=True))


def test_a_short_text_costs_less_than_40_bytes_beside_itself() -> None:
    for message in (user_message("hello"), replace(user_message("hello"), role="assistant")):
        assert len(encode_message(message)) - len("hello") < 40


def test_the_columns_of_the_row_are_not_in_the_body() -> None:
    body = encode_message(replace(user_message("x", message_id="m7.1"), created_at_ms=5, position=6, version=7))
    assert json.loads(body) == {"role": "user", "text": "x"}


def test_raw_json_keeps_every_digit() -> None:
    message = Message("m", "tool", (ToolResultPart("c", "t", (), b'{"n": 9007199254740993.0}'), DataPart(b"1e0")), 0)
    again = decoded(message, encode_message(message))
    assert again.tool_results[0].structured == b'{"n": 9007199254740993.0}'
    assert again.content[1] == DataPart(b"1e0")


def test_what_a_newer_writer_added_survives_an_older_one() -> None:
    body = b'{"role":"user","content":[{"text":"a","mood":1},{"type":"hologram","depth":3}],"stars":[5]}'
    message = decode_message(body, message_id="m", created_at_ms=0)
    assert message.text == "a"
    assert json.loads(encode_message(message)) == json.loads(body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"role":"user"}',
        b'{"role":"king","text":"x"}',
        b'{"text":"x"}',
        b'{"role":"user","content":[7]}',
        b'{"role":"user","content":[{"type":"tool_call","id":"x"}]}',
        b'{"role":"user","text":1}',
        b'{"role":"user","text":"x","usage":{"in":-1}}',
        b'{"role":"user","content":[{"type":"image","mime":"x","data":"%"}]}',
    ],
)
def test_bytes_that_no_version_wrote_are_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_message(body, message_id="m", created_at_ms=0)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("text has a lone surrogate", lambda: TextPart("a\ud800")),
    ("text must be text", lambda: TextPart(7)),  # type: ignore[arg-type]
    ("reasoning has a lone surrogate", lambda: ReasoningPart("\udfff")),
    ("args must be text", lambda: ToolCallPart("c", "t", {})),  # type: ignore[arg-type]
    ("name has a lone surrogate", lambda: ToolCallPart("c", "\ud83d", "{}")),
    ("kind must be one of", lambda: MediaPart("smell", "x/y", b"")),  # type: ignore[arg-type]
    ("image needs exactly one of", lambda: MediaPart("image", "image/png")),
    ("image needs exactly one of", lambda: MediaPart("image", "image/png", b"x", uri="https://x")),
    ("data must be bytes", lambda: MediaPart("image", "image/png", "x")),  # type: ignore[arg-type]
    ("structured is not UTF-8", lambda: ToolResultPart("c", "t", (), b"\xff")),
    ("structured must be JSON bytes", lambda: ToolResultPart("c", "t", (), {"a": 1})),  # type: ignore[arg-type]
    ("outcome must be one of", lambda: ToolResultPart("c", "t", outcome="maybe")),  # type: ignore[arg-type]
    ("is_error must be", lambda: ToolResultPart("c", "t", is_error=1)),  # type: ignore[arg-type]
    (r"content\[0\] cannot be a ToolCallPart", lambda: ToolResultPart("c", "t", (ToolCallPart("c", "t", ""),))),
    ("usage.input_tokens must be", lambda: Usage(-1)),
    ("usage.output_tokens must be", lambda: Usage(0, True)),
    ("provider.signature has a lone surrogate", lambda: Provider("p", signature="\ud800")),
    ("role must be one of", lambda: Message("m", "king", (), 0)),  # type: ignore[arg-type]
    ("content must be a tuple", lambda: Message("m", "user", "hello", 0)),  # type: ignore[arg-type]
    (r"content\[1\] cannot be a str", lambda: user_message([TextPart("a"), "b"])),  # type: ignore[list-item]
    ("content must be text or parts", lambda: user_message(b"raw")),  # type: ignore[arg-type]
    ("created_at_ms must be", lambda: Message("m", "user", (), -1)),
]


@pytest.mark.parametrize(("match", "make"), REFUSED, ids=[f"{n}-{match[:24]}" for n, (match, _) in enumerate(REFUSED)])
def test_an_invalid_shape_is_refused_with_its_field(match: str, make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize(
    ("match", "metadata"),
    [
        (r"metadata\.a must be a finite number", {"a": float("nan")}),
        (r"metadata\.a\[1\] must be a finite number", {"a": [1, float("inf")]}),
        (r"metadata\.a must be a JSON value, not bytes", {"a": b"x"}),
        ("cannot be stored", {"a": 2**64}),
        ("cannot be stored", {"a": "\ud800"}),
        ("cannot be stored", {7: 1}),
    ],
)
def test_metadata_that_json_cannot_hold_is_refused(match: str, metadata: Any) -> None:
    with pytest.raises(ValueError, match=match):
        encode_message(user_message("x", metadata=metadata))


def test_a_plain_reply_is_read_as_people_expect() -> None:
    message = Message("m", "assistant", (ReasoningPart("hm"), TextPart("Hello"), TextPart(" there")), 5, 1, 2)
    assert message.as_dict()["content"][0]["text"] == "Hello"
    assert message.text == "Hello there"
    assert message.as_dict(reasoning=True)["content"][0] == {"type": "reasoning", "reasoning": "hm"}


def test_the_view_parses_arguments_that_are_json_and_leaves_the_others() -> None:
    content = (
        ToolCallPart("c1", "t", '{"n":9007199254740993}'),
        ToolCallPart("c2", "t", '{"n":'),
        ToolCallPart("c3", "t", "NaN"),
    )
    views = Message("m", "assistant", content, 0).as_dict()["content"]
    assert [view["args"] for view in views] == [{"n": 9007199254740993}, '{"n":', "NaN"]


def test_the_view_of_arguments_nested_beyond_reason_is_their_text() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    assert Message("m", "assistant", (ToolCallPart("c", "t", deep),), 0).as_dict()["content"][0]["args"] == deep


def test_the_view_says_what_a_reader_needs() -> None:
    message = Message(
        "m2.1",
        "assistant",
        (ToolResultPart("c", "t", (TextPart("no"),), b'{"a":1}', True, "failed"),),
        5,
        6,
        7,
        "gpt",
        Usage(3, 4),
        "stop",
        Provider("openai", "resp_1"),
        {"k": 1},
    )
    assert message.as_dict() == {
        "id": "m2.1",
        "role": "assistant",
        "content": [
            {
                "type": "tool_result",
                "tool_call_id": "c",
                "name": "t",
                "content": [{"type": "text", "text": "no"}],
                "structured": {"a": 1},
                "is_error": True,
                "outcome": "failed",
            }
        ],
        "created_at_ms": 5,
        "position": 6,
        "version": 7,
        "model": "gpt",
        "usage": {
            "input_tokens": 3,
            "output_tokens": 4,
            "cached_input_tokens": 0,
            "cache_write_tokens": 0,
            "reasoning_tokens": 0,
            "total_tokens": 7,
        },
        "finish_reason": "stop",
        "provider": {"name": "openai", "response_id": "resp_1"},
        "metadata": {"k": 1},
    }


def test_content_is_made_of_text_a_part_or_parts() -> None:
    assert content_of("a") == content_of(TextPart("a")) == content_of([TextPart("a")]) == (TextPart("a"),)


def test_messages_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        user_message("x").role = "system"  # type: ignore[misc]


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(10, 20, 30, 40, 50) == Usage(11, 22, 33, 44, 55)
