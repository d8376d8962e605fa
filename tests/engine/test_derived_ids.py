"""Ids that the engine makes: derived from versions, and never another thread's."""

from __future__ import annotations

import pytest

from clew_engine import ids
from clew_engine.errors import IdInvalidError

UID = "0123456789abcdef"


@pytest.mark.parametrize("version", [1, 7, 10**17])
def test_ids_name_their_version(version: int) -> None:
    assert ids.checkpoint_version(UID, ids.checkpoint_id(UID, version)) == version
    assert ids.run_version(UID, ids.run_id(UID, version)) == version


def test_there_is_no_checkpoint_of_version_0() -> None:
    assert ids.checkpoint_id(UID, 0) == ""


@pytest.mark.parametrize(
    "forged",
    [
        "",
        ".",
        "1",
        UID,
        f"{UID}.",
        f"{UID}.0",
        f"{UID}.01",
        f"{UID}.-1",
        f"{UID}.1 ",
        f"{UID}.1\n",
        f"{UID}.r1",
        f"{UID}.{'9' * 19}",
        "fedcba9876543210.1",
        f"{UID}.\u0661",
    ],
)
def test_what_is_no_checkpoint_id_of_a_thread_names_none(forged: str) -> None:
    assert ids.checkpoint_version(UID, forged) is None
    assert ids.run_version(UID, forged.replace(".", ".r")) is None or forged == f"{UID}.r1"


def test_uids_are_16_characters_and_differ() -> None:
    made = {ids.new_uid() for _ in range(100)}
    assert len(made) == 100
    assert {len(uid) for uid in made} == {16}
    assert all(ids.checkpoint_version(uid, f"{uid}.1") == 1 for uid in made)


def test_the_idempotency_key_tells_tenant_thread_run_and_call_apart() -> None:
    keys = {
        ids.idempotency_key("a", "b", "c", "d"),
        ids.idempotency_key("x", "b", "c", "d"),
        ids.idempotency_key("a", "x", "c", "d"),
        ids.idempotency_key("a", "b", "x", "d"),
        ids.idempotency_key("a", "b", "c", "x"),
        ids.idempotency_key("ab", "", "c", "d"),
    }
    assert len(keys) == 6
    assert ids.idempotency_key("a", "b", "c", "d") in keys


def test_what_is_stored_of_a_request_id_does_not_say_it() -> None:
    assert len(ids.request_hash("my request")) == 16
    assert b"my request" not in ids.request_hash("my request")
    assert ids.request_hash("a") != ids.request_hash("b")


@pytest.mark.parametrize("value", ["a", "A-1", "x" * 128, "a@b:c", "..."])
def test_an_id_that_is_one_path_segment_is_fine(value: str) -> None:
    assert ids.check_id(value, "thread_id") == value


@pytest.mark.parametrize("value", ["", ".", "..", "a/b", "a%b", "a b", "ä", "x" * 129, "a\n"])
def test_another_is_refused_with_its_field(value: str) -> None:
    with pytest.raises(IdInvalidError, match="thread_id") as raised:
        ids.check_id(value, "thread_id")
    assert raised.value.metadata == {"field": "thread_id"}


@pytest.mark.parametrize("made", ["m1.0", "m007.00", f"m{'9' * 40}.1"])
def test_ids_of_the_form_that_the_engine_makes_cannot_be_chosen_for_a_message(made: str) -> None:
    with pytest.raises(IdInvalidError):
        ids.check_new_message_id(made, "id")
    assert ids.message_version(made) == int(made[1:].partition(".")[0])


@pytest.mark.parametrize("chosen", ["m1", "m1.", "m.1", "m1.0a", "M1.0", "m-1.0", "mine"])
def test_any_other_id_can(chosen: str) -> None:
    assert ids.check_new_message_id(chosen, "id") == chosen
    assert ids.message_version(chosen) is None
