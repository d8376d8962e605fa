"""A transcript in memory: the messages of a line in their order, shared between the runs of a thread."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import takewhile

from clew_engine.messages import Message, ToolCallPart


class Transcript:
    """Messages by position. Messages are immutable and shared; only the run that holds the thread's lease changes the list."""

    __slots__ = ("_all", "_messages", "bytes")

    def __init__(self, messages: Iterable[Message] = (), size: int = 0) -> None:
        self._messages = list(messages)
        self._all: tuple[Message, ...] | None = None
        self.bytes = size

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: Message, size: int) -> None:
        """Add a message, or replace the one at its position."""
        self.bytes += size
        self._all = None
        messages = self._messages
        if not messages or messages[-1].position < message.position:
            messages.append(message)
            return
        place = bisect_left(messages, message.position, key=lambda each: each.position)
        if messages[place].position == message.position:
            messages[place] = message
        else:
            messages.insert(place, message)

    def before(self, position: int | None) -> tuple[Message, ...]:
        """The messages below a position (None: all), as they are now."""
        if position is None:
            if self._all is None:
                self._all = tuple(self._messages)
            return self._all
        return tuple(self._messages[: bisect_left(self._messages, position, key=lambda each: each.position)])

    def remove(self, message: Message) -> None:
        """Drop a message; of another line there is none."""
        place = bisect_left(self._messages, message.position, key=lambda each: each.position)
        if place < len(self._messages) and self._messages[place].id == message.id:
            del self._messages[place]
            self._all = None

    def last_request(self) -> Message | None:
        """The newest assistant message that asks for calls, whatever was said since from outside."""
        return next((message for message in reversed(self._messages) if message.tool_calls), None)

    def open_calls(self) -> list[tuple[int, ToolCallPart]]:
        """Calls without an outcome, each with the position that is kept for it."""
        asked = self.last_request()
        if asked is None:
            return []
        first = asked.position + 1
        following = takewhile(lambda message: message.position >= first, reversed(self._messages))
        closed = {result.tool_call_id for message in following for result in message.tool_results}
        return [(first + index, call) for index, call in enumerate(asked.tool_calls) if call.id not in closed]
