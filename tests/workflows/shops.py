"""A shop's workflow whose threads are written into, and what is asked of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

import pytest

import clew
from clew_engine import END, ClewError, Workflow, append, merge

ERRORS: tuple[type[Exception], ...] = (ClewError, clew.ClewError)


class Order(TypedDict, total=False):
    """What the workflows work on."""

    total: int
    paid: int
    log: Annotated[list[str], append]
    checks: Annotated[dict[str, bool], merge]
    largest: Annotated[int, lambda old, new: max(old or 0, new)]


@contextmanager
def refused(code: str, *words: str, **metadata: str) -> Any:
    """A call that is refused with this code, these words and this metadata."""
    with pytest.raises(ERRORS) as refusal:
        yield refusal
    error: Any = refusal.value
    assert error.code == code, error
    assert all(word in str(error) for word in words), error
    assert {name: error.metadata.get(name) for name in metadata} == metadata


async def everything(thread: Any) -> Any:
    """All that a refused write must leave as it was."""
    return (await thread.history(None), await thread.state(), await thread.approvals())


def shop(*failing: str) -> Workflow:
    """Read, then two checks side by side, then, by the total, ship or the end. Nodes that are named fail."""
    flow = Workflow("shop", state=Order)

    def node(name: str, **values: Any) -> None:
        def run(_: Any) -> dict[str, Any]:
            if name in failing:
                raise ValueError(f"{name} is down")
            return {"log": [name], **values}

        flow.node(run, name=name)

    node("read", total=5)
    node("stock", checks={"stock": True})
    node("credit", checks={"credit": True})
    node("weigh")
    node("ship")
    flow.start("read")
    flow.edge("read", "stock")
    flow.edge("read", "credit")
    flow.edge(("stock", "credit"), "weigh")
    flow.branch("weigh", lambda state: "ship" if state["total"] > 10 else END, ["ship"])
    return flow


async def failed(thread: Any, values: dict[str, Any] | None = None) -> None:
    with pytest.raises(ERRORS):
        await thread.run(values or {})
