"""The client as its users install it: by itself."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import importlib.util, sys
import clew
from clew.v1 import run_service_pb2
assert clew.Client("localhost:50051").thread("t-1").id == "t-1"
assert not [name for name in ("clew_engine", "clew_server", "clew_storage", "grpc_status") if importlib.util.find_spec(name)]
assert not [name for name in sys.modules if name.startswith(("clew_", "grpc_"))]
try:
    clew.Client("127.0.0.1:1", connect_timeout=0.1).thread("t-1").info_sync()
except clew.UnavailableError as error:
    print(error.code)
"""


def run(*command: str | Path, cwd: Path) -> str:
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.timeout(300)
def test_the_client_installs_and_imports_with_nothing_of_the_server(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "-w", tmp_path, ROOT / "clients" / "python", cwd=tmp_path)
    (wheel,) = tmp_path.glob("clew-*.whl")
    venv.create(tmp_path / "alone", with_pip=False)
    python = tmp_path / "alone" / "bin" / "python"
    run(*pip, "--python", python, "install", wheel, cwd=tmp_path)
    listing = "import importlib.metadata as m; print(*sorted(each.name for each in m.distributions()))"
    assert set(run(python, "-c", listing, cwd=tmp_path).split()) == {
        "clew",
        "googleapis-common-protos",
        "grpcio",
        "protobuf",
        "typing_extensions",
    }
    assert run(python, "-W", "error", "-c", PROGRAM, cwd=tmp_path) == "unavailable\n"
    files = run(
        python, "-c", "import clew, pathlib; print(*pathlib.Path(clew.__file__).parent.rglob('*'))", cwd=tmp_path
    )
    assert all(name in files for name in ("py.typed", "service_config.json", "run_service_pb2_grpc.pyi"))
