"""What agents and storages cannot be made of is refused when they are made, by the argument's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, Limits, RunOptions, Storage, Tuning, Workflow, open_storage, tool
from clew_engine.errors import ArgumentInvalidError, IdInvalidError, StorageUnavailableError
from clew_storage import ThreadKey

ANY: list[Any] = [5]


def ping() -> str:
    """A tool."""
    return "pong"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"hooks": [5]}, "agent.hooks"),
        ({"hooks": 5}, "agent.hooks"),
        ({"model": 5}, "agent.model"),
        ({"approval_ttl": -1}, "agent.approval_ttl"),
        ({"approval_ttl": "1"}, "agent.approval_ttl"),
        ({"approval_ttl": float("nan")}, "agent.approval_ttl"),
        ({"approval_ttl": 1e300}, "agent.approval_ttl"),
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


NO_TIMES = [float("nan"), float("inf"), float("-inf"), -1, 1e300, 10**30, "1", True]
# What no clock or counter of the contract holds.
NO_LIMITS = [
    *(("steps", value) for value in (float("inf"), float("nan"), 10**30, 2**31, -1, 1.5)),
    *(("tokens", value) for value in (float("inf"), float("nan"), 10**30, 2**63, -1, 1.5)),
    *(("seconds", value) for value in NO_TIMES),
    *(("tool_seconds", value) for value in NO_TIMES),
]


@pytest.mark.parametrize(("name", "value"), NO_LIMITS)
def test_no_limit_is_made_of_a_number_that_is_none(name: str, value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Limits(**{name: value})
    assert raised.value.metadata["field"] == f"limits.{name}"


def test_the_largest_limits_are_those_of_the_contract() -> None:
    most = Limits(steps=2**31 - 1, tokens=2**63 - 1, seconds=315_576_000_000, tool_seconds=315_576_000_000)
    assert most.narrowed(Limits()) == Limits(tokens=2**63 - 1)


@pytest.mark.parametrize("value", [*NO_TIMES, 3601])
def test_no_options_are_made_of_a_time_to_wait_that_is_none(value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        RunOptions(busy_timeout_s=value)
    assert raised.value.metadata["field"] == "busy_timeout"


@pytest.mark.parametrize("value", [float("nan"), "1", True])
def test_no_options_are_made_of_a_deadline_that_is_none(value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        RunOptions(deadline_s=value)
    assert raised.value.metadata["field"] == "deadline_s"


async def test_a_deadline_may_be_over_and_may_be_without_an_end() -> None:
    async with Storage("memory://") as storage:
        key = ThreadKey("", "t")
        for deadline_s in (-5.0, float("inf"), 1e300, 10**30):
            async with storage.holding(key, RunOptions(deadline_s=deadline_s)) as thread:
                assert thread.version == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("heartbeat_s", value) for value in NO_TIMES),
        *(("look_s", value) for value in NO_TIMES),
        *(("cache_bytes", value) for value in (float("inf"), float("nan"), 10**30, -1, "1")),
        *(("recover_tries", value) for value in (float("inf"), float("nan"), 10**30, 0, "1")),
    ],
)
def test_no_tuning_is_made_of_a_number_that_is_none(name: str, value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Tuning(**{name: value})
    assert raised.value.metadata["field"] == name


@pytest.mark.parametrize("value", [*NO_TIMES, 0])
def test_no_tool_and_no_workflow_are_made_of_a_time_that_is_none(value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as of_tool:
        tool(timeout=value)(ping)
    assert of_tool.value.metadata["field"] == "tool.timeout"
    flow = Workflow("flow")
    flow.node(lambda _: {}, name="only")
    flow.start("only")
    with pytest.raises(ArgumentInvalidError) as of_flow:
        flow.compile(approval_ttl=value)
    assert of_flow.value.metadata["field"] == "workflow.approval_ttl"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 1e300, 10**30])
async def test_no_set_up_waits_for_a_time_that_is_none(value: Any) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        await Storage("memory://").setup(timeout=value)
    assert raised.value.metadata["field"] == "timeout"


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
