"""What agents and storages cannot be made of is refused when they are made, by the argument's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, Limits, Storage, Workflow, open_storage, tool
from clew_engine.errors import ArgumentInvalidError, IdInvalidError, StorageUnavailableError

ANY: list[Any] = [5]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"hooks": [5]}, "agent.hooks"),
        ({"hooks": 5}, "agent.hooks"),
        ({"model": 5}, "agent.model"),
        ({"approval_ttl": -1}, "agent.approval_ttl"),
        ({"approval_ttl": "1"}, "agent.approval_ttl"),
        ({"limits": {}}, "agent.limits"),
        ({"tools": 5}, "agent.tools"),
        ({"tools": [5]}, "agent.tools"),
        ({"approve": 5}, "agent.approve"),
        ({"instructions": 5}, "agent.instructions"),
        ({"settings": {}}, "agent.settings"),
        ({"description": 5}, "agent.description"),
        ({"storage": "sqlite://x.db"}, "agent.storage"),
    ],
)
def test_no_agent_is_made_of_it(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Agent("app", **given)
    assert raised.value.metadata["field"] == field


@pytest.mark.parametrize("given", [{"on_busy": "perhaps"}, {"busy_timeout": "x"}, {"busy_timeout": -1}])
def test_no_storage_is_made_with_it(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentInvalidError):
        Storage("memory://", **given)


FLOWS: list[tuple[str, Callable[[], object]]] = [
    ("workflow.name", lambda: Workflow(ANY[0])),
    ("workflow.reducers", lambda: Workflow("flow", reducers=ANY[0])),
    ("workflow.limits", lambda: Workflow("flow", limits=ANY[0])),
    ("workflow.node", lambda: Workflow("flow").node(ANY[0])),
    ("tool", lambda: tool(ANY[0])),
    ("workflow.edge", lambda: Workflow("flow").edge(ANY[0], "a")),
]


@pytest.mark.parametrize(("field", "make"), FLOWS, ids=[field for field, _ in FLOWS])
def test_no_workflow_is_made_of_it(field: str, make: Callable[[], object]) -> None:
    with pytest.raises((ArgumentInvalidError, IdInvalidError)) as raised:
        make()
    assert raised.value.metadata["field"] == field


@pytest.mark.parametrize("steps", ["a", True, 0])
def test_no_limit_is_made_of_it(steps: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Limits(steps=steps)
    assert raised.value.metadata["field"] == "limits.steps"


def test_no_storage_is_made_of_a_number() -> None:
    url: Any = 5
    with pytest.raises(ArgumentInvalidError) as raised:
        Storage(url)
    assert raised.value.metadata["field"] == "url"


@pytest.mark.parametrize("url", ["shop.db", "mysql://host/db", "sqlite://", "sqlite://x.db?mode=w", "memory://x"])
@pytest.mark.parametrize("make", [Storage, open_storage])
def test_no_storage_is_made_of_a_url_that_names_none(make: Callable[[str], Storage], url: str) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        make(url)
    assert raised.value.metadata["field"] == "url"


def test_a_device_is_refused_and_nothing_is_made_beside_it(tmp_path: Path) -> None:
    link = tmp_path / "null.db"
    link.symlink_to("/dev/null")
    with pytest.raises(StorageUnavailableError, match="no regular file"):
        Storage(f"sqlite://{link}").open_sync()
    assert [each.name for each in tmp_path.iterdir()] == ["null.db"]
    assert not Path("/dev/null.lock").exists()
