"""Fault tests end with a table of what was tried and what went wrong."""

from __future__ import annotations

import pytest

from tests.faults import figures


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = figures.table()
    if lines:
        terminalreporter.section("faults")
        for line in lines:
            terminalreporter.write_line(line)
