"""Mistakes in a workflow's declaration are refused where they are made, and values may come as what was declared."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypedDict

import pydantic
import pytest

from clew_engine import Migration, Storage, Workflow, append, pause
from clew_engine.errors import ArgumentInvalidError, RunFailedError
from tests.workflows.lone import lone


class State(TypedDict, total=False):
    """What is declared."""

    n: int


class Adds:
    """An object that can be called."""

    def __call__(self, state: Any) -> dict[str, Any]:
        return {"n": 1}


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a reducer of no key": (lambda: Workflow("w", state=State, reducers={"m": append}), "'m'"),
    "a migration to no node": (
        lambda: lone(Adds(), version=2, migrate={1: Migration(nodes={"a": "not-there"})}).compile(),
        "'not-there'",
    ),
    "a version in text": (lambda: Workflow("w", version="2"), "version"),  # type: ignore[arg-type]
    "a node that is none": (lambda: Workflow("w").node(5, name="a"), "a function is due"),  # type: ignore[call-overload]
    "a node without a name": (lambda: Workflow("w").node(Adds()), "name="),
    "a decorated one": (lambda: Workflow("w").node()(Adds()), "name="),
}


@pytest.mark.parametrize("wrong", sorted(WRONG))
def test_a_declaration_that_cannot_be_meant_is_refused(wrong: str) -> None:
    declare, word = WRONG[wrong]
    with pytest.raises(ArgumentInvalidError, match=word):
        declare()


def test_reducers_of_one_key_that_differ_inside_and_outside_are_refused() -> None:
    inner = lone(Adds(), reducers={"n": lambda old, new: new}).compile()
    outer = Workflow("outer", reducers={"n": lambda old, new: new})
    with pytest.raises(ArgumentInvalidError, match="'n'"):
        outer.workflow(inner, name="inner")


async def test_a_partial_has_the_name_of_its_function(storage: Storage) -> None:
    def add(more: int, state: Any) -> dict[str, Any]:
        return {"n": more}

    flow = Workflow("w")
    flow.node(functools.partial(add, 2))
    flow.start("add")
    assert (await flow.compile(storage).thread("t").run()).state == {"n": 2}


class Answer(pydantic.BaseModel):
    """What a person answers."""

    ok: bool


@pytest.mark.parametrize(("schema", "fits", "wrong"), [(Answer, {"ok": True}, {"ok": "x"}), (int, 5, "5")])
async def test_a_pause_may_name_a_type_for_its_schema(storage: Storage, schema: Any, fits: Any, wrong: Any) -> None:
    thread = lone(lambda _: {"got": pause("?", schema)}).compile(storage).thread("t")
    await thread.run()
    with pytest.raises(ArgumentInvalidError, match="does not fit"):
        await thread.resume(wrong)
    assert (await thread.resume(fits)).state == {"got": fits}


async def test_a_schema_that_is_nothing_of_the_kind_says_what_it_may_be(storage: Storage) -> None:
    with pytest.raises(RunFailedError, match="a JSON schema or a type"):
        await lone(lambda _: {"got": pause("?", "int")}).compile(storage).thread("t").run()  # type: ignore[arg-type]


@dataclasses.dataclass
class Data:
    """As a dataclass."""

    n: int = 3
    s: str = ""


class Model(pydantic.BaseModel):
    """As a model."""

    n: int = 3
    s: str = ""


@pytest.mark.parametrize("declared", [Data, Model])
async def test_values_may_come_as_what_was_declared(storage: Storage, declared: Any) -> None:
    app = lone(lambda state: declared(n=state["n"] + 1, s="done"), state=declared).compile(storage)
    assert (await app.thread("t").run(declared(n=5))).state == {"n": 6, "s": "done"}
    assert (await app.run(declared(n=6))).state["n"] == 7


@pytest.mark.parametrize("wrong", [[1], "x", 5, State])
async def test_input_that_is_no_object_is_refused(storage: Storage, wrong: Any) -> None:
    with pytest.raises(ArgumentInvalidError, match="input"):
        await lone(Adds()).compile(storage).thread("t").run(wrong)


async def test_a_state_that_grows_too_large_names_the_nodes(storage: Storage) -> None:
    thread = lone(lambda _: {"log": ["x" * 600_000]}, reducers={"log": append}).compile(storage).thread("t")
    await thread.run()
    with pytest.raises(RunFailedError, match=r"'only'.*the state would be"):
        await thread.run()
