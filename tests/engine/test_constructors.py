"""What agents and storages cannot be made of is refused when they are made, by the argument's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, Storage
from clew_engine.errors import ArgumentInvalidError, StorageUnavailableError


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"hooks": [5]}, "agent.hooks"),
        ({"hooks": 5}, "agent.hooks"),
        ({"model": 5}, "agent.model"),
        ({"approval_ttl": -1}, "agent.approval_ttl"),
        ({"approval_ttl": "1"}, "agent.approval_ttl"),
        ({"limits": {}}, "agent.limits"),
        ({"storage": "sqlite://x.db"}, "agent.storage"),
    ],
)
def test_no_agent_is_made_of_it(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Agent("app", **given)
    assert raised.value.metadata["field"] == field


def test_no_storage_is_made_of_a_number() -> None:
    url: Any = 5
    with pytest.raises(ArgumentInvalidError) as raised:
        Storage(url)
    assert raised.value.metadata["field"] == "url"


def test_a_device_is_refused_and_nothing_is_made_beside_it(tmp_path: Path) -> None:
    link = tmp_path / "null.db"
    link.symlink_to("/dev/null")
    with pytest.raises(StorageUnavailableError, match="no regular file"):
        Storage(f"sqlite://{link}").open_sync()
    assert [each.name for each in tmp_path.iterdir()] == ["null.db"]
    assert not Path("/dev/null.lock").exists()
