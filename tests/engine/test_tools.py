"""Tools: the schema that is read off a function, and the arguments that it takes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pydantic
import pytest

from clew_engine import ToolContext, tool
from clew_engine.errors import ArgumentInvalidError
from clew_engine.tools import ToolArgumentError, as_tool


class Address(pydantic.BaseModel):
    """Where to send it."""

    street: str
    zip: int = 0


def order(
    context: ToolContext,
    item: Annotated[str, pydantic.Field(description="what to order", min_length=1)],
    to: Address,
    count: int = 1,
    speed: Literal["slow", "fast"] = "slow",
    notes: list[str] | None = None,
) -> str:
    """Order an item.

    It is sent at once.
    """
    return f"{context.call_id}{item}{to}{count}{speed}{notes}"


def test_the_schema_is_that_of_the_parameters() -> None:
    made = tool(order)
    assert made.name == "order"
    assert made.description == "Order an item.\n\nIt is sent at once."
    properties = made.parameters["properties"]
    assert list(properties) == ["item", "to", "count", "speed", "notes"], "the context is the engine's to give"
    assert properties["item"] == {"type": "string", "description": "what to order", "minLength": 1}
    assert properties["speed"] == {"enum": ["slow", "fast"], "type": "string", "default": "slow"}
    assert made.parameters["required"] == ["item", "to"]
    assert made.parameters["additionalProperties"] is False


def test_arguments_come_as_the_types_that_were_declared() -> None:
    values = tool(order).check('{"item": "tea", "to": {"street": "Long Lane"}, "count": 2}')
    assert values["to"] == Address(street="Long Lane")
    assert (values["count"], values["speed"], values["notes"]) == (2, "slow", None)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ('{"to": {"street": "x"}}', "item: Field required"),
        ('{"item": "", "to": {"street": "x"}}', "item: "),
        ('{"item": "tea", "to": {}}', "to.street: Field required"),
        ('{"item": "tea", "to": {"street": "x"}, "more": 1}', "more: "),
        ('{"item": "tea", "to": {"street": "x"}, "field_0": "x"}', "field_0: "),
        ("[]", "arguments: "),
        ("null", "arguments: "),
        ("{", "not a JSON object"),
    ],
)
def test_what_does_not_fit_is_named(args: str, why: str) -> None:
    with pytest.raises(ToolArgumentError, match=why):
        tool(order).check(args)


@pytest.mark.parametrize("name", ["copy", "json", "schema", "model_config", "_x", "self", "validate", "field_0"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def act({name}: int) -> int:\n    return {name}", scope)
    made = tool(scope["act"])
    assert made.parameters["properties"] == {name: {"type": "integer"}}
    assert made.check(f'{{"{name}": 1}}') == {name: 1}


def test_a_parameter_that_no_model_could_fill_is_refused() -> None:
    def star(*values: int) -> int:
        return len(values)

    def keywords(**values: int) -> int:
        return len(values)

    def places(value: int, /) -> int:
        return value

    for function in (star, keywords, places):
        with pytest.raises(ArgumentInvalidError, match="tool"):
            tool(function)


@pytest.mark.parametrize("name", ["", "a b", "a.b", "größe", "x" * 65, "a\n"])
def test_a_name_is_letters_digits_and_dashes(name: str) -> None:
    def act() -> None:
        """Do nothing."""

    with pytest.raises(ArgumentInvalidError, match=r"tool\.name"):
        tool(name=name or " ")(act)


def test_a_tool_stays_what_it_is() -> None:
    made = tool(once=True, approve=True, timeout=3)(order)
    assert as_tool(made) is made
    assert (made.once, made.needs_approval("{}"), made.timeout) == (True, True, 3)
