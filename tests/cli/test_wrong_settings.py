"""A setting of `clew serve` that cannot be meant is not understood: it is named as it was given, with what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from clew_server.cli.running import run
from clew_server.settings import Settings
from tests.cli.conftest import run_clew


def refused(capsys: pytest.CaptureFixture[str], flags: dict[str, Any] | None = None, config: Path | None = None) -> str:
    """What is said, before any app is loaded."""
    with pytest.raises(typer.BadParameter) as error:
        run(["none.py"], flags or {}, config=config, port_file=None, as_json=False)
    assert capsys.readouterr().err == ""
    assert error.value.exit_code == 2
    return error.value.message


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder without settings."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"workers": 0}, "--workers takes a whole number from 1 to 64, and not 0"),
        ({"recover": "foo"}, "--recover takes manual or auto, and not 'foo'"),
        ({"on_busy": "x"}, "--on-busy takes wait, reject or interrupt, and not 'x'"),
        ({"busy_timeout": -1.0}, "--busy-timeout takes a number from 0 to 3,600, and not -1.0"),
        ({"retention_days": 0.0}, "--retention-days takes a number above 0 and up to 36,525, and not 0.0"),
        (
            {"retention_keep_last": 0},
            "--retention-keep-last takes a whole number from 1 to 2,147,483,647, and not 0",
        ),
        (
            {"storage": "shop.db"},
            "--storage: 'shop.db' is not a storage URL; write sqlite://shop.db for a file, or memory://",
        ),
        ({"tls_cert": Path("x")}, "TLS needs both a certificate (--tls-cert) and its key (--tls-key)"),
        (
            {"port": 70000, "log_level": "loud"},
            "--port takes a whole number from 0 to 65,535, and not 70000; --log-level takes debug, info, warning or error, and not 'loud'",
        ),
    ],
)
def test_a_flag_is_named_with_what_it_takes(
    capsys: pytest.CaptureFixture[str], flags: dict[str, Any], told: str
) -> None:
    assert refused(capsys, flags) == told


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("CLEW_WORKERS", "many", "CLEW_WORKERS takes a whole number from 1 to 64, and not 'many'"),
        ("clew_grace", "nan", "clew_grace takes a number from 0 to 86,400, and not 'nan'"),
        ("CLEW_REFLECTION", "perhaps", "CLEW_REFLECTION takes true or false, and not 'perhaps'"),
        ("CLEW_REDIS_PREFIX", "", "CLEW_REDIS_PREFIX takes text that is not empty"),
        ("CLEW_RETENTION", "forever", "CLEW_RETENTION takes a table"),
        (
            "CLEW_RETENTION",
            '{"keep_last": "all"}',
            "keep_last in CLEW_RETENTION takes a whole number from 1 to 2,147,483,647, and not 'all'",
        ),
    ],
)
def test_a_variable_is_named_with_what_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)
    assert refused(capsys) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("workers = 1.5", "workers in clew.toml takes a whole number from 1 to 64, and not 1.5"),
        ("storage = 5", "storage in clew.toml takes text"),
        ("cache_ttl = 0", "cache_ttl in clew.toml takes a number above 0 and up to 3,155,760,000, and not 0"),
        ("tls_key = 'x'", "TLS needs both a certificate (--tls-cert) and its key (tls_key in clew.toml)"),
        ("[retention]\napps = ['']", "retention.apps.0 in clew.toml takes text that is not empty"),
        (
            "[retention]\nkeep_lats = 3",
            "retention in clew.toml: there is no setting 'keep_lats'; the nearest is 'keep_last'",
        ),
        ("worker = 1", "clew.toml: there is no setting 'worker'; the nearest is 'workers'"),
    ],
)
def test_a_line_of_the_file_is_named_with_what_it_takes(
    capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    Path("clew.toml").write_text(text)
    assert refused(capsys) == told


def test_what_goes_before_is_what_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("other.toml").write_text("port = -1")
    config = Path("other.toml")
    assert refused(capsys, config=config).startswith("port in other.toml takes")
    monkeypatch.setenv("CLEW_PORT", "-2")
    assert refused(capsys, config=config).startswith("CLEW_PORT takes")
    assert refused(capsys, {"port": -3}, config).startswith("--port takes")


def test_a_url_of_no_redis_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_REDIS", "localhost")
    assert refused(capsys, {"storage": "memory://"}).startswith("CLEW_REDIS: the URL of Redis is not one")


def test_an_option_of_a_url_is_told_with_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    Path("clew.toml").write_text("storage = 'postgresql://h/d?lease_s=nan'")
    told = refused(capsys)
    assert told.startswith("storage in clew.toml: ")
    assert "lease_s" in told


def test_a_file_of_settings_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(capsys, config=Path("none.toml"))
    assert told == "none.toml cannot be read: No such file or directory; name a file of settings (--config)"


def test_a_key_that_is_none_is_told_to_nobody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_SNAPSHOT_KEY", "geheim")
    told = refused(capsys)
    assert told.startswith("CLEW_SNAPSHOT_KEY: each key is 32 bytes in base64")
    assert "geheim" not in told


# No text is refused for these by its setting alone.
_ANY_TEXT = {"host", "storage", "redis", "socket", "tls_cert", "tls_key", "tls_client_ca"}


@pytest.mark.parametrize("setting", sorted(set(Settings.model_fields) - _ANY_TEXT - {"snapshot_key"}))
def test_every_setting_has_words_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(f"CLEW_{setting.upper()}", "")
    told = refused(capsys)
    assert told.startswith(f"CLEW_{setting.upper()} takes ")
    assert "Input" not in told


def test_the_command_ends_as_one_that_was_not_understood(tmp_path: Path) -> None:
    done = run_clew("serve", "none.py", "--workers", "0", "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    message = "Invalid value: --workers takes a whole number from 1 to 64, and not 0"
    assert json.loads(done.stderr)["error"] == {"code": "usage", "message": message, "metadata": {}}
