"""What a supervisor says to its workers, a line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from clew_server.settings import Settings

STOP, NOW = b"stop\n", b"now\n"


@dataclass(frozen=True)
class Work:
    """The first line: which worker this is (from 1), what it serves, and with what settings. It holds keys, so it goes over a socket."""

    number: int
    targets: Sequence[str]
    settings: Settings

    def line(self) -> bytes:
        """For `read`."""
        said = {"number": self.number, "targets": list(self.targets), "settings": self.settings.handed_on()}
        return json.dumps(said).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Self:
        """What `line` wrote."""
        said = json.loads(line)
        return cls(said["number"], said["targets"], Settings.taken(said["settings"]))
