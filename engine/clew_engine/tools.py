"""Tools: functions that a model may call, with the JSON schema that is read off their signature."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints, overload

import msgspec
import pydantic

from clew_engine.amounts import LONGEST_S, is_time
from clew_engine.author_threads import THREADS
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import JsonError, encode, parse_strict
from clew_engine.messages import DataPart, MediaPart, Part, TextPart
from clew_engine.models import ToolSpec

if TYPE_CHECKING:
    from clew_engine.call_desk import CallDesk

ApprovalRule = bool | Callable[[Mapping[str, Any]], bool]


class ToolArgumentError(Exception):
    """Arguments that do not fit the tool; the text is told to the model."""


class ToolResultError(Exception):
    """A result that cannot be kept; the text is told to the model."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of its call: declare a parameter of this type to get it.

    `idempotency_key` is the same for every try of this call: hand it to whatever has the effect.
    """

    thread_id: str
    run_id: str
    call_id: str
    idempotency_key: str
    actor: str
    state: Mapping[str, Any]
    tenant: str = ""
    thread_uid: str = ""
    desk: CallDesk | None = field(default=None, repr=False, compare=False)
    # Takes how far the call is, as JSON; and whether the run was asked to stop, so that nobody wants the outcome.
    tell: Callable[[bytes], None] = field(default=lambda _: None, repr=False, compare=False)
    stopped: Callable[[], bool] = field(default=lambda: True, repr=False, compare=False)
    # Whether an earlier attempt may have begun the call.
    resumed: bool = field(default=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A result as it is kept: parts for the model, and the JSON of a structured value; without parts the model reads the JSON."""

    content: tuple[Part, ...]
    structured: bytes | None = None


class Tool:
    """A named function with its schema.

    `once`: its start is recorded before it begins and it is never started again by itself. `approve`: True, or a function of the arguments, for
    calls that wait for a person. `timeout` in seconds ends a call with a failed outcome; None is none. Raises ArgumentInvalidError.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        once: bool = False,
        approve: ApprovalRule = False,
        timeout: float | None = None,
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        check_tool_name("tool.name", self.name)
        self.description = inspect.cleandoc(description or function.__doc__ or "")
        self.once = once
        self.approve = approve
        if timeout is not None and not is_time(timeout):
            raise ArgumentInvalidError(
                "tool.timeout",
                f"seconds over 0 (and at most {LONGEST_S:,}), or None for none, are due here, not {timeout!r}"[:200],
            )
        self.timeout = timeout
        self._is_async = inspect.iscoroutinefunction(function)
        self._context, self._model = _signature(self.name, function)
        self.parameters = _schema(self._model)

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(self.name, self.description, self.parameters)

    def needs_approval(self, args: str) -> bool:
        """Whether a call with these arguments waits for a person."""
        if isinstance(self.approve, bool):
            return self.approve
        return bool(self.approve(parse_strict(args or "{}")))

    def check(self, args: str) -> dict[str, Any]:
        """The arguments as the function takes them. Raises ToolArgumentError with what is wrong."""
        try:
            parse_strict(args or "{}")
            model = self._model.model_validate_json(args or "{}")
        except JsonError as error:
            raise ToolArgumentError(f"the arguments are not a JSON object: {error}") from None
        except pydantic.ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors()
            )
            raise ToolArgumentError(f"invalid arguments for {self.name}: {wrong}") from None
        return {info.alias or name: getattr(model, name) for name, info in type(model).model_fields.items()}

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Run the function on arguments that `check` gave. Raises ToolResultError or whatever the function raises."""
        values = {**arguments, self._context: context} if self._context else arguments
        if self._is_async:
            result = await self.function(**values)
        else:
            result = await THREADS.call(_called, self.function, values)
            if inspect.isawaitable(result):
                result = await result
        return output_of(result)


@overload
def tool(function: Callable[..., Any]) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    once: bool = False,
    approve: ApprovalRule = False,
    timeout: float | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, **settings: Any) -> Any:
    """Make a function a tool: `@tool`, or `@tool(once=True, approve=True, timeout=30)`."""
    if function is not None and not callable(function):
        raise ArgumentInvalidError("tool", f"a function is due here, not {type(function).__name__}")
    if function is not None:
        return Tool(function)
    return lambda decorated: Tool(decorated, **settings)


def check_tool_name(field: str, name: str) -> None:
    """Raises ArgumentInvalidError for what no tool is named."""
    if not name.isascii() or not name.replace("_", "a").replace("-", "a").isalnum() or len(name) > 64:
        raise ArgumentInvalidError(field, f"{name!r}"[:100] + " is not 1 to 64 letters, digits, _ or -")


def as_tool(value: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or a plain function as a tool."""
    return value if isinstance(value, Tool) else Tool(value)


def output_of(result: Any) -> ToolOutput:
    """A function's result as it is kept: text, parts, or any JSON value. Raises ToolResultError for what storage must refuse."""
    if isinstance(result, ToolOutput):
        return result
    if isinstance(result, TextPart | MediaPart | DataPart):
        return ToolOutput((result,))
    if isinstance(result, str):
        try:
            result.encode()
        except UnicodeEncodeError:
            raise ToolResultError("the tool returned text with a lone surrogate") from None
        return ToolOutput((TextPart(result),))
    if isinstance(result, bytes | bytearray | memoryview):
        raise ToolResultError("the tool returned bytes; return text, a JSON value or a media part")
    try:
        structured = encode(_plain(result))
    except (JsonError, pydantic.ValidationError) as error:
        raise ToolResultError(f"the tool returned what JSON cannot hold: {error}") from None
    return ToolOutput((), structured)


def _called(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    return function(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    return value


def _signature(name: str, function: Callable[..., Any]) -> tuple[str | None, type[pydantic.BaseModel]]:
    hints = get_type_hints(function, include_extras=True)
    context: str | None = None
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ArgumentInvalidError(
                f"tool.{name}", f"parameter {parameter.name!r} has no name of its own that a model could fill"
            )
        kind = hints.get(parameter.name, Any)
        if kind is ToolContext:
            context = parameter.name
            continue
        # The model's own attributes (`copy`, `json`, …) and underscores are no names for its fields, but fine for parameters.
        aliased = Annotated[kind, pydantic.Field(alias=parameter.name)]  # type: ignore[valid-type]
        fields[f"field_{len(fields)}"] = (aliased, ... if parameter.default is parameter.empty else parameter.default)
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return context, pydantic.create_model(f"{name}_arguments", __config__=config, **fields)


def _schema(model: type[pydantic.BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    schema.pop("title", None)
    for described in schema.get("properties", {}).values():
        described.pop("title", None)
    return schema
