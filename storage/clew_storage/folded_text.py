"""Text as it is compared when somebody looks for it: without case, accents and marks. Every backend and the search of messages use it."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Compatible forms, case and marks taken off; twice, since case folding may bring back what has to go."""
    if text.isascii():
        return text.lower()
    # Hangul comes out in letters, and is put together again.
    return unicodedata.normalize("NFC", _plain(_plain(text).casefold()))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    if decomposed.isascii():
        return decomposed
    marks = [ord(each) for each in set(decomposed) if unicodedata.category(each)[0] == "M"]
    return decomposed.translate(dict.fromkeys(marks)) if marks else decomposed
