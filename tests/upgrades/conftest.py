"""The last release, as it lies in the history of this repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.faults.process import ROOT
from tests.upgrades.releases import commit


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the code of the last release."""
    there = subprocess.run(
        ["git", "cat-file", "-e", f"{commit()}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    if there.returncode:
        pytest.skip(f"the last release is not in this clone (git fetch --depth=1 origin {commit()})")
    folder = tmp_path_factory.mktemp("released")
    with subprocess.Popen(["git", "archive", commit()], cwd=ROOT, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    return folder
