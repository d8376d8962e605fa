"""Messages and JSON between the wire and plain dicts."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from clew import ArgumentInvalidError, StateInvalidError
from clew.json_text import decode_json, encode_json
from clew.messages import content_of, message_of
from clew.v1 import message_pb2 as pb


def test_a_plain_reply_reads_as_a_dict() -> None:
    wire = pb.Message(
        id="m2.1",
        role=pb.ROLE_ASSISTANT,
        content=[pb.Part(text=pb.TextPart(text="Hello"))],
        position=3,
        version=2,
        create_time=Timestamp(seconds=1, nanos=5_000_000),
        model="offline",
        usage=pb.Usage(input_tokens=3, output_tokens=4, reasoning_tokens=1),
        finish_reason="stop",
        provider=pb.Provider(name="maker", id="resp_1", details_json='{"tier":1}'),
        metadata_json='{"k":9007199254740993}',
    )
    assert message_of(wire) == {
        "id": "m2.1",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello"}],
        "created_at_ms": 1005,
        "position": 3,
        "version": 2,
        "model": "offline",
        "usage": {
            "input_tokens": 3,
            "output_tokens": 4,
            "cached_input_tokens": 0,
            "cache_write_tokens": 0,
            "reasoning_tokens": 1,
            "total_tokens": 7,
        },
        "finish_reason": "stop",
        "provider": {"name": "maker", "response_id": "resp_1", "details": {"tier": 1}},
        "metadata": {"k": 2**53 + 1},
    }


def view(part: pb.Part) -> dict[str, Any]:
    (only,) = message_of(pb.Message(content=[part]))["content"]
    return dict(only)


def test_the_arguments_of_a_call_are_parsed() -> None:
    call = pb.ToolCall(id="call_2_1", name="refund", arguments_json='{"amount":12}')
    assert view(pb.Part(tool_call=call)) == {
        "type": "tool_call",
        "id": "call_2_1",
        "name": "refund",
        "args": {"amount": 12},
    }


@pytest.mark.parametrize("text", ['{"amount":', "", "[" * 100_000])
def test_arguments_that_are_no_json_come_as_the_model_wrote_them(text: str) -> None:
    assert view(pb.Part(tool_call=pb.ToolCall(id="c", name="n", arguments_json=text)))["args"] == text


def test_a_result_tells_how_the_call_ended() -> None:
    result = pb.ToolResult(
        tool_call_id="call_2_1",
        name="refund",
        content=[pb.Part(text=pb.TextPart(text="paid"))],
        structured_json="null",
        outcome=pb.TOOL_OUTCOME_DONE,
    )
    assert view(pb.Part(tool_result=result)) == {
        "type": "tool_result",
        "tool_call_id": "call_2_1",
        "name": "refund",
        "content": [{"type": "text", "text": "paid"}],
        "is_error": False,
        "outcome": "done",
        "structured": None,
    }


def test_media_data_and_unknown_parts_are_readable() -> None:
    image = pb.MediaPart(mime_type="image/png", data=b"\x00\x01", name="a.png")
    assert view(pb.Part(id="p", image=image)) == {
        "type": "image",
        "mime_type": "image/png",
        "data": "AAE=",
        "name": "a.png",
        "part_id": "p",
    }
    assert view(pb.Part(data_json="[1.0,null]")) == {"type": "data", "data": [1.0, None]}
    assert view(pb.Part(unknown_json='{"type":"hologram","x":1}')) == {"type": "hologram", "x": 1}
    assert view(pb.Part(unknown_json="7")) == {"type": "unknown"}


def test_a_part_of_a_kind_that_is_not_known_is_left_out() -> None:
    assert message_of(pb.Message(content=[pb.Part(), pb.Part(text=pb.TextPart(text="a"))]))["content"] == [
        {"type": "text", "text": "a"}
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "look:\x00"},
        {"type": "image", "mime_type": "image/png", "data": "AAE=", "name": "a.png"},
        {"type": "document", "mime_type": "text/plain", "uri": "https://example.org/a"},
        {"type": "audio", "mime_type": "audio/wav", "file_id": "f-1"},
        {"type": "data", "data": {"n": 2**53 + 1}},
    ],
)
def test_what_is_sent_reads_back_the_same(part: dict[str, Any]) -> None:
    (wire,) = content_of([part])
    assert view(wire) == part


def test_bytes_may_be_sent_as_they_are() -> None:
    (wire,) = content_of([{"type": "image", "mime_type": "image/png", "data": b"\x00\x01"}])
    assert wire.image.data == b"\x00\x01"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_call", "id": "x"},
        {"type": "text"},
        {"type": "text", "text": 7},
        {"type": "image", "mime_type": "image/png", "data": "not base64!"},
        {},
    ],
)
def test_a_part_that_cannot_be_sent_is_named(part: dict[str, Any]) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        content_of([{"type": "text", "text": "ok"}, part])
    assert raised.value.field == "content.parts[1]"


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 10**300, 1.0, "ü\x00", None, {"a": [1, {"b": True}]}])
def test_json_keeps_values_as_they_are(value: object) -> None:
    back = decode_json(encode_json(value, "state"))
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object(), {1, 2}, b"bytes"])
def test_what_json_cannot_say_is_refused_before_it_is_sent(value: object) -> None:
    with pytest.raises(StateInvalidError) as raised:
        encode_json({"key": value}, "state_json")
    assert raised.value.field == "state_json"
