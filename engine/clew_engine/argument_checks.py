"""The door of every verb: its arguments are of the types that its signature names, or the call is refused by the parameter's name."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from clew_engine.amounts import LONGEST_S, is_number
from clew_engine.errors import ArgumentInvalidError
from clew_engine.options import Limits

P = ParamSpec("P")
R = TypeVar("R")
# Says what is due where a value is none of it; None for a value that is.
Check = Callable[[Any], str | None]

# What no field of the contract and no column can hold.
_MOST = 1 << 63


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return "text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "text without half of a surrogate pair"
    return None


def _whole(value: Any) -> str | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST
    return None if fits else "a whole number of at most 63 bits"


def _seconds(value: Any) -> str | None:
    # Said so that nan, which is neither less nor more, is none.
    return None if is_number(value) and -LONGEST_S <= value <= LONGEST_S else "a number of seconds"


def _switch(value: Any) -> str | None:
    return None if isinstance(value, bool) else "True or False"


def _dict(value: Any) -> str | None:
    return None if isinstance(value, Mapping) else "a dict"


def _texts(value: Any) -> str | None:
    listed = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    return None if listed and not any(map(_text, value)) else "a list of texts"


def _list(value: Any) -> str | None:
    return None if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else "a list"


def _user(value: Any) -> str | None:
    return "text or a whole number" if _text(value) and _whole(value) else None


def _file(value: Any) -> str | None:
    fits = isinstance(value, str | Path) or hasattr(value, "write") or hasattr(value, "read")
    return None if fits else "a file's name, or an open binary file"


def _limits(value: Any) -> str | None:
    return None if isinstance(value, Limits) else "a Limits"


# Every type that a parameter of a verb may be declared with. What is None here is looked at by the verb itself: JSON values and what people say.
CHECKS: Mapping[str, Check | None] = {
    "str": _text,
    "int": _whole,
    "float": _seconds,
    "bool": _switch,
    "str | int": _user,
    "Sequence[str]": _texts,
    "Limits": _limits,
    "OnBusy | str": _text,
    "Mapping[str, Any]": _dict,
    "dict[str, Any]": _dict,
    "Sequence[Mapping[str, Any]]": _list,
    "Any": None,
    "Mapping[str, Any] | Any": None,
    "Mapping[str, Scalar] | tuple[str, Scalar]": None,
    "Decisions": None,
    "ArchiveFile": _file,
    "Progress": lambda value: None if callable(value) else "a function",
    "Input": None,
}


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, refusing with ArgumentInvalidError what its signature does not take."""
    door = _Door(verb)
    made: Any
    if inspect.iscoroutinefunction(verb):
        asked: Any = verb

        async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
            door.check(args, kwargs)
            return await asked(*args, **kwargs)

        made = later
    else:

        def at_once(*args: P.args, **kwargs: P.kwargs) -> R:
            door.check(args, kwargs)
            return verb(*args, **kwargs)

        made = at_once
    return cast("Callable[P, R]", functools.wraps(verb)(made))


class _Door:
    """The checks of one verb, by place and by name; the first place is its object's."""

    def __init__(self, verb: Callable[..., Any]) -> None:
        self._verb = verb
        self._places: list[tuple[str, Check | None]] = []
        self._rest: tuple[str, Check | None] | None = None
        self._named: dict[str, Check | None] = {}
        self._open = False
        self._read(inspect.signature(verb))

    def check(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Raises ArgumentInvalidError, or TypeError for an argument that there is not."""
        for (name, check), value in zip(self._places, args[1:], strict=False):
            _refuse(name, check, value)
        if self._rest is not None:
            for value in args[len(self._places) + 1 :]:
                _refuse(*self._rest, value)
        for name, value in kwargs.items():
            if name in self._named:
                _refuse(name, self._named[name], value)
            elif not self._open:
                raise TypeError(f"{self._verb.__name__}() got an unexpected keyword argument {name!r}")

    def _read(self, signature: inspect.Signature) -> None:
        for each in list(signature.parameters.values())[1:]:
            declared = str(each.annotation)
            if each.kind is each.VAR_KEYWORD:
                if declared.startswith("Unpack["):
                    together = self._verb.__globals__[declared[len("Unpack[") : -1]]
                    for name, kind in together.__annotations__.items():
                        self._named[name] = check_of(getattr(kind, "__forward_arg__", kind))
                else:
                    self._open = True
                continue
            check = check_of(declared)
            if each.kind is each.VAR_POSITIONAL:
                self._rest = (each.name, check)
                continue
            if each.kind is not each.KEYWORD_ONLY:
                self._places.append((each.name, check))
            if each.kind is not each.POSITIONAL_ONLY:
                self._named[each.name] = check


def check_of(declared: str) -> Check | None:
    """The check for a declared type. Raises KeyError for one that the table does not have."""
    bare = declared.removesuffix(" | None")
    words = ast.literal_eval(f"({bare[len('Literal[') : -1]},)") if bare.startswith("Literal[") else ()
    check = _one_of(words) if words else CHECKS[bare]
    if check is None or bare == declared:
        return check
    return lambda value: None if value is None else check(value)


def _one_of(words: tuple[str, ...]) -> Check:
    due = f"one of {', '.join(words)}"
    return lambda value: None if isinstance(value, str) and value in words else due


def _refuse(name: str, check: Check | None, value: Any) -> None:
    due = check(value) if check is not None else None
    if due is not None:
        shown = repr(value) if isinstance(value, str | int | float) else type(value).__name__
        raise ArgumentInvalidError(name, f"{due} is due here, not {shown[:100]}")
