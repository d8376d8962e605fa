"""Seals: what they open and for whom, what they may weigh, and the keys that settings give them."""

from __future__ import annotations

import base64
import os

import pytest

from clew_engine.errors import ResumeInvalidError, StateTooLargeError
from clew_server.rpc.wire.scalars import VALUE_BYTES
from clew_server.sealing import Seals
from clew_server.settings import Settings


def a_key() -> str:
    """A key as the settings take it."""
    return base64.b64encode(os.urandom(32)).decode()


def test_a_seal_opens_for_its_tenant_alone_and_says_the_app() -> None:
    seals = Seals()
    sealed = seals.seal("flow", "acme", b"data")
    assert seals.open("acme", sealed) == ("flow", b"data")
    assert seals.seal("flow", "acme", b"data") != sealed
    for tenant in ("", "acm", "other"):
        with pytest.raises(ResumeInvalidError):
            seals.open(tenant, sealed)
    # What the app's name loses the tenant cannot make up for.
    moved = sealed.replace(b"\x04flow", b"\x03flo")
    with pytest.raises(ResumeInvalidError):
        seals.open("wacme", moved)


def test_a_seal_weighs_what_one_value_on_the_wire_may() -> None:
    seals = Seals([bytes(32)])
    around = len(seals.seal("flow", "", b""))
    assert len(seals.seal("flow", "", bytes(VALUE_BYTES - around))) == VALUE_BYTES
    with pytest.raises(StateTooLargeError):
        seals.seal("flow", "", bytes(VALUE_BYTES - around + 1))


def test_keys_are_read_from_text_or_a_list_and_are_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = a_key(), a_key()
    both = (base64.b64decode(one), base64.b64decode(two))
    for given in (f"{one},{two}", f" {one}  {two}\n", [one, two]):
        assert Settings.read({"snapshot_key": given}).snapshot_key == both
    monkeypatch.setenv("CLEW_SNAPSHOT_KEY", f"{one} {two}")
    settings = Settings.read({})
    assert settings.snapshot_key == both
    assert "snapshot_key" not in repr(settings)
    for wrong in ("secret", one[:-8], [one, "x"], base64.b64encode(bytes(33)).decode(), 7, "ключ"):
        with pytest.raises(ValueError, match="32 bytes in base64") as refused:
            Settings.read({"snapshot_key": wrong})
        assert str(wrong) not in str(refused.value)
