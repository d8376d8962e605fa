"""What `clew serve` finds behind its targets, and which settings go before which."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clew_server.loading import LoadError, load
from clew_server.settings import Settings
from tests.rpc.serve_process import written

IMPORT = "from clew_engine import Agent\n"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a target imports is gone after its test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def test_every_agent_of_a_file_is_found_once(tmp_path: Path) -> None:
    target = written(tmp_path, "two.py", IMPORT + "a = Agent('a')\nalso_a = a\nb = Agent('b')\n")
    assert [agent.name for agent in load([target])] == ["a", "b"]
    assert [agent.name for agent in load([f"{target}:b"])] == ["b"]


def test_a_module_is_found_from_where_the_command_was_given(tmp_path: Path) -> None:
    (tmp_path / "shops").mkdir()
    written(tmp_path, "shops/__init__.py", "")
    written(tmp_path, "shops/books.py", IMPORT + "from shops import names\nbooks = Agent(names.BOOKS)\n")
    written(tmp_path, "shops/names.py", "BOOKS = 'books'\n")
    assert [agent.name for agent in load(["shops.books"])] == ["books"]


def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path, "neighbour.py", "NAME = 'n'\n")
    target = written(tmp_path, "own.py", IMPORT + "from neighbour import NAME\nn = Agent(NAME)\n")
    assert [agent.name for agent in load([target])] == ["n"]


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("nope.py", None, "no such file"),
        ("nope", None, "no such module"),
        ("nope.deep", None, "no such module"),
        ("empty.py", "x = 1", "no agent"),
        ("twice.py", IMPORT + "a = Agent('a')\nb = Agent('a')", "two agents are named 'a'"),
        ("one.py:b", IMPORT + "a = Agent('a')", "b is not there; one.py has these agents: a"),
        ("one.py:Agent", IMPORT + "a = Agent('a')", "is a type, and no Agent"),
        ("syntax.py", "def", "could not be imported: SyntaxError"),
        ("missing.py", "import nothing_like_this", "could not be imported: ModuleNotFoundError"),
        ("exits.py", "raise SystemExit(3)", "could not be imported: SystemExit"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, target: str, text: str | None, said: str) -> None:
    if text is not None:
        written(tmp_path, target.partition(":")[0], text)
    with pytest.raises(LoadError) as refused:
        load([target])
    assert said in str(refused.value)


def test_flags_go_before_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "clew.toml", "port = 1\ngrace = 7.0\nbusy_timeout = 3\n")
    monkeypatch.setenv("CLEW_PORT", "2")
    monkeypatch.setenv("CLEW_GRACE", "8")
    settings = Settings.read({"port": 3, "grace": None})
    assert (settings.port, settings.grace, settings.busy_timeout) == (3, 8.0, 3.0)
    other = Path(written(tmp_path, "other.toml", "busy_timeout = 4\n"))
    assert Settings.read({}, other).busy_timeout == 4.0
    with pytest.raises(FileNotFoundError):
        Settings.read({}, tmp_path / "nope.toml")
