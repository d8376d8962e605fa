"""A step of the schema leaves what servers of the version before need: they are at work while it is taken."""

from __future__ import annotations

import re

import pytest

from clew_storage.numbered_migrations import Migration
from clew_storage.postgres.migrations import known_migrations
from tests.upgrades.test_older_rows import format_of

# What may stand only in a step that says since which format no server needs it any more: `-- contract: 7`.
_MARK = re.compile(r"^-- contract: (\d+)$", re.MULTILINE)
_TAKES_AWAY = re.compile(
    r"\b(DROP|RENAME|TRUNCATE|OR REPLACE|DELETE FROM|ALTER COLUMN|SET NOT NULL|ALTER TYPE|ADD CONSTRAINT|ADD CHECK)\b"
    r"|\bADD COLUMN\b(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b",
    re.IGNORECASE,
)
# What a function does when it is called is no part of the step.
_BODY = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)
_COMMENT = re.compile(r"--.*")


def refusal(step: Migration) -> str:
    """Why servers of the version before could not go on after this step; empty where they can."""
    found = _TAKES_AWAY.search(_COMMENT.sub("", _BODY.sub("", step.sql)))
    if found is None:
        return ""
    mark = _MARK.search(step.sql)
    if mark is None:
        return f"step {step.version} has {found.group()!r}, and does not say since which format nobody needs it"
    if int(mark.group(1)) >= step.version - 1:
        return f"step {step.version} takes away what servers of format {step.version - 1} may need"
    return ""


def test_no_step_since_the_last_release_takes_away_what_its_servers_need() -> None:
    assert [
        refusal(step) for step in known_migrations() if step.version > format_of("postgres") and refusal(step)
    ] == []


@pytest.mark.parametrize(
    ("sql", "is_refused"),
    [
        ("ALTER TABLE clew.threads ADD COLUMN oldest integer;", False),
        ("ALTER TABLE clew.threads ADD COLUMN oldest integer NOT NULL DEFAULT 0;", False),
        ("ALTER TABLE clew.threads ADD COLUMN oldest integer NOT NULL;", True),
        ("CREATE FUNCTION clew.f_1() RETURNS void LANGUAGE sql AS $$ DELETE FROM clew.threads $$;", False),
        ("CREATE OR REPLACE FUNCTION clew.f_1() RETURNS void LANGUAGE sql AS $$ SELECT 1 $$;", True),
        ("-- A table is never to DROP.\nCREATE TABLE clew.more (id integer);", False),
        ("ALTER TABLE clew.threads DROP COLUMN line;", True),
        ("-- contract: 7\nALTER TABLE clew.threads DROP COLUMN line;", False),
        ("-- contract: 8\nALTER TABLE clew.threads DROP COLUMN line;", True),
    ],
)
def test_what_takes_away_says_since_when_nobody_needs_it(sql: str, *, is_refused: bool) -> None:
    assert bool(refusal(Migration(9, "a step", sql))) == is_refused
