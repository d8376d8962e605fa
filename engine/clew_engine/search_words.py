"""The one normaliser of search: what a message is found by, and what a search asks for, as words. No backend has a say in it."""

from __future__ import annotations

import re
import unicodedata

# Scripts that are written without spaces between words: a character of them is a word.
_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3035\u3038-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(rf"(?=\w)[{_CJK}]|[^\W_{_CJK}]+")


def words_of(*texts: str) -> frozenset[str]:
    """The words of some texts: without case, accents and marks. Characters that are in no word part words, and match nothing."""
    found: set[str] = set()
    for text in texts:
        if text.isascii():
            found.update(_ASCII_WORD.findall(text.lower()))
        else:
            found.update(_WORD.findall(_folded(text)))
    return frozenset(found)


def _folded(text: str) -> str:
    """Compatible forms, case and marks taken off; twice, since case folding may bring back what has to go."""
    return _plain(_plain(text).casefold())


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    if decomposed.isascii():
        return decomposed
    marks = [ord(each) for each in set(decomposed) if unicodedata.category(each)[0] == "M"]
    return decomposed.translate(dict.fromkeys(marks)) if marks else decomposed
