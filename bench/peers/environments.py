"""An environment of its own for each peer, made on first use from its pinned requirements."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
# Before the Python that runs this; PEER_PYTHON names another one for all of them.
_PREFERRED = "python3.12"


@dataclass(frozen=True, slots=True)
class Peer:
    """Its name, that of its program and its requirements, its distribution, and the oldest Python that it runs on."""

    name: str
    program: str
    distribution: str
    python: tuple[int, int]


PEERS = (
    Peer("LangGraph", "langgraph", "langgraph", (3, 11)),
    Peer("DBOS", "dbos", "dbos", (3, 11)),
    Peer("10xgraph", "tenxgraph", "10xgraph", (3, 12)),
)


class NotInstalledError(Exception):
    """This peer cannot be had here; the text says why."""


def python_of(peer: Peer, folder: Path) -> Path:
    """The Python that has the peer, in the environment below the folder, which is made when it is not there or of other requirements.

    Raises:
        NotInstalledError: There is no Python for it, or its packages cannot be installed.
    """
    interpreter = _interpreter(peer)
    requirements = _HERE / f"{peer.program}.txt"
    wanted = f"{_version(interpreter)}\n{requirements.read_text(encoding='utf-8')}"
    home = folder / peer.program
    python, made = home / "bin" / "python", home / "made_of"
    if made.exists() and made.read_text(encoding="utf-8") == wanted:
        return python
    _run([interpreter, "-I", "-m", "venv", "--clear", str(home)])
    install = ("install", "-q", "--disable-pip-version-check", "--retries", "1", "-r", str(requirements))
    _run([str(python), "-I", "-m", "pip", *install])
    made.write_text(wanted, encoding="utf-8")
    return python


def versions(peer: Peer, python: Path) -> str:
    """The peer's version, and that of the Python that it runs on."""
    code = f"import platform, importlib.metadata as m; print(m.version('{peer.distribution}'), 'on Python', platform.python_version())"
    return subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def _interpreter(peer: Peer) -> str:
    named = os.environ.get("PEER_PYTHON")
    for candidate in [named] if named else [_PREFERRED, sys.executable]:
        if _version(candidate) >= peer.python:
            return candidate
    oldest = ".".join(map(str, peer.python))
    raise NotInstalledError(
        f"{named} is not a Python {oldest}" if named else f"no Python {oldest} was found; PEER_PYTHON names one"
    )


def _version(python: str) -> tuple[int, int]:
    """Of what can be started by this name; (0, 0) when it is no Python that runs."""
    command = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        major, minor = map(int, done.stdout.split())
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0, 0
    return major, minor


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise NotInstalledError(f"it could not be installed: {said[-1].strip()}")
