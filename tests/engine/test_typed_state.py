"""Declared state: which types may declare one, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import pydantic
import pytest

from clew_engine import Agent
from clew_engine.errors import ArgumentInvalidError, StateInvalidError, ThreadNotFoundError
from clew_engine.typed_state import DeclaredState


class Dict(TypedDict):
    """As a TypedDict of the standard library."""

    customer: str
    visits: NotRequired[int]


@dataclass
class Data:
    """As a dataclass."""

    customer: str
    visits: int = 0


class Model(pydantic.BaseModel):
    """As a pydantic model."""

    customer: str
    visits: int = 0


EACH = pytest.mark.parametrize("declared", [Dict, Data, Model])


@EACH
def test_a_state_that_fits_its_declaration_is_taken(declared: type[Any]) -> None:
    DeclaredState(declared).check({"customer": b'"ada"', "visits": b"3"})
    DeclaredState(declared).check({"customer": b'"ada"'})


@EACH
def test_a_state_that_does_not_fit_names_the_key(declared: type[Any]) -> None:
    with pytest.raises(StateInvalidError) as refusal:
        DeclaredState(declared).check({"customer": b'"ada"', "visits": b'"many"'})
    assert refusal.value.field == "state.visits"


@EACH
def test_the_schema_says_what_is_needed(declared: type[Any]) -> None:
    schema = DeclaredState(declared).schema
    assert schema["required"] == ["customer"]
    assert set(schema["properties"]) == {"customer", "visits"}


@pytest.mark.parametrize("declared", [Callable, type("Odd", (), {})])
def test_a_type_that_no_state_can_be_held_to_is_refused_when_the_agent_is_made(declared: Any) -> None:
    with pytest.raises(ArgumentInvalidError, match=r"agent\.state"):
        Agent("a", state=declared)


async def test_a_turn_whose_values_do_not_fit_writes_nothing() -> None:
    thread = Agent("a", state=Dict).thread("t")
    with pytest.raises(StateInvalidError):
        await thread.send("hello", visits=1)
    with pytest.raises(ThreadNotFoundError):
        await thread.history()
    await thread.storage.close()
