"""From a verb that streams to the verb that waits for the reply."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from clew.records import Reply
from clew.streams import EventStream

P = ParamSpec("P")
S = TypeVar("S")


R = TypeVar("R")


def replying(
    verb: Callable[Concatenate[S, P], EventStream], name: str, doc: str
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Reply]]:
    """The same call, read to its end: a Reply, or the error that the run failed with."""

    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Reply:
        return await verb(self, *args, **kwargs).reply()

    return named(call, verb, name, doc, "Reply")


def named(
    call: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
    verb: Callable[Concatenate[S, P], EventStream],
    name: str,
    doc: str,
    gives: str,
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """The call with a name, and with the parameters of the verb that it is made from: what `help()` shows."""
    call.__name__, call.__doc__ = name, doc
    call.__qualname__ = f"{verb.__qualname__.rpartition('.')[0]}.{name}"
    call.__annotations__ = verb.__annotations__ | {"return": gives}
    call.__signature__ = inspect.signature(verb).replace(return_annotation=gives)  # type: ignore[attr-defined]
    return call
