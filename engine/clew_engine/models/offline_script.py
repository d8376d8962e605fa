"""Rules of an offline model as plain JSON, so that tests of every language can share one script.

A script is a list of rules. A rule has the conditions `when` (a pattern), `after` (a tool or several), `outcome`,
`is_error`, `turn`; the options `delay_ms` and `finish`; and `do`, a list of `{"say": text}`, `{"think": text}`,
`{"answer": value}`, `{"call": tool, "args": object or text, "id"?: text}`,
`{"fail": code, "message"?, "retryable"?, "retry_after_s"?, "times"?}` and `{"hang": true}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

from msgspec.structs import replace

from clew_engine.message_parts import OUTCOMES
from clew_engine.models.offline_rules import Condition, Rule
from clew_engine.models.port import ModelErrorCode

_RULE_KEYS = frozenset({"when", "after", "outcome", "is_error", "turn", "do", "delay_ms", "finish"})
_FAIL_KEYS = frozenset({"fail", "message", "retryable", "retry_after_s", "times"})


def rules_of(data: Any) -> tuple[Rule, ...]:
    """The rules of a parsed script. Raises ValueError naming the place of what is wrong."""
    if not isinstance(data, list):
        raise ValueError("a script must be a list of rules")
    return tuple(_rule(item, f"rules[{index}]") for index, item in enumerate(data))


def _rule(data: Any, place: str) -> Rule:
    _check_keys(data, _RULE_KEYS, place)
    rule = Rule(_condition(data, place), delay_ms=_optional(data, "delay_ms", (int, float), place))
    rule = replace(rule, finish_reason=_optional(data, "finish", str, place))
    for index, step in enumerate(_optional(data, "do", list, place) or []):
        rule = _with_step(rule, step, f"{place}.do[{index}]")
    return rule


def _condition(data: Mapping[str, Any], place: str) -> Condition:
    pattern = _optional(data, "when", str, place)
    after = _optional(data, "after", (str, list), place) or ()
    outcome = _optional(data, "outcome", str, place)
    if outcome is not None and outcome not in OUTCOMES:
        raise ValueError(f"{place}.outcome must be one of {', '.join(sorted(OUTCOMES))}")
    try:
        compiled = None if pattern is None else re.compile(pattern, re.IGNORECASE | re.DOTALL)
    except re.error as error:
        raise ValueError(f"{place}.when is not a pattern: {error}") from None
    tools = (after,) if isinstance(after, str) else tuple(after)
    is_error = _optional(data, "is_error", bool, place)
    return Condition(compiled, tools, outcome, is_error, _optional(data, "turn", int, place))


def _with_step(rule: Rule, step: Any, place: str) -> Rule:
    if not isinstance(step, Mapping):
        raise ValueError(f"{place} must be an object")
    for verb, add in _VERBS.items():
        if verb in step:
            return add(rule, step, place)
    raise ValueError(f"{place} needs one of {', '.join(_VERBS)}")


def _say(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, frozenset({"say"}), place)
    return rule.say(_required_text(step, "say", place))


def _think(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, frozenset({"think"}), place)
    return rule.think(_required_text(step, "think", place))


def _answer(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, frozenset({"answer"}), place)
    return rule.answer(step["answer"])


def _call(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, frozenset({"call", "args", "id"}), place)
    args = _optional(step, "args", (dict, str), place)
    call_id = _optional(step, "id", str, place)
    return rule.call_with(_required_text(step, "call", place), {} if args is None else args, call_id=call_id)


def _fail(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, _FAIL_KEYS, place)
    code = step["fail"]
    if code not in get_args(ModelErrorCode):
        raise ValueError(f"{place}.fail must be one of {', '.join(get_args(ModelErrorCode))}")
    return rule.fail(code, **{key: value for key, value in step.items() if key != "fail"})


def _hang(rule: Rule, step: Mapping[str, Any], place: str) -> Rule:
    _check_keys(step, frozenset({"hang"}), place)
    return rule.hang()


_VERBS: dict[str, Callable[[Rule, Mapping[str, Any], str], Rule]] = {
    "say": _say,
    "think": _think,
    "answer": _answer,
    "call": _call,
    "fail": _fail,
    "hang": _hang,
}


def _check_keys(data: Any, allowed: frozenset[str], place: str) -> None:
    if not isinstance(data, Mapping):
        raise ValueError(f"{place} must be an object")
    if unknown := sorted(set(data) - allowed):
        raise ValueError(f"{place} has unknown fields: {', '.join(unknown)}")


def _optional(data: Mapping[str, Any], key: str, kind: type | tuple[type, ...], place: str) -> Any:
    value = data.get(key)
    if value is not None and not isinstance(value, kind):
        raise ValueError(f"{place}.{key} cannot be {value!r}")
    return value


def _required_text(data: Mapping[str, Any], key: str, place: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise ValueError(f"{place}.{key} must be text")
    return value
