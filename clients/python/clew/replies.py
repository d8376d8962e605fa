"""From a verb that streams to the verb that waits for the reply."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from clew.records import Reply
from clew.streams import EventStream

P = ParamSpec("P")
S = TypeVar("S")


def replying(
    verb: Callable[Concatenate[S, P], EventStream], name: str, doc: str
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Reply]]:
    """The same call, read to its end: a Reply, or the error that the run failed with."""

    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Reply:
        return await verb(self, *args, **kwargs).reply()

    call.__name__, call.__doc__ = name, doc
    call.__qualname__ = f"{verb.__qualname__.rpartition('.')[0]}.{name}"
    call.__annotations__ = verb.__annotations__ | {"return": "Reply"}
    signature = inspect.signature(verb).replace(return_annotation="Reply")
    call.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return call
