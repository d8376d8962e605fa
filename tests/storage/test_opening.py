"""A storage by its URL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clew_storage import StorageRefused, default_path, open_storage
from clew_storage.postgres import PostgresBackend, PostgresSettings


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://host/db", "no storage is known by mysql://"),
        ("redis://", "memory://, sqlite:// and postgresql://"),
        ("postgresql://host/db?schema=Mine", "use small letters, digits and underscores"),
        ("postgresql://host/db?schema=9x", "begin with none of the digits"),
        ("postgres://host/db?schema=pg_x", "names that begin with pg_ are the database's own"),
        (f"postgres://host/db?schema={'x' * 64}", "it has 64 characters, and may have 63"),
        ("postgresql://host/db?pgbouncer=yes", "pgbouncer is one of 0, 1"),
        ("postgresql://host/db?lease_s=soon&sslpassword=secret", "sslpassword=***: lease_s is a number"),
        ("postgresql://ada:secret@host/db?lease_s=soon", "ada:***@host/db?lease_s=soon: lease_s is a number"),
        ("postgresql://host/db?lease_s=0", "lease_s must be greater than 0"),
        ("postgresql://host/db?pool_size=2", "it takes 3 at least"),
        ("postgresql://ada:secret@host:99999/db", "the port of a host is not a number from 1 to 65535"),
        ("postgresql://one:5432,two:port/db", "the port of a host is not a number from 1 to 65535"),
        ("postgresql://[::1]:0/db", "the port of a host is not a number from 1 to 65535"),
        ("clew.db", "sqlite://clew.db"),
        ("", "not a storage URL"),
        ("ada:se:cret@host/db", "'ada:***@host/db' is not a storage URL; write sqlite://ada:***@host/db for a file"),
        ("ada:se/cr@et@host/db", "'ada:***@host/db' is not a storage URL"),
        ("sqlite://", "names no file"),
        ("sqlite://x.db?mode=rx", "mode is one of ro, rw"),
        ("sqlite://x.db?synchronous=OFF", "unknown option synchronous"),
        ("sqlite://:memory:?mode=ro", "cannot be read-only"),
        ("memory://shared", "takes no name"),
    ],
)
def test_a_url_that_names_no_storage_is_refused_with_what_to_write(url: str, says: str) -> None:
    with pytest.raises(StorageRefused, match=re.escape(says)):
        open_storage(url)


@pytest.mark.parametrize(
    "password", ["geh/eim", "geh?eim", "geh#eim", "12/geheim", "12?geheim", "12#geheim", "geh[eim"]
)
def test_a_password_that_is_not_escaped_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(StorageRefused, match="write / as %2F") as refused:
        open_storage(f"postgresql://ada:{password}@host/db?lease_s=soon")
    assert "geh" not in str(refused.value)
    with pytest.raises(StorageRefused, match="write / as %2F"):
        PostgresBackend(PostgresSettings(f"postgresql://ada:{password}@host/db"))


async def test_a_relative_path_is_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    backend = open_storage("sqlite://data/clew.db")
    await backend.open()
    await backend.close()
    assert (tmp_path / "data" / "clew.db").exists()


async def test_a_path_may_hold_anything_when_it_is_escaped(tmp_path: Path) -> None:
    backend = open_storage(f"sqlite://{tmp_path}/100%25%20of%3Fit%23.db")
    await backend.open()
    await backend.check()
    await backend.close()
    assert (tmp_path / "100% of?it#.db").exists()


async def test_without_a_url_the_data_goes_to_the_users_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    backend = open_storage()
    assert backend.url == f"sqlite://{tmp_path}/share/clew/clew.db"
    await backend.open()
    await backend.close()
    assert default_path().exists()
    assert (tmp_path / "share" / "clew").stat().st_mode & 0o777 == 0o700


def test_a_default_folder_that_cannot_be_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageRefused, match="name a file"):
        open_storage()
