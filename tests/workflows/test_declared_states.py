"""Declared states: what is taken is what the type says in JSON, also by its own validators; what is stored fits the schema that is published."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from typing import Annotated, Any, TypedDict

import jsonschema_rs
import pydantic
import pytest

from clew import ArgumentInvalidError as ClientArgumentInvalidError
from clew import Client
from clew import StateInvalidError as ClientStateInvalidError
from clew_engine import Agent, OfflineModel, Storage, Workflow, append
from clew_engine.errors import ArgumentInvalidError, RunFailedError, StateInvalidError
from clew_engine.models import otherwise
from tests.support.serving import serving


class Color(enum.Enum):
    """As JSON it is its value."""

    RED = "red"


class Item(pydantic.BaseModel):
    """Something nested."""

    x: int


def _split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


class Dict(TypedDict, total=False):
    """As a TypedDict."""

    n: int
    f: float
    b: bool
    s: str
    log: Annotated[list[int], append]
    d: dict[str, int]
    when: datetime.datetime
    day: datetime.date
    id: uuid.UUID
    color: Color
    item: Item
    some: str | None
    tags: Annotated[list[str], pydantic.BeforeValidator(_split)]


@dataclasses.dataclass
class Data:
    """As a dataclass."""

    n: int = 3
    f: float = 1.0
    b: bool = False
    s: str = ""
    log: Annotated[list[int], append] = dataclasses.field(default_factory=list)
    d: dict[str, int] = dataclasses.field(default_factory=dict)
    when: datetime.datetime | None = None
    day: datetime.date | None = None
    id: uuid.UUID | None = None
    color: Color = Color.RED
    item: Item | None = None
    some: str | None = None
    tags: Annotated[list[str], pydantic.BeforeValidator(_split)] = dataclasses.field(default_factory=list)


class Model(pydantic.BaseModel):
    """As a model."""

    n: int = 3
    f: float = 1.0
    b: bool = False
    s: str = ""
    log: Annotated[list[int], append] = []
    d: dict[str, int] = {}
    when: datetime.datetime | None = None
    day: datetime.date | None = None
    id: uuid.UUID | None = None
    color: Color = Color.RED
    item: Item | None = None
    some: str | None = None
    tags: Annotated[list[str], pydantic.BeforeValidator(_split)] = []


EACH = pytest.mark.parametrize("declared", [Dict, Data, Model])
FITS: list[dict[str, Any]] = [
    {"n": 5, "f": 1, "b": True, "s": "a", "log": [1], "d": {"x": 1}},
    {"when": "2026-01-01T10:00:00Z", "day": "2026-01-01", "id": str(uuid.UUID(int=1)), "color": "red"},
    {"item": {"x": 1}, "some": None, "tags": ["a"]},
    {"n": 2**70},
]
WRONG: list[dict[str, Any]] = [
    {"n": "5"},
    {"n": True},
    {"n": 5.0},
    {"f": "1.5"},
    {"f": True},
    {"b": 1},
    {"b": "yes"},
    {"s": 5},
    {"log": ["1"]},
    {"log": [2.0]},
    {"log": [True]},
    {"d": {"x": "7"}},
    {"when": 5},
    {"day": 5},
    {"id": "x"},
    {"color": "blue"},
    {"item": {"x": "1"}},
    {"item": {}},
    {"some": 5},
    {"tags": "a,b"},
    {"other": 1},
]


def workflow(declared: Any, returned: Any = None) -> Workflow:
    """One node, which returns this."""
    flow = Workflow("w", state=declared)
    flow.node(lambda _: returned, name="only")
    flow.start("only")
    return flow


@EACH
@pytest.mark.parametrize("values", FITS, ids=str)
async def test_what_fits_is_taken_as_it_came_and_fits_the_published_schema(
    storage: Storage, declared: Any, values: dict[str, Any]
) -> None:
    app = workflow(declared, values).compile(storage)
    schema = jsonschema_rs.validator_for(dict(app.info.state_schema))
    for given in (values, {}):
        thread = app.thread(f"t{len(given)}")
        await thread.run(given)
        state = await thread.state()
        assert {name: value for name, value in state.items() if name in values and name != "log"} == {
            name: value for name, value in values.items() if name != "log"
        }
        schema.validate(dict(state))
    await app.thread("u").update_state(values)
    assert await app.thread("u").state() == values


@EACH
@pytest.mark.parametrize("values", WRONG, ids=str)
async def test_what_does_not_fit_is_refused_wherever_it_comes_from(
    storage: Storage, declared: Any, values: dict[str, Any]
) -> None:
    (key,) = values
    app = workflow(declared, values).compile(storage)
    thread = app.thread("t")
    with pytest.raises(StateInvalidError, match=key):
        await thread.run(values)
    with pytest.raises(RunFailedError, match=f"'only' failed.*{key}"):
        await thread.run({})
    for as_node in ("", "only"):
        with pytest.raises(StateInvalidError, match=key):
            await thread.update_state(values, as_node=as_node)
    before = await thread.state()
    jsonschema_rs.validator_for(dict(app.info.state_schema)).validate(dict(before))
    if key != "other" and values not in ({"n": 5.0}, {"log": [2.0]}, {"id": "x"}):
        # JSON Schema takes 5.0 for an integer, and formats for remarks.
        assert not jsonschema_rs.is_valid(dict(app.info.state_schema), values)


class Strict(pydantic.BaseModel):
    """With validators of its own."""

    model_config = pydantic.ConfigDict(extra="forbid")
    lo: int = 0
    hi: int = pydantic.Field(9, lt=100)
    log: Annotated[list[str], append, pydantic.Field(max_length=2)] = []

    @pydantic.field_validator("lo")
    @classmethod
    def _lucky(cls, value: int) -> int:
        if value == 13:
            raise ValueError("unlucky")
        return value

    @pydantic.model_validator(mode="after")
    def _ordered(self) -> Strict:
        if self.lo > self.hi:
            raise ValueError("lo is over hi")
        return self


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"lo": 13}, "unlucky"),
        ({"lo": 10}, "lo is over hi"),
        ({"hi": 100}, "less than 100"),
        ({"log": ["a"] * 3}, "at most 2"),
    ],
)
async def test_the_types_own_validators_are_run(storage: Storage, values: dict[str, Any], why: str) -> None:
    thread = workflow(Strict, values).compile(storage).thread("t")
    with pytest.raises(StateInvalidError, match=why):
        await thread.run(values)
    with pytest.raises(RunFailedError, match=why):
        await thread.run()


async def test_a_list_that_grows_is_held_to_what_is_declared_of_all_of_it(storage: Storage) -> None:
    thread = workflow(Strict, {"log": ["a"]}).compile(storage).thread("t")
    await thread.run()
    await thread.run()
    with pytest.raises(RunFailedError, match="at most 2"):
        await thread.run()
    assert (await thread.state())["log"] == ["a", "a"]


class Total(TypedDict):
    """All of it is there at the end."""

    a: int
    b: int


async def test_a_state_may_fill_up_as_it_goes_and_the_schema_says_so(storage: Storage) -> None:
    app = workflow(Total, {"b": 2}).compile(storage)
    assert "required" not in app.info.state_schema
    assert (await app.thread("t").run({"a": 1})).state == {"a": 1, "b": 2}


@pytest.mark.parametrize("declared", [Data, Model])
async def test_defaults_are_in_the_state_from_the_runs_start(storage: Storage, declared: Any) -> None:
    flow = Workflow("w", state=declared)
    flow.node(lambda state: {"n": state["n"] + 1, "s": state["color"], "log": [1]}, name="only")
    flow.start("only")
    thread = flow.compile(storage).thread("t")
    assert (await thread.run({"f": 2.5})).state == {
        "n": 4,
        "f": 2.5,
        "b": False,
        "s": "red",
        "log": [1],
        "d": {},
        "when": None,
        "day": None,
        "id": None,
        "color": "red",
        "item": None,
        "some": None,
        "tags": [],
    }
    # The second run has them already.
    assert (await thread.run()).state["n"] == 5


def test_a_default_that_does_not_fit_is_refused_when_the_workflow_is_declared() -> None:
    class Sloppy(pydantic.BaseModel):
        n: int = None  # type: ignore[assignment]

    with pytest.raises(ArgumentInvalidError, match="the default of 'n' does not fit"):
        Workflow("w", state=Sloppy)


@pytest.mark.parametrize("wrong", [int, list[int], dict, str])
def test_a_type_without_keys_declares_no_state(wrong: Any) -> None:
    with pytest.raises(ArgumentInvalidError, match=r"workflow\.state"):
        Workflow("w", state=wrong)


@pytest.mark.parametrize("declared", [Total, Strict])
async def test_an_agents_state_is_held_to_its_type_alike(storage: Storage, declared: Any) -> None:
    agent = Agent("a", model=OfflineModel([otherwise.say("hello")]), state=declared, storage=storage)
    first = next(iter(agent.info.state_schema["properties"]))
    with pytest.raises(StateInvalidError, match=first):
        await agent.thread("t").send("hello", state={"a": 1, "b": 1, first: "5"})
    if declared is Strict:
        with pytest.raises(StateInvalidError, match="unlucky"):
            await agent.thread("t").send("hello", lo=13)
        await agent.thread("t").send("hello")
        assert await agent.thread("t").state() == {"lo": 0, "hi": 9, "log": []}


async def test_over_grpc_the_same_is_refused(storage: Storage) -> None:
    async with serving([workflow(Model, {"n": 1}).compile()], storage) as served, Client(served.target) as client:
        thread = client.workflow("w").thread("t")
        for wrong in ({"n": "5"}, {"tags": "a,b"}):
            with pytest.raises((ClientStateInvalidError, ClientArgumentInvalidError)):
                await thread.run(wrong)
        assert (await thread.run({"s": "x"})).state["f"] == 1.0
