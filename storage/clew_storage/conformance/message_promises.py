"""Messages: the transcript of a line, by position, each as its newest write on that line."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from typing import Any

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_message,
    a_thread,
    a_write,
    fork,
    grow,
)
from clew_storage.errors import VersionConflict
from clew_storage.port import Backend
from clew_storage.records import CheckpointRedaction, MessageRecord


async def ids(backend: Backend, **asked: Any) -> list[str]:
    """The ids of the transcript of the example's thread."""
    return [message.id for message in await backend.messages.list_messages(KEY, **asked)]


class MessagePromises(Promises):
    """`Messages`."""

    async def test_a_message_comes_back_as_it_was_written(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        written = (
            MessageRecord("m1.0", 1, 1, "user", NOW - 5, b'{"text":"\x00 9007199254740993 \xf0\x9f\x98\x80"}'),
            MessageRecord("m1.17", 1, 2, "assistant", NOW, b""),
            MessageRecord("m01.0", 1, 3, "tool", NOW, b"{}"),
            MessageRecord("m1.00", 1, 4, "system", NOW, b"{}"),
            MessageRecord("m7.1", 1, 5, "critic", NOW, b"{}"),
            MessageRecord("17", 1, 6, "2", NOW, b"{}"),
            MessageRecord("chosen-id", 1, 1 << 40, "user", NOW, b"{}"),
        )
        await backend.threads.append(a_write(grant, messages=written))
        assert tuple(await backend.messages.list_messages(KEY)) == written
        for message in written:
            assert await backend.messages.get_message(KEY, message.id) == message

    async def test_there_are_no_messages_where_there_is_no_thread(self, backend: Backend) -> None:
        assert await ids(backend) == []
        assert await backend.messages.get_message(KEY, "m1.0") is None

    async def test_there_are_no_messages_at_a_version_that_is_not_stored(self, backend: Backend) -> None:
        await a_line(backend, 2)
        assert await ids(backend, at_version=9) == []

    async def test_the_order_is_that_of_positions_whatever_was_written_first(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, messages=(a_message(1, 1),)))
        await backend.threads.append(a_write(grant, 2, messages=(a_message(2, 3),)))
        await backend.threads.append(a_write(grant, 3, messages=(a_message(3, 2),)))
        assert await ids(backend) == ["m1.0", "m3.0", "m2.0"]
        assert await ids(backend, newest_first=True) == ["m2.0", "m3.0", "m1.0"]

    async def test_the_newest_row_of_a_position_is_the_message_there(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        edited = a_message(4, 2, id="m2.0", body=b'{"text":"edited"}')
        await backend.threads.append(a_write(grant, 4, messages=(edited,)))
        assert await ids(backend) == ["m1.0", "m2.0", "m3.0"]
        assert await backend.messages.get_message(KEY, "m2.0") == edited
        (old,) = [one for one in await backend.messages.list_messages(KEY, at_version=3) if one.id == "m2.0"]
        assert old == a_message(2)

    async def test_a_message_replaced_under_a_new_id_is_gone(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await backend.threads.append(a_write(grant, 4, messages=(a_message(4, 3),)))
        assert await ids(backend) == ["m1.0", "m2.0", "m4.0"]
        assert await backend.messages.get_message(KEY, "m3.0") is None

    async def test_after_a_rewind_only_its_line_is_seen(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 2)
        assert await ids(backend) == ["m1.0", "m2.0"]
        assert await backend.messages.get_message(KEY, "m4.0") is None
        await backend.threads.append(a_write(grant, 7, messages=(a_message(7, 3),)))
        assert await ids(backend) == ["m1.0", "m2.0", "m7.0"]
        assert await ids(backend, at_version=5) == ["m1.0", "m2.0", "m3.0", "m4.0", "m5.0"]
        assert await ids(backend, at_version=4) == ["m1.0", "m2.0", "m3.0", "m4.0"]
        assert await ids(backend, at_version=6) == ["m1.0", "m2.0"]

    async def test_a_rewind_to_before_an_edit_shows_what_was_there(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await backend.threads.append(a_write(grant, 4, messages=(a_message(4, 2, id="m2.0"),)))
        await fork(backend, grant, 5, 3)
        assert await backend.messages.get_message(KEY, "m2.0") == a_message(2)

    @pytest.mark.parametrize("newest_first", [False, True])
    async def test_pages_join_without_a_gap_or_a_repeat(self, backend: Backend, *, newest_first: bool) -> None:
        grant = await a_line(backend, 9)
        await fork(backend, grant, 10, 7)
        await grow(backend, grant, range(11, 14))
        whole = await ids(backend, newest_first=newest_first)
        found: list[str] = []
        after: int | None = None
        while page := await backend.messages.list_messages(
            KEY, after_position=after, limit=3, newest_first=newest_first
        ):
            assert len(page) <= 3
            found += [message.id for message in page]
            after = page[-1].position
        assert found == whole
        assert len(whole) == 10

    async def test_a_page_begins_beyond_a_position_that_need_not_be_there(self, backend: Backend) -> None:
        await a_line(backend, 4)
        assert await ids(backend, after_position=2) == ["m3.0", "m4.0"]
        assert await ids(backend, after_position=0, limit=1) == ["m1.0"]
        assert await ids(backend, after_position=3, newest_first=True) == ["m2.0", "m1.0"]
        assert await ids(backend, after_position=99, newest_first=True, limit=1) == ["m4.0"]
        assert await ids(backend, after_position=99) == []

    async def test_position_zero_is_a_place_as_any(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, messages=(a_message(1, 0),)))
        assert await ids(backend) == ["m1.0"]

    async def test_many_abandoned_messages_at_one_position_hide_nothing(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        version = 2
        for _ in range(20):
            await fork(backend, grant, version + 1, 1)
            await backend.threads.append(a_write(grant, version + 2, messages=(a_message(version + 2, 2),)))
            version += 2
        assert await ids(backend) == ["m1.0", f"m{version}.0"]
        assert await ids(backend, newest_first=True, limit=1) == [f"m{version}.0"]
        assert await ids(backend, at_version=6) == ["m1.0", "m6.0"]

    async def test_a_chosen_id_is_found_wherever_the_line_has_it(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        await backend.threads.append(a_write(grant, 3, messages=(a_message(3, 3, id="mine"),)))
        await fork(backend, grant, 4, 2)
        assert await backend.messages.get_message(KEY, "mine") is None
        again = a_message(5, 4, id="mine")
        await backend.threads.append(a_write(grant, 5, messages=(a_message(5, 3), again)))
        assert await backend.messages.get_message(KEY, "mine") == again

    async def test_messages_of_two_threads_are_independent(self, backend: Backend) -> None:
        await a_line(backend, 2)
        await a_line(backend, 4, OTHER)
        assert len(await ids(backend)) == 2
        assert await backend.messages.get_message(KEY, "m3.0") is None

    async def test_a_large_message_comes_back_whole(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        body = bytes(range(256)) * 14_000
        await backend.threads.append(a_write(grant, messages=(a_message(1, body=body),)))
        (message,) = await backend.messages.list_messages(KEY)
        assert message.body == body

    async def test_an_erased_message_is_in_no_version_and_the_others_are(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await backend.threads.append(a_write(grant, 4, messages=(a_message(4, 2, id="m2.0", body=b"edited"),)))
        await backend.threads.append(a_write(grant, 5, erased=("m2.0",)))
        for version in (None, 2, 3, 4, 5):
            assert "m2.0" not in await ids(backend, at_version=version)
        assert await ids(backend) == ["m1.0", "m3.0"]
        assert await backend.messages.get_message(KEY, "m2.0") is None
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=9, max_bytes=99_999)
        assert [[message.id for message in entry.messages] for entry in log] == [["m1.0"], [], ["m3.0"], [], []]

    async def test_an_erased_message_stays_away_after_a_rewind(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await backend.threads.append(a_write(grant, 4, erased=("m2.0",)))
        await fork(backend, grant, 5, 3)
        assert await ids(backend) == ["m1.0", "m3.0"]

    async def test_what_an_erased_message_had_replaced_does_not_come_back(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        await backend.threads.append(a_write(grant, 3, messages=(a_message(3, 2),)))
        await backend.threads.append(a_write(grant, 4, erased=("m3.0",)))
        assert await ids(backend) == ["m1.0"]
        assert await ids(backend, at_version=2) == ["m1.0"]

    async def test_a_message_at_the_same_place_of_another_line_is_not_erased(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await fork(backend, grant, 4, 2)
        await backend.threads.append(a_write(grant, 5, messages=(a_message(5, 3),)))
        await backend.threads.append(a_write(grant, 6, erased=("m5.0",)))
        assert await ids(backend) == ["m1.0", "m2.0"]
        assert await ids(backend, at_version=3) == ["m1.0", "m2.0", "m3.0"]

    async def test_a_message_off_the_line_is_erased_by_its_id(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await fork(backend, grant, 4, 2)
        await backend.threads.append(a_write(grant, 5, erased=("m3.0", "m9.0", "none")))
        assert await ids(backend, at_version=3) == ["m1.0", "m2.0"]

    async def test_a_place_that_was_erased_may_be_taken_again(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        await backend.threads.append(a_write(grant, 3, erased=("m2.0",), messages=(a_message(3, 2),)))
        assert await ids(backend) == ["m1.0", "m3.0"]
        assert await ids(backend, at_version=2) == ["m1.0"]

    async def test_erasing_in_a_write_that_is_refused_erases_nothing(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        with pytest.raises(VersionConflict):
            await backend.threads.append(a_write(grant, 2, erased=("m1.0",)))
        assert await ids(backend) == ["m1.0", "m2.0"]

    async def test_a_copy_keeps_what_is_erased_in_its_source_and_the_other_way_round(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        made = a_thread()
        copied = a_write(grant, 3, key=OTHER, uid=made.uid, fork_of=2, expected_version=2, info=None)
        await backend.threads.copy_thread(KEY, UID, made, copied)
        await backend.threads.append(a_write(grant, 3, erased=("m1.0",)))
        assert await ids(backend) == ["m2.0"]
        assert [each.id for each in await backend.messages.list_messages(OTHER)] == ["m1.0", "m2.0"]
        grant = await a_grant(backend, OTHER)
        await backend.threads.append(a_write(grant, 4, uid=made.uid, erased=("m2.0",), info=None))
        assert [each.id for each in await backend.messages.list_messages(OTHER)] == ["m1.0"]
        assert await ids(backend) == ["m2.0"]

    async def test_a_redacted_checkpoint_has_another_body_and_is_otherwise_as_it_was(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await fork(backend, grant, 4, 1)
        redactions = tuple(CheckpointRedaction(version, b'{"gone":true}') for version in (2, 5, 9))
        await backend.threads.append(a_write(grant, 5, redactions=redactions))
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=9, max_bytes=99_999)
        bodies = [entry.checkpoint.body for entry in log]
        assert bodies == [b'{"gone":true}' if at == 2 else a_checkpoint(at).body for at in range(1, 6)]
        assert await backend.threads.get_checkpoint(KEY, 2) == a_checkpoint(2, body=b'{"gone":true}')
        assert await ids(backend, at_version=3) == ["m1.0", "m2.0", "m3.0"]

    async def test_a_copy_keeps_what_is_redacted_in_its_source(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        made = a_thread()
        copied = a_write(grant, 3, key=OTHER, uid=made.uid, fork_of=2, expected_version=2, info=None)
        await backend.threads.copy_thread(KEY, UID, made, copied)
        await backend.threads.append(a_write(grant, 3, redactions=(CheckpointRedaction(1, b"{}"),)))
        assert await backend.threads.get_checkpoint(KEY, 1) == a_checkpoint(1, body=b"{}")
        assert await backend.threads.get_checkpoint(OTHER, 1) == a_checkpoint(1)

    async def test_redacting_in_a_write_that_is_refused_redacts_nothing(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        with pytest.raises(VersionConflict):
            await backend.threads.append(a_write(grant, 2, redactions=(CheckpointRedaction(1, b"{}"),)))
        assert await backend.threads.get_checkpoint(KEY, 1) == a_checkpoint(1)

    async def test_ids_are_known_on_whatever_line_they_are(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        await backend.threads.append(a_write(grant, 3, messages=(a_message(3, id="mine"),)))
        await fork(backend, grant, 4, 2)
        asked = ["mine", "m1.0", "m3.0", "m01.0", "none"]
        assert await backend.messages.known_ids(KEY, asked) == {"mine", "m1.0"}
        assert await backend.messages.known_ids(OTHER, asked) == frozenset()
