"""A program on a terminal of its own: what it shows is waited for, and keys are pressed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
# Makes the terminal the controlling one, as Ctrl-C needs it to be, and becomes the command.
_ON_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """Starts a command on a pseudo terminal of 80 columns."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"},
        )
        os.close(theirs)
        self.shown = ""
        self._read_to = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def wait_for(self, text: str, timeout: float = 60.0) -> str:
        """Until the text is shown after what was waited for before; gives all up to it. Fails with what there is instead."""
        deadline = time.monotonic() + timeout
        while (found := self.shown.find(text, self._read_to)) < 0:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} was not shown; what was: {self.shown[self._read_to :]!r}")
        start, self._read_to = self._read_to, found + len(text)
        return self.shown[start : self._read_to]

    def press(self, keys: str) -> None:
        """As typed, without an Enter."""
        os.write(self._ours, keys.encode())

    def enter(self, line: str) -> None:
        """A line with its Enter."""
        self.press(line + "\n")

    def ended(self, timeout: float = 60.0) -> int:
        """The exit code, when the program has ended by itself."""
        deadline = time.monotonic() + timeout
        while self._read(deadline - time.monotonic()):
            pass
        return self.process.wait(max(deadline - time.monotonic(), 1))

    def _read(self, timeout: float) -> bool:
        """Take in what comes next; False at the end, or when nothing comes."""
        ready, _, _ = select.select([self._ours], [], [], max(timeout, 0))
        if not ready:
            return False
        try:
            piece = os.read(self._ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += _ESCAPES.sub(b"", piece).decode(errors="replace")
        return bool(piece)
