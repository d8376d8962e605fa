"""A measure in a process of its own, under the disk's environment: `python -m bench.child NAME FOLDER OPTIONS`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.disks import Disk, a_folder
from bench.figures import load_rounds

_ROOT = Path(__file__).parent.parent


def run_child(name: str, disk: Disk, **options: Any) -> list[tuple[str, str, list[float]]]:
    """Run the `measure` of bench.<name> on a disk, in a folder that is swept afterwards."""
    with a_folder(disk.folder) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "bench.child", name, str(folder), json.dumps(options)],
            env=os.environ | disk.environment | {"PYTHONPATH": _path()},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return load_rounds(done.stdout)


def _path() -> str:
    return os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))


def main() -> None:
    """The child's side."""
    name, folder, options = sys.argv[1:]
    measure = import_module(f"bench.{name}").measure
    print(asyncio.run(measure(Path(folder), **json.loads(options))).dump())


if __name__ == "__main__":
    main()
