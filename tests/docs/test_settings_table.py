"""The table of settings on the page of the command line is the one that the settings make."""

from __future__ import annotations

import inspect
from typing import Any, Literal, get_args, get_origin

from clew_server.cli.serve import serve
from clew_server.settings import Settings
from tests.docs.snippets import ROOT

HEAD = "| setting | default | what it says |\n| --- | --- | --- |\n"


def row(name: str) -> str:
    """One setting as the page shows it."""
    field = Settings.model_fields[name]
    words: Any = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    said = " ".join((field.description or "").split())
    if words:
        said = f"{said} {', '.join(f'`{word}`' for word in words)}"
    default = (
        ""
        if field.default in (None, ())
        else f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"
    )
    return f"| `{name}` | {default} | {said} |\n"


def test_every_setting_is_on_the_page_as_it_is() -> None:
    table = HEAD + "".join(map(row, Settings.model_fields))
    assert table in (ROOT / "docs/cli.md").read_text(encoding="utf-8"), f"docs/cli.md should have:\n{table}"


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_help_names_the_settings_that_have_no_option() -> None:
    options = set(inspect.signature(serve).parameters)
    for name in Settings.model_fields:
        assert name in options or name in (serve.__doc__ or ""), name
