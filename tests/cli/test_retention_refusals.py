"""What `clew retention` cannot mean is refused as not understood, before a database is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from clew_engine import Retention
from clew_engine.errors import ArgumentInvalidError
from clew_server.settings import Settings
from clew_storage import StorageRefused, open_storage
from tests.cli.conftest import run_clew

HUGE = "9" * 20


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--older-than", f"{HUGE}d"), "--older-than"),
        (("--older-than", f"{'9' * 400}d"), "--older-than"),
        (("--keep-last", HUGE), "--keep-last"),
        (("--older-than", "30d", "--status", ""), "--status"),
        (("--older-than", "30d", "--app", ""), "--app"),
        (("--older-than", "30d", "--user", ""), "--user"),
        (("--older-than", "30d", "--status", "cancelled"), "cancelled count as failed"),
    ],
)
def test_what_cannot_be_meant_is_not_understood(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    command = ("retention", "--storage", "sqlite://none.db", "--dry-run", "--json")
    done = run_clew(*command, *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize("seconds", [1e25, float("inf"), float("nan"), -1.0, 10**400])
def test_an_age_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ArgumentInvalidError, match="3,155,760,000 seconds"):
        Retention({"completed": seconds})


@pytest.mark.parametrize("kept", [0, 2**31, 10**20])
def test_a_count_that_is_none_is_refused(kept: int) -> None:
    with pytest.raises(ArgumentInvalidError, match="2,147,483,647"):
        Retention(keep_last=kept)


@pytest.mark.parametrize(
    "given",
    [
        {"retention_days": 1e25},
        {"retention_keep_last": 10**20},
        {"retention": {"completed_days": 1e25}},
        {"retention": {"keep_last": 10**20}},
        {"retention": {"apps": [""]}},
        {"grace": float("nan")},
        {"stall": float("inf")},
        {"ping_interval": 1e25},
    ],
)
def test_a_setting_that_is_too_large_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(given))):
        Settings.taken(given)


@pytest.mark.parametrize("option", ["lease_s=nan", "poll_s=inf", "patience_s=1e25", "pool_size=99999999999"])
def test_a_number_in_a_url_that_is_none_is_refused(option: str) -> None:
    with pytest.raises(StorageRefused, match="86,400 at most"):
        open_storage(f"postgresql://here/it?{option}")
