r"""The rules of an offline model: when they apply, and what the model then does.

    when(r"refund (?P<order_id>A-\d+)").call("look_up_order", order_id="{order_id}")
    after("look_up_order").call("refund", order_id="{order_id}", amount="{result.total}")
    after("refund", outcome="rejected").say("The refund was not approved: {result}")
    otherwise.say("I can only refund orders.")

The first rule that fits is taken. Texts are templates; `offline_templates` says what they may name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from clew_engine.messages import Message, Outcome, ToolResultPart
from clew_engine.models.port import ModelErrorCode, ModelRequest


@dataclass(frozen=True)
class Turn:
    """What a rule sees of a request: the last thing the user said, and what came back from tools since."""

    request: ModelRequest

    @cached_property
    def user(self) -> str:
        """The last user message's text."""
        return self._since[0].text if self._since else ""

    @cached_property
    def results(self) -> tuple[ToolResultPart, ...]:
        """Every outcome since the user spoke, oldest first."""
        return tuple(result for message in self._since for result in message.tool_results)

    @cached_property
    def latest(self) -> tuple[ToolResultPart, ...]:
        """The outcomes since the model last spoke: those of its last calls."""
        found: list[ToolResultPart] = []
        for message in reversed(self._since):
            if message.role == "assistant":
                break
            found[:0] = message.tool_results
        return tuple(found)

    @cached_property
    def number(self) -> int:
        """The turn of the conversation, from 1. Reads the whole history, so only where a rule asks for it."""
        return sum(message.role == "user" for message in self.request.messages)

    @cached_property
    def step(self) -> int:
        """The model's how manieth answer to this user message it is, from 1."""
        return 1 + sum(message.role == "assistant" for message in self._since)

    @cached_property
    def words(self) -> int:
        """A stand-in for input tokens: the words of this turn alone, so that a long history costs nothing."""
        return sum(len(message.text.split()) for message in self._since) + sum(
            len(result.text.split()) for result in self.results
        )

    @cached_property
    def _since(self) -> list[Message]:
        messages = self.request.messages
        start = len(messages)
        while start > 0:
            start -= 1
            if messages[start].role == "user":
                return [messages[index] for index in range(start, len(messages))]
        return []


class Say(Struct, frozen=True):
    """A text part, streamed in small chunks."""

    text: str


class Answer(Struct, frozen=True):
    """A text part that is the JSON of a value, for requests with an output schema."""

    value: Any


class Think(Struct, frozen=True):
    """A reasoning part, streamed in small chunks."""

    text: str


class Call(Struct, frozen=True):
    """A tool call. Arguments given as text are sent as they are, so that they may be invalid JSON."""

    name: str
    args: Mapping[str, Any] | str
    call_id: str | None = None


class Fail(Struct, frozen=True):
    """A model error, the first `times` times that the rule meets this user text; always where it is None."""

    code: ModelErrorCode
    message: str
    retryable: bool
    retry_after_s: float | None = None
    times: int | None = None


class Hang(Struct, frozen=True):
    """Nothing more, until the request is cancelled."""


Action = Say | Answer | Think | Call | Fail | Hang

_RETRYABLE: Mapping[ModelErrorCode, bool] = {
    "model_unavailable": True,
    "model_rate_limited": True,
    "model_incomplete": True,
    "model_rejected": False,
}


class Condition(Struct, frozen=True):
    """All of what is given must hold. A user pattern alone holds only until a tool has answered."""

    user: re.Pattern[str] | None = None
    after: tuple[str, ...] = ()
    outcome: Outcome | None = None
    is_error: bool | None = None
    turn: int | None = None

    def holds(self, turn: Turn) -> bool:
        """Whether a rule with this condition applies to the turn."""
        if self.after:
            if not all(any(self._fits(name, result) for result in turn.latest) for name in self.after):
                return False
        elif self.user is not None and turn.results:
            return False
        if self.user is not None and self.user.search(turn.user) is None:
            return False
        return self.turn is None or turn.number == self.turn

    def _fits(self, name: str, result: ToolResultPart) -> bool:
        return (
            result.name == name
            and (self.outcome is None or result.outcome == self.outcome)
            and (self.is_error is None or result.is_error == self.is_error)
        )


class Rule(Struct, frozen=True):
    """A condition and the actions of one response. Every method gives a new rule with one more action."""

    condition: Condition = field(default_factory=Condition)
    actions: tuple[Action, ...] = ()
    delay_ms: float | None = None
    finish_reason: str | None = None

    def say(self, text: str) -> Rule:
        """Answer with a text."""
        return self._and(Say(text))

    def answer(self, value: Any) -> Rule:
        """Answer with a JSON value; the texts inside it are templates too."""
        return self._and(Answer(value))

    def think(self, text: str) -> Rule:
        """Show a thought before what follows."""
        return self._and(Think(text))

    def call(self, tool: str, /, **args: Any) -> Rule:
        """Call a tool; several calls in one rule run in parallel."""
        return self._and(Call(tool, args))

    def call_with(self, tool: str, args: Mapping[str, Any] | str, *, call_id: str | None = None) -> Rule:
        """Call a tool with arguments as a mapping or as raw text, and under an id that may repeat."""
        return self._and(Call(tool, args, call_id))

    def fail(
        self,
        code: ModelErrorCode,
        message: str = "The offline model was told to fail.",
        *,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        times: int | None = None,
    ) -> Rule:
        """Raise a ModelError, after whatever the rule has said before."""
        decided = _RETRYABLE[code] if retryable is None else retryable
        return self._and(Fail(code, message, decided, retry_after_s, times))

    def hang(self) -> Rule:
        """Never end by itself."""
        return self._and(Hang())

    def nothing(self) -> Rule:
        """End without a word or a call."""
        return replace(self, actions=())

    def delayed(self, delay_ms: float) -> Rule:
        """Wait this long before every chunk and call."""
        return replace(self, delay_ms=delay_ms)

    def finishing(self, finish_reason: str) -> Rule:
        """End for this reason instead of `stop` or `tool_call`."""
        return replace(self, finish_reason=finish_reason)

    def _and(self, action: Action) -> Rule:
        return replace(self, actions=(*self.actions, action))


def when(pattern: str, *, turn: int | None = None) -> Rule:
    """A rule for what the user said, found anywhere in the text and in any case; named groups fill templates."""
    return Rule(Condition(user=re.compile(pattern, re.IGNORECASE | re.DOTALL), turn=turn))


def after(*tools: str, user: str | None = None, outcome: Outcome | None = None, is_error: bool | None = None) -> Rule:
    """A rule for the answers of all these tools to the model's last calls."""
    if not tools:
        raise ValueError("after() needs the name of a tool")
    pattern = None if user is None else re.compile(user, re.IGNORECASE | re.DOTALL)
    return Rule(Condition(pattern, tools, outcome, is_error))


otherwise = Rule()
