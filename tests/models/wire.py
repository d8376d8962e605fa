"""The streams of three providers' APIs, as their servers write them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from clew_engine.models import Model
from clew_engine.models.opening import ProviderModel, open_model
from tests.models.provider_server import ProviderServer, Served, refusal


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    args: str


@dataclass(frozen=True)
class Dialect:
    """One API: how to open a model of it, and the frames that it sends."""

    name: str
    spec: str
    path: str
    opened: Callable[[str], Model]
    start: Callable[[], list[bytes]]
    text: Callable[[Sequence[str]], list[bytes]]
    calls: Callable[[Sequence[Call]], list[bytes]]
    finish: Callable[[str], list[bytes]]
    failure: Callable[[], list[bytes]]
    refuse: Callable[[int, str, str], Served]

    def says(self, *chunks: str) -> list[bytes]:
        """A whole reply of text."""
        return [*self.start(), *self.text(chunks), *self.finish("stop")]

    def asks(self, *calls: Call) -> list[bytes]:
        """A whole reply of tool calls."""
        return [*self.start(), *self.calls(calls), *self.finish("tool_call")]


def data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\n".encode() + data(value)


# OpenAI's chat API


def _chat(choice: dict[str, Any] | None, **fields: Any) -> bytes:
    choices = [] if choice is None else [{"index": 0, "finish_reason": None, "delta": {}} | choice]
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "small-1", "choices": choices}
    return data(base | fields)


def _chat_calls(calls: Sequence[Call]) -> list[bytes]:
    frames = []
    for index, call in enumerate(calls):
        half = len(call.args) // 2
        first = {"index": index, "id": call.id, "type": "function"}
        first["function"] = {"name": call.name, "arguments": call.args[:half]}
        rest = {"index": index, "function": {"arguments": call.args[half:]}}
        frames += [_chat({"delta": {"tool_calls": [part]}}) for part in (first, rest)]
    return frames


def _chat_finish(reason: str) -> list[bytes]:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    word = "tool_calls" if reason == "tool_call" else reason
    return [_chat({"finish_reason": word}), _chat(None, usage=usage), b"data: [DONE]\n\n"]


def _openai_refuse(status: int, code: str, message: str) -> Served:
    return refusal(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})


CHAT = Dialect(
    name="openai-chat",
    spec="openai-chat:small",
    path="/v1/chat/completions",
    opened=lambda url: open_model("openai-chat:small", base_url=f"{url}/v1", api_key="key"),
    start=lambda: [_chat({"delta": {"role": "assistant", "content": ""}})],
    text=lambda chunks: [_chat({"delta": {"content": chunk}}) for chunk in chunks],
    calls=_chat_calls,
    finish=_chat_finish,
    failure=lambda: [data({"error": {"message": "it broke", "type": "server_error", "code": "server_error"}})],
    refuse=_openai_refuse,
)


# OpenAI's Responses API


def _responses(kind: str, **fields: Any) -> bytes:
    return event({"type": f"response.{kind}", "sequence_number": 0} | fields)


def _response(**fields: Any) -> dict[str, Any]:
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": "large-1", "output": [], "tools": []}
    return base | {"parallel_tool_calls": True, "tool_choice": "auto", "status": "in_progress"} | fields


def _responses_text(chunks: Sequence[str]) -> list[bytes]:
    whole = {"type": "output_text", "text": "".join(chunks), "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    return [
        _responses("output_item.added", output_index=0, item=item),
        _responses("content_part.added", **at, part=whole | {"text": ""}),
        *(_responses("output_text.delta", **at, delta=chunk, logprobs=[]) for chunk in chunks),
        _responses("output_text.done", **at, text=whole["text"], logprobs=[]),
        _responses("content_part.done", **at, part=whole),
        _responses("output_item.done", output_index=0, item=item | {"status": "completed", "content": [whole]}),
    ]


def _responses_calls(calls: Sequence[Call]) -> list[bytes]:
    return [frame for index, call in enumerate(calls) for frame in _responses_call(index, call)]


def _responses_call(index: int, call: Call) -> list[bytes]:
    half = len(call.args) // 2
    item = {"id": f"fc_{index}", "type": "function_call", "call_id": call.id, "name": call.name, "arguments": ""}
    at = {"item_id": f"fc_{index}", "output_index": index}
    deltas = (call.args[:half], call.args[half:])
    return [
        _responses("output_item.added", output_index=index, item=item | {"status": "in_progress"}),
        *(_responses("function_call_arguments.delta", **at, delta=part) for part in deltas),
        _responses("function_call_arguments.done", **at, arguments=call.args, name=call.name),
        _responses("output_item.done", output_index=index, item=item | {"arguments": call.args, "status": "completed"}),
    ]


def responses_reasoning(text: str, encrypted: str) -> list[bytes]:
    """A reasoning item with one summary and what only OpenAI can read."""
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "status": "in_progress"}
    at = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    part = {"type": "summary_text", "text": ""}
    done = item | {"summary": [part | {"text": text}], "encrypted_content": encrypted, "status": "completed"}
    return [
        _responses("output_item.added", output_index=0, item=item),
        _responses("reasoning_summary_part.added", **at, part=part),
        _responses("reasoning_summary_text.delta", **at, delta=text),
        _responses("output_item.done", output_index=0, item=done),
    ]


def _responses_finish(_reason: str) -> list[bytes]:
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    return [_responses("completed", response=_response(status="completed", usage=usage))]


RESPONSES = Dialect(
    name="openai",
    spec="openai:gpt-5",
    path="/v1/responses",
    opened=lambda url: open_model("openai:gpt-5", base_url=f"{url}/v1", api_key="key"),
    start=lambda: [_responses("created", response=_response())],
    text=_responses_text,
    calls=_responses_calls,
    finish=_responses_finish,
    failure=lambda: [
        event({"type": "error", "sequence_number": 3, "code": "server_error", "message": "it broke", "param": None})
    ],
    refuse=_openai_refuse,
)


# Anthropic's Messages API


def _anthropic_block(index: int, block: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> list[bytes]:
    return [
        event({"type": "content_block_start", "index": index, "content_block": block}),
        *(event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas),
        event({"type": "content_block_stop", "index": index}),
    ]


def _anthropic_start() -> list[bytes]:
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fine-1", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    return [event({"type": "message_start", "message": message})]


def _anthropic_text(chunks: Sequence[str]) -> list[bytes]:
    deltas = ({"type": "text_delta", "text": chunk} for chunk in chunks)
    return _anthropic_block(0, {"type": "text", "text": ""}, deltas)


def anthropic_thinking(text: str, signature: str) -> list[bytes]:
    """A thinking block and its signature."""
    deltas = [{"type": "thinking_delta", "thinking": text}, {"type": "signature_delta", "signature": signature}]
    return _anthropic_block(0, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def _anthropic_calls(calls: Sequence[Call]) -> list[bytes]:
    frames = []
    for index, call in enumerate(calls):
        half = len(call.args) // 2
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in (call.args[:half], call.args[half:])]
        frames += _anthropic_block(index, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas)
    return frames


def _anthropic_finish(reason: str) -> list[bytes]:
    delta = {"stop_reason": "tool_use" if reason == "tool_call" else "end_turn", "stop_sequence": None}
    return [
        event({"type": "message_delta", "delta": delta, "usage": {"input_tokens": 11, "output_tokens": 7}}),
        event({"type": "message_stop"}),
    ]


def _anthropic_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


ANTHROPIC = Dialect(
    name="anthropic",
    spec="anthropic:fine",
    path="/v1/messages",
    opened=lambda url: open_model("anthropic:fine", base_url=url, api_key="key"),
    start=_anthropic_start,
    text=_anthropic_text,
    calls=_anthropic_calls,
    finish=_anthropic_finish,
    failure=lambda: [event(_anthropic_error("api_error", "it broke"))],
    refuse=lambda status, code, message: refusal(status, _anthropic_error(code, message)),
)

DIALECTS = (CHAT, RESPONSES, ANTHROPIC)


@asynccontextmanager
async def opened(dialect: Dialect, server: ProviderServer) -> AsyncIterator[Model]:
    """A model of the dialect at the server, closed again."""
    found = dialect.opened(server.url)
    assert isinstance(found, ProviderModel)
    try:
        yield found
    finally:
        await found.aclose()
