"""Fault tests leave no process behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults import figures, process


@pytest.fixture(autouse=True)
async def no_process_is_left() -> AsyncIterator[None]:
    """What a test that failed in the middle did not end is ended here."""
    yield
    while process.RUNNING:
        child = process.RUNNING.pop()
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Campaigns are for `make faults`; naming their file is asking for them, too."""
    if figures.FORM:
        return
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    left_out = [each for each in items if each.get_closest_marker("campaign") and each.path not in named]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [each for each in items if each not in left_out]
