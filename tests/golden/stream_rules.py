"""What holds for the events of every stream that a client gives, whatever the case is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
LOGGED = {
    "run_started", "tool_call_started", "tool_call_finished", "approval_requested", "checkpoint_written",
    "run_suspended", "run_completed", "run_failed",
}  # fmt: skip
TERMINAL = {"run_suspended", "run_completed", "run_failed"}


def broken_rules(events: Sequence[Event], *, attempt: bool, whole: bool) -> list[str]:
    """The rules that are broken: of an attempt's stream, or of a watch; of one that came to its end, or was left."""
    return [*_versions(events), *_ends(events, attempt=attempt, whole=whole), *_texts(events)]


def merged(events: Sequence[Event]) -> list[Event]:
    """Without heartbeats, and with the pieces of a text that follow each other as one."""
    told: list[Event] = []
    for event in events:
        if event["type"] == "heartbeat" or (event["type"] == "run_queued" and told):
            continue
        last = told[-1] if told else {}
        if event["type"] in ("text_delta", "reasoning_delta") and _part(last) == _part(event):
            told[-1] = last | {"text": last["text"] + event["text"]}
        else:
            told.append(event)
    return told


def _versions(events: Sequence[Event]) -> Iterator[str]:
    logged = [event for event in events if event["type"] in LOGGED]
    for before, after in pairwise(logged):
        where = f"{before['type']} {before['version']} and {after['type']} {after['version']}"
        if before["last_of_version"] == (before["version"] == after["version"]):
            yield f"the end of a version is not marked where it is: {where}"
        if after["version"] < before["version"]:
            yield f"versions go back: {where}"


def _ends(events: Sequence[Event], *, attempt: bool, whole: bool) -> Iterator[str]:
    ends = [index for index, event in enumerate(events) if event["type"] in TERMINAL]
    if attempt and whole and ends != [len(events) - 1]:
        yield f"an attempt's stream has one last word: {[event['type'] for event in events]}"


def _texts(events: Sequence[Event]) -> Iterator[str]:
    shown: dict[tuple[str, str, int], str] = {}
    for event in events:
        match event["type"]:
            case "text_delta" | "reasoning_delta":
                text = shown.get(_part(event), "")
                if event["offset"] != len(text.encode()):
                    yield f"text at {event['offset']} follows {len(text.encode())} bytes"
                shown[_part(event)] = text + event["text"]
            case "message_discarded":
                shown = {part: text for part, text in shown.items() if part[1] != event["message_id"]}
            case "run_started":
                shown.clear()
            case "checkpoint_written":
                yield from _written(event, shown)


def _written(event: Event, shown: dict[tuple[str, str, int], str]) -> Iterator[str]:
    for message in event["messages"]:
        parts = sorted(part for part in shown if part[:2] == ("text_delta", message["id"]))
        text = "".join(shown.pop(part) for part in parts)
        said = "".join(part["text"] for part in message["content"] if part["type"] == "text")
        if parts and text != said:
            yield f"streamed text {text!r:.200} is not what was written, {said!r:.200}"


def _part(event: Event) -> tuple[str, str, int]:
    return event.get("type", ""), event.get("message_id", ""), event.get("part_index", 0)
