"""Fault tests leave no process behind, and end with a table of what was tried and what went wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from tests.faults import figures, process

# Takes loop devices, which not every machine that runs the short form has.
collect_ignore = [] if figures.FULL else ["test_database_power_cuts.py"]


@pytest.fixture(autouse=True)
async def no_process_is_left() -> AsyncIterator[None]:
    """What a test that failed in the middle did not end is ended here."""
    yield
    while process.RUNNING:
        child = process.RUNNING.pop()
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = figures.table()
    if lines:
        terminalreporter.section("faults")
        for line in lines:
            terminalreporter.write_line(line)
