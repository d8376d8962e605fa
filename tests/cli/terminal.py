"""A program on a terminal of its own: what it shows is waited for, and keys are pressed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import pyte
from pyte.screens import Char

# Wide, so that what is longer than the 80 columns that programs are told of is seen to be.
_COLUMNS, _LINES = 400, 24
# Makes the terminal the controlling one, as Ctrl-C needs it to be, and becomes the command.
_ON_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
CTRL_C, CTRL_D = "\x03", "\x04"


class _Screen(pyte.HistoryScreen):
    """What a person sees, with what has scrolled away; its answers to the program go back through the terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        super().__init__(_COLUMNS, _LINES, history=10_000)

    def write_process_input(self, data: str) -> None:
        os.write(self._terminal, data.encode())

    @property
    def text(self) -> str:
        """All lines to the one with the cursor, which ends where the cursor is."""
        above = [*self.history.top, *(self.buffer[row] for row in range(self.cursor.y))]
        lines = [_read(line, max(line, default=-1) + 1).rstrip() for line in above]
        return "\n".join([*lines, _read(self.buffer[self.cursor.y], self.cursor.x)])


def _read(line: Mapping[int, Char], columns: int) -> str:
    return "".join(line[column].data for column in range(columns))


class Terminal:
    """Starts a command on a pseudo terminal of 80 columns, and shows what it writes as a real one does."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, _COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *command],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(theirs)
        self._screen = _Screen(self._ours)
        self._stream = pyte.ByteStream(self._screen)
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

    @property
    def shown(self) -> str:
        """All that was shown."""
        return self._screen.text

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
        self._stream.feed(piece)
        return bool(piece)
