"""Where the lines of a conversation come from: a person at a terminal, or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


class Lines:
    """Asks for lines. At a terminal they can be edited and recalled; from a pipe they are read, and shown."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._session: PromptSession[str] | None = None
        if self.interactive:
            from prompt_toolkit import PromptSession  # noqa: PLC0415  only a person needs it

            self._session = PromptSession()

    def ask(self, prompt: str, proposal: str = "") -> str | None:
        """The next line, without its end; None at the end of input. At a terminal `proposal` is there to be edited.

        Raises KeyboardInterrupt when Ctrl-C is pressed: at a terminal it is read as a key, so none is missed that is pressed as soon as the
        prompt is seen, as a signal may be.
        """
        if self._session is not None:
            return self._ask_person(self._session, prompt, proposal)
        line = sys.stdin.readline()
        if not line:
            return None
        line = line.rstrip("\r\n")
        sys.stdout.write(f"{prompt}{line}\n")
        sys.stdout.flush()
        return line

    @staticmethod
    def _ask_person(session: PromptSession[str], prompt: str, proposal: str) -> str | None:
        try:
            return session.prompt(prompt, default=proposal)
        except EOFError:
            return None
