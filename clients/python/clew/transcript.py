"""A conversation kept up to date from a thread's events."""

from __future__ import annotations

from collections.abc import Iterable

from clew.events import CheckpointWritten, Event, MessageDiscarded, RunStarted, TextDelta, ToolCallFinished
from clew.messages import Message


class Transcript:
    """The messages on a thread's present line, and the text that is being written.

    Begin with nothing and a watch from version 0, or with `messages()` and a watch after the version that `info()` gave before them. After a rewind,
    what came after the checkpoint that is the head again is no longer among the messages; it comes back if a later rewind goes there.
    """

    def __init__(self, messages: Iterable[Message] = (), version: int = 0) -> None:
        self.version = version
        self._first = version
        self._before = tuple(messages)
        self._parents: dict[int, int] = {}
        self._written: dict[int, list[Message]] = {}
        self._writing: dict[str, dict[int, str]] = {}

    @property
    def messages(self) -> list[Message]:
        """In the order of the conversation."""
        line, version = [], self.version
        while version in self._parents:
            line.append(version)
            version = self._parents[version]
        places = {message["position"]: message for message in self._before if message["version"] <= version}
        for each in reversed(line):
            places.update((message["position"], message) for message in self._written.get(each, ()))
        return [places[position] for position in sorted(places)]

    @property
    def writing(self) -> dict[str, str]:
        """Text that no checkpoint has confirmed, by message id."""
        return {
            message_id: "".join(parts[index] for index in sorted(parts)) for message_id, parts in self._writing.items()
        }

    def apply(self, event: Event) -> None:
        """Take one event in."""
        payload = event.payload
        if isinstance(payload, TextDelta):
            parts = self._writing.setdefault(payload.message_id, {})
            parts[payload.part_index] = parts.get(payload.part_index, "") + payload.text
        elif isinstance(payload, MessageDiscarded):
            self._writing.pop(payload.message_id, None)
        elif isinstance(payload, ToolCallFinished):
            if not payload.node:
                self._written.setdefault(event.version, []).append(payload.message)
        elif isinstance(payload, CheckpointWritten):
            self._write(event.version, payload)
        elif isinstance(payload, RunStarted) or payload.terminal:
            self._writing.clear()

    def _write(self, version: int, written: CheckpointWritten) -> None:
        if version <= self._first:
            return
        self.version = version
        self._parents[version] = written.parent_version
        self._written.setdefault(version, []).extend(written.messages)
        for message in (*written.messages, *(each.message for each in written.node_messages)):
            self._writing.pop(message["id"], None)
        if written.deleted_message_ids:
            self._erase(set(written.deleted_message_ids))
        if written.checkpoint["source"] == "fork":
            self._writing.clear()

    def _erase(self, ids: set[str]) -> None:
        """Drop deleted messages from every version, with what they had replaced in their places."""
        gone = {message["position"] for message in self._before if message["id"] in ids}
        self._before = tuple(message for message in self._before if message["position"] not in gone)
        rows = [(at, each) for at, messages in self._written.items() for each in messages if each["id"] in ids]
        for at, message in rows:
            self._empty(at, message["position"])

    def _empty(self, version: int, position: int) -> None:
        """Drop what stood at a place of the line that leads to a version."""
        while version in self._parents:
            kept = [each for each in self._written.get(version, ()) if each["position"] != position]
            self._written[version] = kept
            version = self._parents[version]
        self._before = tuple(each for each in self._before if each["position"] != position or each["version"] > version)
