"""What the offline model says when it was given no rules: small talk that is honest about what it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from clew_engine.models.offline_rules import Turn

_TOLD_NAME = re.compile(r"\b(?:my name is|i am called|call me|i am|i'm)\s+([A-Z]\w*)(?![\w'])")
_TOLD_NAME_ANY_CASE = re.compile(r"\b(?:my name is|i am called|call me)\s+(\w+)", re.IGNORECASE)

_SELF = (
    "I am Clew's offline model: no network and no key, a few fixed answers and no knowledge of the world. "
    "Give the agent a model such as openai:NAME or anthropic:NAME for real answers."
)


def chat(turn: Turn) -> str:
    """The reply to one turn, from this conversation alone."""
    if turn.latest:
        return "\n".join(f"{result.name}: {result.text}" for result in turn.latest)
    return _reply(turn)


def _reply(turn: Turn) -> str:
    for pattern, answer in _TOPICS:
        if pattern.search(turn.user):
            return answer(turn)
    if name := _told_name(turn.user):
        return f"Nice to meet you, {name}. I will remember your name in this conversation."
    return f'You said: "{turn.user}". I am the offline model, so I can remember that but not reason about it.'


def _name(turn: Turn) -> str:
    name = _remembered_name(turn)
    return f"Your name is {name}." if name else "You have not told me your name yet."


def _before(turn: Turn) -> str:
    before = _said_before(turn)
    return f'You said: "{before}"' if before else "That was the first thing you said."


def _greeting(turn: Turn) -> str:
    told = _told_name(turn.user)
    if told:
        return f"Hello, {told}! I will remember your name in this conversation."
    name = _remembered_name(turn)
    return f"Hello, {name}!" if name else "Hello! What is your name?"


def _told_name(said: str) -> str | None:
    match = _TOLD_NAME.search(said[:1].lower() + said[1:]) or _TOLD_NAME_ANY_CASE.search(said)
    return match[1][:1].upper() + match[1][1:] if match else None


def _remembered_name(turn: Turn) -> str | None:
    messages = turn.request.messages
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user" and (name := _told_name(messages[index].text)):
            return name
    return None


def _said_before(turn: Turn) -> str | None:
    said = [message.text for message in turn.request.messages if message.role == "user"]
    return said[-2] if len(said) > 1 else None


def _topic(pattern: str, answer: Callable[[Turn], str]) -> tuple[re.Pattern[str], Callable[[Turn], str]]:
    return re.compile(pattern, re.IGNORECASE), answer


_TOPICS = (
    _topic(r"what(?:'s| is) my name|do you (?:know|remember) (?:my name|me|who i am)|who am i", _name),
    _topic(r"what did i (?:just )?(?:say|ask|tell you)|what was my last", _before),
    _topic(r"who are you|what are you|your name|are you (?:real|human|an? )|what can you do", lambda _turn: _SELF),
    _topic(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b", _greeting),
    _topic(r"\b(?:thanks|thank you)\b", lambda _turn: "You are welcome."),
    _topic(r"\b(?:bye|goodbye|see you)\b", lambda _turn: "Goodbye!"),
)
