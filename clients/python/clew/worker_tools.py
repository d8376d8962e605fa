"""Tools as a worker offers them: functions, what a model is told of them, and how their calls come and go."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack, cast

from clew.errors import ArgumentInvalidError, ClewError
from clew.json_text import encode_json, encode_object
from clew.messages import Part, content_of
from clew.v1 import worker_pb2 as pb

_CALL: contextvars.ContextVar[ToolCall] = contextvars.ContextVar("clew_tool_call")
# The longest that a server waits between two tries.
_HOUR_MS = 3_600_000
Report = Callable[[str], Awaitable[None]]


class ToolError(Exception):
    """Raise it to say, for the model to read, what was wrong. With `retryable` the call is tried again while the tool has tries left.

    Whatever else a tool raises is told by its type and text, and is retryable. `retry_after` is seconds.
    """

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


@dataclass(frozen=True)
class ToolContent:
    """Return it to give the model parts to read, such as an image; see `Message` for what a part is. Anything else that a tool returns is JSON, or text."""

    parts: Sequence[Part]


@dataclass(frozen=True)
class ToolCall:
    """The call that a tool is being run for: `clew.current_call()`.

    `idempotency_key` is the same for every try of this call: hand it to whatever has the effect. `delivery` counts from 1 how often it was
    given to a worker; `deadline` is when its time is over, or None.
    """

    tool: str
    thread_id: str
    run_id: str
    tool_call_id: str
    idempotency_key: str
    actor: str
    delivery: int
    deadline: datetime | None
    _report: Report = field(repr=False, compare=False)

    async def report(self, progress: Any) -> None:
        """Tell those who watch the thread how far the call is: any JSON value up to 64 KiB. One that cannot be told just now is dropped."""
        await self._report(encode_json(progress, "progress"))


def current_call() -> ToolCall:
    """The call that this code is run for. Raises LookupError outside of a tool."""
    return _CALL.get()


@dataclass(frozen=True)
class OfferedTool:
    """A function, and what is said of it."""

    function: Callable[..., Any]
    offer: pb.WorkerTool

    async def run(self, arguments: Mapping[str, Any], call: ToolCall) -> pb.CallResult:
        """What the function gives. Raises whatever it raises, and ArgumentInvalidError for what no result is."""
        _CALL.set(call)
        if inspect.iscoroutinefunction(self.function):
            result = await self.function(**arguments)
        else:
            result = await asyncio.to_thread(self.function, **arguments)
            if inspect.isawaitable(result):
                result = await result
        try:
            return _result(result)
        except ClewError as error:
            raise ToolError(error.message) from None


class ToolSettings(TypedDict, total=False):
    """What may be said of a tool; see `Worker.tool`."""

    name: str | None
    description: str | None
    parameters: Mapping[str, Any] | None
    once: bool
    timeout: float | None
    max_calls: int
    max_tries: int


def offered(function: Callable[..., Any], **settings: Unpack[ToolSettings]) -> OfferedTool:
    """A function as a tool. Raises ArgumentInvalidError."""
    if unknown := sorted(settings.keys() - ToolSettings.__annotations__.keys()):
        raise _refused(unknown[0], f"a tool has no such setting; it has {', '.join(ToolSettings.__annotations__)}")
    if not callable(function):
        raise _refused("tool", f"a function is due here, not {type(function).__name__}")
    parameters, timeout = settings.get("parameters"), settings.get("timeout")
    schema = _schema(function) if parameters is None else parameters
    offer = pb.WorkerTool(
        name=settings.get("name") or function.__name__,
        description=inspect.cleandoc(settings.get("description") or function.__doc__ or ""),
        parameters_schema_json=encode_object(schema, "parameters"),
        once=settings.get("once", False),
        max_calls=settings.get("max_calls", 0),
        max_tries=settings.get("max_tries", 1),
    )
    if timeout is not None:
        if timeout <= 0:
            raise _refused("timeout", f"seconds over 0 are due here, not {timeout!r}; leave it out for none")
        offer.timeout.FromMilliseconds(max(1, round(timeout * 1000)))
    return OfferedTool(function, offer)


def failed(error: BaseException) -> pb.CallError:
    """What is told of a tool that raised."""
    if isinstance(error, ToolError):
        told = pb.CallError(message=cut(str(error) or "the tool failed"), retryable=error.retryable)
        if error.retry_after is not None:
            told.retry_after.FromMilliseconds(min(_HOUR_MS, max(0, round(error.retry_after * 1000))))
        return told
    return pb.CallError(message=cut(f"{type(error).__name__}: {error}"), retryable=True)


def call_of(wire: pb.WorkerCall, report: Report) -> ToolCall:
    """A call as its tool may know it."""
    return ToolCall(
        tool=wire.tool,
        thread_id=wire.name.thread_id,
        run_id=wire.run_id,
        tool_call_id=wire.tool_call_id,
        idempotency_key=wire.name.idempotency_key,
        actor=wire.actor,
        delivery=wire.delivery,
        deadline=wire.expire_time.ToDatetime(UTC) if wire.HasField("expire_time") else None,
        _report=report,
    )


def _result(value: Any) -> pb.CallResult:
    """Text and parts as content, everything else as JSON."""
    if isinstance(value, str):
        value = ToolContent([{"type": "text", "text": value}])
    if isinstance(value, ToolContent):
        return pb.CallResult(content=content_of(value.parts))
    return pb.CallResult(structured_json=encode_json(value, "result"))


def _schema(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The JSON schema of a function's parameters, by pydantic."""
    try:
        import pydantic  # noqa: PLC0415 - a worker that gives its schemas needs none
    except ImportError:
        name = getattr(function, "__name__", "the tool")
        message = f"give the JSON schema of the arguments of {name}, or install pydantic (`pip install 'clew[worker]'`)"
        raise _refused("parameters", message) from None
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(cast("Any", function))
        schema = adapter.json_schema()
    except (pydantic.errors.PydanticUserError, NameError) as error:
        raise _refused("parameters", f"no JSON schema says what it takes: {error}"[:500]) from None
    if schema.get("type") != "object":
        raise _refused("parameters", "a model gives arguments by their names: no parameter may be positional alone")
    return schema


def cut(text: str) -> str:
    """What a model is told, within what a server takes."""
    encoded = text.encode(errors="replace")
    return (
        text.encode(errors="replace").decode() if len(encoded) <= 4096 else encoded[:4093].decode(errors="ignore") + "…"
    )


def _refused(field_: str, text: str) -> ArgumentInvalidError:
    return ArgumentInvalidError(f"{field_}: {text}", metadata={"field": field_})
