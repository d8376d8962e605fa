"""A workflow of one node, for tests of what a node does."""

from __future__ import annotations

from typing import Any

from clew_engine import Workflow


def lone(node: Any, **settings: Any) -> Workflow:
    """A workflow of one node."""
    flow = Workflow("lone", **settings)
    flow.node(node, name="only")
    flow.start("only")
    return flow
