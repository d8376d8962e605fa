"""Where the lines of a conversation come from: a person at a terminal, or a pipe."""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType


class Lines:
    """Asks for lines. At a terminal they can be edited and recalled; from a pipe they are read, and shown."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._editor: ModuleType | None = None
        if self.interactive:
            with contextlib.suppress(ImportError):
                import readline  # noqa: PLC0415  input() edits lines with it, once it is imported

                self._editor = readline

    def ask(self, prompt: str, proposal: str = "") -> str | None:
        """The next line, without its end; None at the end of input. At a terminal `proposal` is there to be edited."""
        if self.interactive:
            return self._ask_person(prompt, proposal)
        line = sys.stdin.readline()
        if not line:
            return None
        line = line.rstrip("\r\n")
        sys.stdout.write(f"{prompt}{line}\n")
        sys.stdout.flush()
        return line

    def _ask_person(self, prompt: str, proposal: str) -> str | None:
        editor = self._editor
        if editor is not None and proposal:
            editor.set_startup_hook(lambda: editor.insert_text(proposal))
        try:
            return input(prompt)
        except EOFError:
            sys.stdout.write("\n")
            return None
        finally:
            if editor is not None:
                editor.set_startup_hook(None)
