"""Trims: a log begins later, and what is left of it reads and goes on as before."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_message,
    a_request,
    a_thread,
    a_write,
    an_approval,
    fork,
    grow,
)
from clew_storage.conformance.idle_promises import at_rest
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import CheckpointMissing, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import (
    ApprovalDecision,
    ApprovalState,
    CheckpointRedaction,
    Grant,
    Source,
    StateChange,
    Trim,
)


async def trim(backend: Backend, oldest: int, *, head: int | None = None, **changes: object) -> bool:
    """Trim the example's thread."""
    found = await backend.threads.get_head(KEY)
    at = head if head is not None else found.thread.head_version if found else 0
    return await backend.retention.trim_thread(replace(Trim(KEY, UID, at, oldest), **changes))


class TrimPromises(Promises):
    """`Retention.trim_thread`, and what is read after it."""

    async def test_the_history_ends_at_the_oldest_that_is_kept(self, backend: Backend) -> None:
        await at_rest(backend, length=20)
        assert await trim(backend, 12)
        found = await backend.threads.list_checkpoints(KEY, before_version=None, limit=100)
        assert [record.version for record in found] == list(range(20, 11, -1))
        assert not await backend.threads.list_checkpoints(KEY, before_version=None, limit=100, at_version=11)
        assert await backend.threads.get_checkpoint(KEY, 11) is None
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert (head.oldest_version, head.line, head.thread.updated_at_ms) == (12, ((1, 20),), NOW + 20)

    async def test_states_read_as_before_from_there_on_and_are_none_below(self, backend: Backend) -> None:
        grant = await a_line(backend, 60)
        await backend.leases.release(grant)
        for oldest in (3, 31, 57, 60):
            assert await trim(backend, oldest)
            for version in range(1, 61):
                state = await backend.threads.get_state(KEY, version=version)
                assert state == (grown(*range(1, version + 1)) if version >= oldest else None)
            assert await backend.threads.get_state(KEY, version=None) == grown(*range(1, 61))

    async def test_the_state_goes_on_as_before(self, backend: Backend) -> None:
        grant = await a_line(backend, 29)
        await backend.threads.append(
            a_write(grant, 30, state=StateChange(replaced={"z": b"1", "last": b"30"}, removed=("all",)))
        )
        await backend.leases.release(grant)
        assert await trim(backend, 20)
        grant = await a_grant(backend)
        await grow(backend, grant, range(31, 130))
        state = await backend.threads.get_state(KEY, version=None)
        assert state == {"last": b"129", "z": b"1", "all": b"[" + b",".join(b"%d" % at for at in range(31, 130)) + b"]"}
        assert list(state) == ["last", "z", "all"]
        assert await backend.threads.get_state(KEY, version=29) == grown(*range(1, 30))

    async def test_a_key_that_was_removed_below_does_not_come_back(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        changes = [StateChange(replaced={"gone": b"1", "kept": b"1"}), StateChange(removed=("gone",))]
        for version, change in enumerate([*changes, *[StateChange(replaced={"kept": b"2"})] * 20], 1):
            await backend.threads.append(a_write(grant, version, state=change))
        await backend.leases.release(grant)
        assert await trim(backend, 4)
        assert await backend.threads.get_state(KEY, version=4) == {"kept": b"2"}
        assert await backend.threads.get_state(KEY, version=None) == {"kept": b"2"}

    async def test_messages_of_the_line_stay_with_ids_versions_and_places(self, backend: Backend) -> None:
        await at_rest(backend, length=9)
        before = list(await backend.messages.list_messages(KEY))
        assert await trim(backend, 8)
        assert list(await backend.messages.list_messages(KEY)) == before
        assert list(await backend.messages.list_messages(KEY, at_version=8)) == before[:8]
        assert list(await backend.messages.list_messages(KEY, at_version=7)) == []
        for message in before:
            assert await backend.messages.get_message(KEY, message.id) == message
        assert await backend.messages.known_ids(KEY, ["m1.0", "m3.0", "m3.1", "m9.0"]) == {"m1.0", "m3.0", "m9.0"}

    async def test_what_was_replaced_below_goes_and_what_replaced_it_stays(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        edited = a_message(4, 2, id="m2.0", body=b"edited")
        await backend.threads.append(a_write(grant, 4, messages=(edited,)))
        await grow(backend, grant, range(5, 8))
        await backend.leases.release(grant)
        assert await trim(backend, 6)
        assert await backend.messages.get_message(KEY, "m2.0") == edited
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, 8, erased=("m2.0",)))
        assert [row.position for row in await backend.messages.list_messages(KEY)] == [1, 3, 5, 6, 7]

    async def test_other_lines_go_with_what_only_they_had(self, backend: Backend) -> None:
        grant = await a_line(backend, 8)
        await fork(backend, grant, 9, 4)
        await grow(backend, grant, range(10, 13))
        await backend.leases.release(grant)
        assert await trim(backend, 3)
        for version in (1, 2, 5, 8):
            assert await backend.threads.get_checkpoint(KEY, version) is None
            assert await backend.threads.get_state(KEY, version=version) is None
        assert await backend.messages.known_ids(KEY, [f"m{at}.0" for at in range(1, 13)]) == {
            f"m{at}.0" for at in (1, 2, 3, 4, 10, 11, 12)
        }
        assert await backend.threads.get_state(KEY, version=None) == grown(1, 2, 3, 4, 10, 11, 12)
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=99, max_bytes=1 << 20)
        assert [(entry.checkpoint.version, [row.id for row in entry.messages]) for entry in log] == [
            (3, ["m3.0"]), (4, ["m4.0"]), (9, []), (10, ["m10.0"]), (11, ["m11.0"]), (12, ["m12.0"]),
        ]  # fmt: skip

    async def test_what_waits_and_what_the_run_of_the_oldest_asked_stays_of_approvals(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for version, run in ((2, 1), (3, 3), (4, 3), (5, 3)):
            await backend.threads.append(
                a_write(
                    grant,
                    version,
                    checkpoint=a_checkpoint(version, run_version=run),
                    approvals=(an_approval(version, run_version=run), an_approval(version, 1, run_version=run)),
                )
            )
        told = tuple(
            ApprovalDecision(an_approval(at, number).id, ApprovalState.APPROVED, b"{}")
            for at, number in ((2, 0), (3, 0), (5, 0))
        )
        await backend.threads.append(a_write(grant, 6, checkpoint=a_checkpoint(6, run_version=3), decisions=told))
        await backend.leases.release(grant)
        assert await trim(backend, 4)
        left = await backend.approvals.list_approvals("acme", key=KEY)
        assert {(asked.version, asked.id[-1]) for asked in left} == {
            (2, "1"), (3, "0"), (3, "1"), (4, "0"), (4, "1"), (5, "0"), (5, "1"),
        }  # fmt: skip
        assert await backend.approvals.get_approval("acme", an_approval(2).id) is None

    async def test_starts_and_requests_stay_and_checkpoints_are_redacted(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        for version in range(2, 6):
            await backend.threads.append(
                a_write(grant, version, checkpoint=a_checkpoint(version, source=Source.INTENT))
            )
        await backend.leases.release(grant)
        assert await trim(backend, 4, redactions=(CheckpointRedaction(5, b"{}"), CheckpointRedaction(2, b"{}")))
        found = await backend.threads.list_starts(KEY, UID, after_version=0, limit=9)
        assert [(record.version, record.body) for record in found] == [(4, b'{"step":4}'), (5, b"{}")]
        assert await backend.threads.find_request(KEY, a_request().request_hash) == a_request()

    async def test_a_rewind_goes_to_what_is_kept_and_to_nothing_else(self, backend: Backend) -> None:
        await at_rest(backend, length=10)
        assert await trim(backend, 6)
        grant = await a_grant(backend)
        with pytest.raises(CheckpointMissing):
            await fork(backend, grant, 11, 5)
        await fork(backend, grant, 11, 6)
        await grow(backend, grant, range(12, 14))
        assert await backend.threads.get_state(KEY, version=None) == grown(*range(1, 7), 12, 13)
        assert await backend.threads.get_state(KEY, version=9) == grown(*range(1, 10))
        assert [row.position for row in await backend.messages.list_messages(KEY)] == [1, 2, 3, 4, 5, 6, 12, 13]
        assert [row.position for row in await backend.messages.list_messages(KEY, at_version=9)] == list(range(1, 10))

    async def test_a_copy_of_what_is_kept_owns_it_and_begins_where_its_source_does(self, backend: Backend) -> None:
        await at_rest(backend, length=10)
        assert await trim(backend, 6)
        made = a_thread(uid="uid-9")
        checkpoint = a_checkpoint(9, parent_version=8, source=Source.FORK)
        write = a_write(Grant(OTHER, 0, "run"), 9, uid="uid-9", checkpoint=checkpoint, fork_of=8)
        with pytest.raises(CheckpointMissing):
            await backend.threads.copy_thread(KEY, UID, made, replace(write, fork_of=5))
        await backend.threads.copy_thread(KEY, UID, made, write)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert (head.oldest_version, head.thread.head_version) == (6, 9)
        assert [row.position for row in await backend.messages.list_messages(OTHER)] == list(range(1, 9))
        assert await backend.threads.get_state(OTHER, version=6) == grown(*range(1, 7))
        assert await backend.threads.get_state(OTHER, version=5) is None
        log = await backend.threads.read_log(OTHER, "uid-9", after_version=0, limit=99, max_bytes=1 << 20)
        assert [(entry.checkpoint.version, len(entry.messages)) for entry in log] == [(6, 1), (7, 1), (8, 1), (9, 0)]

    async def test_a_thread_that_comes_after_a_trimmed_one_begins_anew(self, backend: Backend) -> None:
        await at_rest(backend, length=10)
        assert await trim(backend, 6)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        grant = await a_grant(backend)
        await grow(backend, grant, range(1, 4), uid="another")
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.oldest_version == 0
        assert await backend.threads.get_state(KEY, version=2) == grown(1, 2)

    async def test_it_is_refused_where_the_thread_is_not_as_told(self, backend: Backend) -> None:
        grant = await a_line(backend, 8)
        await fork(backend, grant, 9, 4)
        assert not await trim(backend, 3)
        await backend.leases.release(grant)
        assert not await trim(backend, 3, head=8)
        assert not await trim(backend, 3, uid="another")
        assert not await trim(backend, 3, key=OTHER)
        assert not await trim(backend, 7)
        assert not await trim(backend, 10)
        assert len(await backend.threads.list_checkpoints(KEY, before_version=None, limit=99)) == 5
        assert await trim(backend, 4)
        assert not await trim(backend, 4)
        assert await trim(backend, 9)

    async def test_the_log_of_another_incarnation_is_missing_after_a_trim_too(self, backend: Backend) -> None:
        await at_rest(backend, length=5)
        assert await trim(backend, 3)
        with pytest.raises(ThreadMissing):
            await backend.threads.read_log(KEY, "another", after_version=0, limit=9, max_bytes=99)

    @belongs_to(Category.SHARED)
    async def test_a_server_that_remembers_the_state_from_before_a_trim_goes_on_with_it(
        self, backend: Backend, make_backend: MakeBackend
    ) -> None:
        other = make_backend()
        await other.open()
        for head in range(5, 130, 5):
            grant = await a_grant(backend)
            await grow(backend, grant, range(head - 4, head + 1))
            await backend.leases.release(grant)
            # What it remembers goes over this border: parts of the state from both sides will become one.
            assert await other.retention.trim_thread(Trim(KEY, UID, head, head - 2))
            for version in (head - 2, head):
                assert await other.threads.get_state(KEY, version=version) == grown(*range(1, version + 1))
        grant = await a_grant(other)
        await grow(other, grant, range(126, 150))
        await other.leases.release(grant)
        assert await backend.threads.get_state(KEY, version=None) == grown(*range(1, 150))
        await other.close()
