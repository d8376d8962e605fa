"""Closing what an SDK leaves open.

Google's SDK reads a stream through generators inside of generators and closes only the outermost, so the connection of
a reply that nobody wants any more stays open until the garbage collector comes by. Its HTTP client notes its responses
here instead, and whoever made the request closes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Response(Protocol):
    """The response of an HTTP client, as far as it matters here."""

    async def aclose(self) -> None:
        """Close the connection, or give it back if it was read to its end."""
        ...


_noted: ContextVar[list[Response] | None] = ContextVar("noted_responses", default=None)


@contextmanager
def noting_responses() -> Iterator[list[Response]]:
    """The responses that come in within it."""
    responses: list[Response] = []
    token = _noted.set(responses)
    try:
        yield responses
    finally:
        _noted.reset(token)


async def note_response(response: Response) -> None:
    """A hook of an HTTP client for its responses."""
    responses = _noted.get()
    if responses is not None:
        responses.append(response)


async def close_all(responses: list[Response]) -> None:
    """Close them, in the order in which they came."""
    for response in responses:
        await response.aclose()
