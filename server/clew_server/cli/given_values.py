"""What was given must be something: an empty value, as of a shell's variable that is not set, is not taken for none."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import typer

T = TypeVar("T")


def not_empty(context: typer.Context, parameter: typer.CallbackParam, value: T) -> T:
    """The callback of an option that is left out where nothing is meant, and of one that may be repeated."""
    source = context.get_parameter_source(parameter.name or "")
    given = source is not None and source.name == "COMMANDLINE"
    # An empty path is the folder itself, which no option takes.
    if given and (value in ("", Path()) or (isinstance(value, list) and "" in value)):
        raise typer.BadParameter("it is empty; give a value, or leave it out")
    return value
