"""The languages that have a client, and how the driver of each is started."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Language:
    """`command` starts the driver, which `make drivers` has built; `works`: it is a worker, too."""

    name: str
    command: tuple[str, ...]
    works: bool = True

    @property
    def programs(self) -> tuple[str, ...]:
        """What its toolchain needs, as the file `toolchain` beside the client names it."""
        told = ROOT / "clients" / self.name / "toolchain"
        return tuple(told.read_text(encoding="utf-8").split()) if told.exists() else ()

    @property
    def is_here(self) -> bool:
        """Whether this machine has the toolchain."""
        return all(shutil.which(program) for program in self.programs)


_JAVA = "build/drivers/java"
LANGUAGES = (
    Language("python", (sys.executable, "-m", "tests.golden.python_driver")),
    Language(
        "java", ("java", "-cp", f"{_JAVA}/classes:{_JAVA}/test-classes:{_JAVA}/lib/*", "dev.clew.golden.GoldenDriver")
    ),
    Language("go", ("build/drivers/go",)),
    Language("rust", ("build/drivers/rust/golden-driver",), works=False),
    Language("typescript", ("node", "build/drivers/typescript/driver.mjs")),
)
