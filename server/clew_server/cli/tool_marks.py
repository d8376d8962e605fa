"""A tool as it stands in a list of an app's tools: its name, and a mark for what is special about it."""

from __future__ import annotations

from typing import Protocol

APPROVAL, ONCE = "?", "!"


class Marked(Protocol):
    """What the marks are made of; the contract's tool and the client's are such."""

    @property
    def name(self) -> str:
        """As a model calls it."""

    @property
    def requires_approval(self) -> bool:
        """Whether each call waits for somebody."""

    @property
    def once(self) -> bool:
        """Whether a call whose outcome is unknown is left to somebody."""


def with_marks(tool: Marked) -> str:
    """The name, with its marks."""
    return f"{tool.name}{APPROVAL * tool.requires_approval}{ONCE * tool.once}"
