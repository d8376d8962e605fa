"""What is said of settings that cannot be meant: each by the name that it was given under, with what it takes."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic

from clew_server.settings import CONFIG_FILE, Settings

# What is longer is not repeated.
_SHOWN = 40


class GivenSettings:
    """Where each setting came from: flags before the environment before the file."""

    def __init__(self, flags: Mapping[str, Any], config: Path | None) -> None:
        self._flags = {name for name, value in flags.items() if value is not None}
        self._variables = {name.upper(): name for name in os.environ}
        self._file = config or Path(CONFIG_FILE)

    def told(self, error: pydantic.ValidationError) -> str:
        """All that is wrong, in a sentence each."""
        schema = Settings.model_json_schema()
        return "; ".join(self._sentence(each, schema) for each in error.errors(include_url=False))

    def _sentence(self, error: Any, schema: dict[str, Any]) -> str:
        kind, place, why = error["type"], error["loc"], str(error["msg"]).removeprefix("Value error, ")
        if not place:
            # Several settings that do not go together; the words name them.
            return re.sub(r"\w+", lambda word: self._name_if_setting(word[0]), why)
        if kind == "value_error":
            return f"{self.name(*place)}: {why}"
        if kind == "extra_forbidden":
            *table, name = place
            known = _part(schema, tuple(table), schema)["properties"]
            (nearest,) = difflib.get_close_matches(str(name), known, n=1, cutoff=0)
            return f"{self.name(*table)}: there is no setting {name!r}; the nearest is {nearest!r}"
        part = _part(schema, place, schema)
        return f"{self.name(*place)} takes {_words(part)}{_instead(error['input'], part)}"

    def _name_if_setting(self, word: str) -> str:
        # Words such as `host` are words, too.
        return self.name(word) if "_" in word and word in Settings.model_fields else word

    def name(self, setting: str, *within: str | int) -> str:
        """What a setting was given as; of a table, what is within it."""
        path = ".".join(map(str, within))
        if setting in self._flags:
            return _flag(setting)
        variable = self._variables.get(f"CLEW_{setting.upper()}")
        if variable is not None:
            return f"{path} in {variable}" if path else variable
        if not self._file.exists() or setting not in self._file.read_text(encoding="utf-8"):
            return _flag(setting)  # It was left out.
        return f"{'.'.join(filter(None, (setting, path)))} in {self._file}"


def _flag(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def _part(schema: dict[str, Any], place: tuple[str | int, ...], root: dict[str, Any]) -> dict[str, Any]:
    """The schema of what is at a place; what may also be left out is as what it is otherwise."""
    schema = schema.get("anyOf", [schema])[0]
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if not place:
        return schema
    step, *rest = place
    return _part(schema["items"] if isinstance(step, int) else schema["properties"][step], tuple(rest), root)


def _words(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        *others, last = schema["enum"]
        return f"{', '.join(others)} or {last}"
    if schema["type"] in ("integer", "number"):
        whole = "a whole number" if schema["type"] == "integer" else "a number"
        most = f"{schema['maximum']:,.10g}"
        if "exclusiveMinimum" in schema:
            return f"{whole} above {schema['exclusiveMinimum']} and up to {most}"
        return f"{whole} from {schema['minimum']} to {most}"
    texts = {"boolean": "true or false", "array": "a list", "object": "a table"}
    return texts.get(schema["type"], "text that is not empty" if schema.get("minLength") else "text")


def _instead(given: Any, schema: dict[str, Any]) -> str:
    """What was given; of what may be a secret nothing is told."""
    closed = "enum" in schema or schema["type"] in ("integer", "number", "boolean")
    shown = repr(given)
    return f", and not {shown}" if closed and len(shown) <= _SHOWN else ""
