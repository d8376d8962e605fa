"""What goes wrong again and again is logged when it begins."""

from __future__ import annotations

import pytest

from clew_engine.errors import StorageUnavailableError
from clew_engine.troubles import Trouble
from clew_storage import StorageAway, StorageUnavailable


def test_it_is_told_once_until_it_has_worked_or_is_another(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble("nothing could be looked for")
    for error in ("locked", "locked", "full", "full"):
        trouble.met(StorageUnavailable(error))
    trouble.over()
    trouble.met(StorageUnavailable("full"))
    said = [record.getMessage().removeprefix("nothing could be looked for: ") for record in caplog.records]
    assert said == ["locked", "full", "full"]


def test_an_outage_is_left_to_the_storage_to_tell(caplog: pytest.LogCaptureFixture) -> None:
    trouble, away = Trouble("nothing could be looked for"), StorageAway("cannot be reached")
    translated = StorageUnavailableError("cannot be reached")
    translated.__cause__ = away
    trouble.met(away)
    trouble.met(translated)
    assert caplog.records == []
