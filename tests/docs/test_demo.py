from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.snippets import ROOT


def test_the_demonstration_survives_its_kill_and_runs_nothing_twice(tmp_path: Path) -> None:
    demo = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--once"],
        env={**os.environ, "CLEW_DEMO_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert demo.returncode == 0, demo
    told = [line for line in demo.stdout.splitlines() if "tool_call_finished" in line or "thread_interrupted" in line]
    assert [("look_up" in line, "refund done" in line, "interrupted" in line) for line in told] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert len((tmp_path / "ledger.jsonl").read_text().splitlines()) == 2
