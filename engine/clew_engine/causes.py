"""What an exception says, in words that can be kept and sent: authors' code and models raise anything."""

from __future__ import annotations

import traceback

# Characters of it.
MAX_CAUSE = 4000


def told(error: BaseException) -> str:
    """Its class and its message, as far as it has one."""
    return ": ".join(filter(None, class_and_text(error)))


def class_and_text(error: BaseException) -> tuple[str, str]:
    """The same, apart."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error whose words are another error
        text = ""
    name = type(error).__name__
    return name, text[: max(0, MAX_CAUSE - len(name) - 2)].encode("utf-8", "replace").decode()


def traced(error: BaseException) -> str:
    """Its traceback, for a log: whatever the error says, half of a surrogate pair too, as text that can be written."""
    return "".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace").decode().rstrip()
