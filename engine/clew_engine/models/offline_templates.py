"""The templates of an offline model's rules.

`{order_id}` is a named group of the pattern that matched the user's text, `{user}` that text, `{turn}` and `{step}` are
numbers. `{result}` is the answer of the tool that the rule waits for, `{result.total}` a field of it, and
`{results.look_up.total}` the same of any tool of this turn. A text that is one name alone keeps the value's type;
`{{` and `}}` are braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clew_engine.messages import ToolResultPart
from clew_engine.models.offline_rules import Rule, Turn

_NAME = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*(?:\.\w+)*)\}")


class TemplateNameError(ValueError):
    """A template names what the turn does not have."""


class Names:
    """What the templates of one rule can name; a value is looked up only when it is named."""

    def __init__(self, turn: Turn, rule: Rule, rules: Sequence[Rule]) -> None:
        self._turn = turn
        self._rule = rule
        self._groups = _groups(turn, rule, rules)
        self._known: dict[str, Callable[[], Any]] = {
            "user": lambda: turn.user,
            "turn": lambda: turn.number,
            "step": lambda: turn.step,
            "result": self._result,
            "results": lambda: {result.name: _value(result) for result in turn.results},
        }

    def fill(self, value: Any) -> Any:
        """The value with every template in it filled."""
        if isinstance(value, str):
            return self._fill_text(value)
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(item) for item in value]
        return value

    def fill_text(self, text: str) -> str:
        """The text with every template in it filled, always as text."""
        return _NAME.sub(self._replacement, text)

    def _fill_text(self, text: str) -> Any:
        whole = _NAME.fullmatch(text)
        return self._look_up(whole[1]) if whole is not None and whole[1] else self.fill_text(text)

    def _replacement(self, match: re.Match[str]) -> str:
        return _shown(self._look_up(match[1])) if match[1] else match[0][0]

    def _look_up(self, path: str) -> Any:
        first, *fields = path.split(".")
        if first in self._groups:
            value: Any = self._groups[first]
        elif first in self._known:
            value = self._known[first]()
        else:
            raise TemplateNameError(f"{{{path}}} is not known here")
        for name in fields:
            value = _field(value, name, path)
        return value

    def _result(self) -> Any:
        wanted = self._rule.condition.after
        for result in reversed(self._turn.results):
            if not wanted or result.name == wanted[0]:
                return _value(result)
        raise TemplateNameError("{result} is not known before a tool has answered")


def _groups(turn: Turn, rule: Rule, rules: Sequence[Rule]) -> dict[str, str]:
    """The named groups of the first rule that the user's text fits, and over them those of the rule itself."""
    found: dict[str, str] = {}
    for pattern in (*(other.condition.user for other in rules), rule.condition.user):
        if pattern is not None and (not found or pattern is rule.condition.user):
            match = pattern.search(turn.user)
            found |= (
                {} if match is None else {name: text for name, text in match.groupdict().items() if text is not None}
            )
    return found


def _value(result: ToolResultPart) -> Any:
    """The result as JSON where it is JSON, else as text."""
    try:
        return json.loads(result.text if result.structured is None else result.structured)
    except (ValueError, RecursionError):
        return result.text


def _field(value: Any, name: str, path: str) -> Any:
    if isinstance(value, dict) and name in value:
        return value[name]
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    raise TemplateNameError(f"{{{path}}} is not known here: there is no {name!r}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
