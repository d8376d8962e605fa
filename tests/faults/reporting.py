"""Gathers the figures of fault tests, from wherever they ran, into a table and `build/faults.json`; a plugin of pytest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults import figures


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker_output = getattr(session.config, "workeroutput", None)
    if worker_output is not None:
        worker_output["faults"] = figures.told()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told = getattr(node, "workeroutput", {}).get("faults")
    if told is not None:
        figures.take(told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = figures.table()
    if lines:
        terminalreporter.section("faults")
        for line in lines:
            terminalreporter.write_line(line)
