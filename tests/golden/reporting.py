"""Writes `build/golden.json`, what became of each case in each language; a plugin of pytest."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

_REPORT = Path(__file__).parents[2] / "build" / "golden.json"
_CASE = re.compile(r"tests/golden/test_\w+\.py::test_(?P<test>\w+)\[(?P<language>[a-z]+)(?:-(?P<case>\w+))?\]")
_LONGEST = 2000

_results: defaultdict[str, dict[str, str]] = defaultdict(dict)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    found = _CASE.fullmatch(report.nodeid)
    if found is None or (report.passed and report.when != "call"):
        return
    known = _results[found["language"]]
    name = found["case"] or found["test"]
    if report.failed:
        known[name] = f"failed: {report.longreprtext[-_LONGEST:]}"
    elif report.skipped:
        known[name] = f"not run: {report.longrepr[2] if isinstance(report.longrepr, tuple) else ''}"
    else:
        known.setdefault(name, "passed")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _results and not hasattr(session.config, "workerinput"):
        _REPORT.parent.mkdir(exist_ok=True)
        _REPORT.write_text(json.dumps(_results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
