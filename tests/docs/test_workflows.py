from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.docs.snippets import snippets


def test_the_code_on_the_page_about_workflows_runs_from_top_to_bottom(tmp_path: Path) -> None:
    program = "\n".join(snippets("docs/workflows.md", "python"))

    run = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert (run.returncode, run.stderr) == (0, "")
