"""The one normaliser of search: what a message is found by, and what a search asks for, as words. No backend has a say in it."""

from __future__ import annotations

import re

import orjson

from clew_storage.folded_text import folded

# Scripts that are written without spaces between words, and Hangul, whose endings cling to them: a character of them is a word.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3035\u3038-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(rf"(?=\w)[{_CJK}]|[^\W_{_CJK}]+")
# What a sentence has between its words is not asked for where it ends one.
_SENTENCE = ".,;:!?。、"


def words_of(*texts: str) -> frozenset[str]:
    """The words of some texts: without case, accents and marks. Characters that are in no word part words."""
    found: set[str] = set()
    for text in texts:
        found |= _words(folded(text))
    return frozenset(found)


class Search:
    """What is looked for: all of its words, and as it stands what has other characters than letters and digits in it (`100%`, `snake_case`, an emoji)."""

    def __init__(self, search: str) -> None:
        self._words = words_of(search)
        self._literal = frozenset(filter(None, map(_literal, folded(search).split())))
        texts = self._words | self._literal
        self._needles = [orjson.dumps(text)[1:-1] for text in texts] if all(map(str.isascii, texts)) else None

    def __bool__(self) -> bool:
        """Whether there is anything to find."""
        return bool(self._words or self._literal)

    def may_be_in(self, body: bytes) -> bool:
        """A look at a message's stored JSON that spares reading most of them: characters of ASCII stand there as they are, or escaped as here."""
        if not body.isascii():
            return True
        plain = body.lower()
        return self._needles is not None and all(needle in plain for needle in self._needles)

    def is_in(self, *texts: str) -> bool:
        """Whether the texts have all of it."""
        plain = [folded(text) for text in texts]
        found = frozenset[str]().union(*map(_words, plain))
        return self._words <= found and all(any(each in text for text in plain) for each in self._literal)


def _words(text: str) -> set[str]:
    return set((_ASCII_WORD if text.isascii() else _WORD).findall(text))


def _literal(word: str) -> str:
    """What must stand in the text as it is; nothing of what is words alone."""
    asked = word.strip(_SENTENCE) or word
    return asked if _WORD.sub("", asked) else ""
