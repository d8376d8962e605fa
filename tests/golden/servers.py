"""The server that cases are played against: `clew serve` on a SQLite file, which can be killed and started again on its port."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_APP = Path(__file__).with_name("app.py")


class GoldenServer:
    """One server with its file. `target` stays the same when it is started again; `gates` is where its tools say that they run."""

    def __init__(self, folder: Path) -> None:
        self.target = "127.0.0.1:0"
        self.gates = folder / "gates"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
        port = self.target.rpartition(":")[2]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(Path(sys.executable).with_name("clew"), "serve", _APP, "--json", "--port", port),
                    *("--storage", f"sqlite://{self._folder}/clew.db"),
                ],
                env=inherited | {"CLEW_GOLDEN_GATES": str(self.gates), "CLEW_HEARTBEAT": "1"},
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, (self._folder / "server.log").read_text()
        self.target = json.loads(line)["address"]

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@contextmanager
def a_server(folder: Path) -> Generator[GoldenServer, None, None]:
    """A server that runs, and is killed at the end."""
    server = GoldenServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
