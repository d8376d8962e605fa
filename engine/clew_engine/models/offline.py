"""The model that ships with the project: deterministic, scripted, and in need of no key and no network."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from clew_engine.messages import Part, ReasoningPart, TextPart, ToolCallPart, Usage
from clew_engine.models.offline_chat import chat
from clew_engine.models.offline_rules import Action, Answer, Call, Fail, Hang, Rule, Say, Think, Turn, otherwise
from clew_engine.models.offline_script import rules_of
from clew_engine.models.offline_templates import Names, TemplateNameError
from clew_engine.models.port import ModelError, ModelEvent, ModelRequest, ModelResponse, ReasoningChunk, TextChunk

Reply = str | Rule
ReplyFunction = Callable[[Turn], Reply | Awaitable[Reply]]

_WORD = re.compile(r"\s*\S+\s*?|\s+")


class OfflineModel:
    """A model that follows rules; without rules, it makes simple conversation.

    Nothing is kept between requests but how often a `fail(times=…)` has failed.
    """

    def __init__(self, rules: Sequence[Rule] | None = None, *, name: str = "offline", delay_ms: float = 0) -> None:
        self._name = name
        self._delay_ms = delay_ms
        self._rules = tuple(rules or ())
        self._choose: ReplyFunction = chat if rules is None else self._first_that_fits
        self._failures: Counter[tuple[Fail, str]] = Counter()

    @classmethod
    def from_function(cls, function: ReplyFunction, *, name: str = "offline", delay_ms: float = 0) -> OfflineModel:
        """A model whose replies a function makes, from a Turn: a text, or actions such as `otherwise.call(…)`."""
        model = cls((), name=name, delay_ms=delay_ms)
        model._choose = function
        return model

    @classmethod
    def from_data(cls, data: Any, *, name: str = "offline", delay_ms: float = 0) -> OfflineModel:
        """A model of a script in plain JSON values; `offline_script` describes them."""
        return cls(rules_of(data), name=name, delay_ms=delay_ms)

    @property
    def name(self) -> str:
        """What is stored beside its replies."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The chunks of the reply that the rules give, and the response. Raises ModelError."""
        turn = Turn(request)
        chosen = self._choose(turn)
        if inspect.isawaitable(chosen):
            chosen = await chosen
        rule = otherwise.say(_escaped(chosen)) if isinstance(chosen, str) else chosen
        names = Names(turn, rule, self._rules)
        delay_s = (self._delay_ms if rule.delay_ms is None else rule.delay_ms) / 1000
        parts: list[Part] = []
        for action in rule.actions:
            if isinstance(action, Fail | Hang):
                await self._misbehave(action, turn)
                continue
            part = _part(action, names, len(parts))
            for chunk in _chunks(part, len(parts)):
                await asyncio.sleep(delay_s)
                yield chunk
            parts.append(part)
        await asyncio.sleep(delay_s)
        yield self._response(tuple(parts), rule, turn)

    def _first_that_fits(self, turn: Turn) -> Rule:
        for rule in self._rules:
            if rule.condition.holds(turn):
                return rule
        answered = ", ".join(result.name for result in turn.latest)
        what = f"an answer of {answered}" if answered else repr(turn.user[:200])
        message = f"The offline model has no rule for {what}; end its rules with `otherwise`."
        raise ModelError("model_rejected", message, retryable=False)

    async def _misbehave(self, action: Fail | Hang, turn: Turn) -> None:
        if isinstance(action, Hang):
            await asyncio.Event().wait()
            return
        met = (action, turn.user)
        if action.times is not None:
            if self._failures[met] >= action.times:
                return
            self._failures[met] += 1
        raise ModelError(action.code, action.message, retryable=action.retryable, retry_after_s=action.retry_after_s)

    def _response(self, parts: tuple[Part, ...], rule: Rule, turn: Turn) -> ModelResponse:
        calls = any(isinstance(part, ToolCallPart) for part in parts)
        return ModelResponse(
            content=parts,
            usage=Usage(turn.words, sum(_words(part) for part in parts)),
            finish_reason=rule.finish_reason or ("tool_call" if calls else "stop"),
            model=self._name,
        )


def _part(action: Action, names: Names, index: int) -> Part:
    try:
        match action:
            case Say(text):
                return TextPart(names.fill_text(text))
            case Think(text):
                return ReasoningPart(names.fill_text(text))
            case Answer(value):
                return TextPart(_json(names.fill(value)))
            case Call(name, args, call_id):
                # Ids repeat from one response to the next, as those of some providers do.
                text = args if isinstance(args, str) else _json(names.fill(args))
                return ToolCallPart(call_id or f"call_{index}", name, text)
            case _:
                raise TypeError(f"{action!r} makes no part")
    except TemplateNameError as error:
        raise ModelError("model_rejected", f"A rule of the offline model failed: {error}", retryable=False) from None


def _chunks(part: Part, index: int) -> list[ModelEvent]:
    """The part word by word."""
    if isinstance(part, TextPart):
        return [TextChunk(index, word) for word in _WORD.findall(part.text)]
    if isinstance(part, ReasoningPart):
        return [ReasoningChunk(index, word) for word in _WORD.findall(part.reasoning)]
    return []


def _words(part: Part) -> int:
    match part:
        case TextPart(text) | ReasoningPart(text):
            return len(text.split())
        case ToolCallPart():
            return 1 + len(part.args.split())
        case _:
            return 0


def _escaped(text: str) -> str:
    """A function's text is no template."""
    return text.replace("{", "{{").replace("}", "}}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
