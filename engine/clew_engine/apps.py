"""What can be served: an agent or a compiled workflow, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from clew_engine.program import Program
from clew_engine.tools import Tool


@dataclass(frozen=True, slots=True)
class AppInfo:
    """What an app is to those who call it. The schemas are JSON Schema."""

    name: str
    kind: str
    description: str
    model: str
    tools: tuple[Tool, ...]
    gated: frozenset[str]
    input_schema: Mapping[str, Any]
    state_schema: Mapping[str, Any]


class App(Protocol):
    """An agent or a compiled workflow. Threads belong to its name."""

    @property
    def name(self) -> str:
        """Unique where it is served."""
        ...

    @property
    def program(self) -> Program:
        """The app as the engine steps it."""
        ...

    @property
    def info(self) -> AppInfo:
        """What it is to those who call it."""
        ...
