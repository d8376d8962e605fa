"""The languages that have a client, and how the driver of each is started."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Language:
    """`programs` is what its toolchain needs; `command` starts the driver, which `make drivers` has built."""

    name: str
    command: tuple[str, ...]
    programs: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether this machine has the toolchain."""
        return all(shutil.which(program) for program in self.programs)


LANGUAGES = (Language("python", (sys.executable, "-m", "tests.golden.python_driver")),)
