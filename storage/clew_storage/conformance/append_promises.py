"""Appends: one atomic write, refused in a fixed order without a trace."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio

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
    grow,
)
from clew_storage.errors import (
    ApprovalNotPending,
    CheckpointMissing,
    LeaseLost,
    RequestRecorded,
    StorageError,
    VersionConflict,
)
from clew_storage.port import Backend
from clew_storage.records import (
    ApprovalDecision,
    ApprovalState,
    InfoChange,
    StateChange,
    Status,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
)


class AppendPromises(Promises):
    """`Threads.append`."""

    async def test_the_first_write_makes_the_thread(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        written = await backend.threads.append(a_write(grant))
        thread = written.thread
        assert not written.cancel_requested
        assert (thread.key, thread.uid, thread.epoch) == (KEY, UID, grant.epoch)
        assert (thread.head_version, thread.head_status) == (1, Status.IN_PROGRESS)
        assert (thread.created_at_ms, thread.updated_at_ms) == (NOW + 1, NOW + 1)
        assert thread.info == ThreadInfo(app="support", user_id="ada")

    async def test_a_thread_may_begin_at_a_later_version_and_counts_on_from_there(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        first = a_checkpoint(7, parent_version=0, run_version=2)
        state = StateChange(replaced={"n": b"1.0"})
        await backend.threads.append(
            a_write(grant, 7, expected_version=0, checkpoint=first, state=state, info=ThreadInfo(app="flow"))
        )
        await backend.threads.append(a_write(grant, 8, state=StateChange(replaced={"m": b"2"})))
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert (head.thread.head_version, head.line) == (8, ((7, 8),))
        assert await backend.threads.get_state(KEY, version=None) == {"n": b"1.0", "m": b"2"}
        assert await backend.threads.get_state(KEY, version=7) == {"n": b"1.0"}
        listed = await backend.threads.list_checkpoints(KEY, before_version=None, limit=9)
        assert [(each.version, each.parent_version) for each in listed] == [(8, 7), (7, 0)]
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=9, max_bytes=1 << 20)
        assert [entry.checkpoint.version for entry in log] == [7, 8]

    async def test_what_a_write_tells_is_what_the_head_says(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        for version in range(1, 4):
            written = await backend.threads.append(a_write(grant, version))
            head = await backend.threads.get_head(KEY)
            assert head is not None
            assert head.thread == written.thread

    async def test_a_write_moves_head_status_and_time_and_leaves_the_rest(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        checkpoint = a_checkpoint(2, status=Status.COMPLETED, created_at_ms=NOW + 50)
        thread = (await backend.threads.append(a_write(grant, 2, checkpoint=checkpoint))).thread
        assert (thread.head_version, thread.head_status) == (2, Status.COMPLETED)
        assert (thread.created_at_ms, thread.updated_at_ms) == (NOW + 1, NOW + 50)
        assert thread.info == ThreadInfo(app="support", user_id="ada")

    async def test_the_first_checkpoint_fills_what_is_empty_in_an_info_that_was_there_before(
        self, backend: Backend
    ) -> None:
        made = await backend.threads.change_info(
            KEY, InfoChange(name="mine"), create=_bare_thread(), request=None, now_ms=NOW
        )
        grant = await a_grant(backend)
        info = ThreadInfo(app="support", user_id="bob", name="theirs", metadata=b'{"a":1}')
        thread = (await backend.threads.append(a_write(grant, info=info))).thread
        assert thread.info == ThreadInfo("support", "bob", "mine", b'{"a":1}', made.info.revision + 1)
        assert thread.created_at_ms == made.created_at_ms

    async def test_a_recorded_request_is_refused_before_anything_else_is_looked_at(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        await backend.leases.release(grant)
        with pytest.raises(RequestRecorded):
            await backend.threads.append(a_write(grant, 9, uid="another", request=a_request(), fork_of=77))

    async def test_a_lost_lease_is_refused_before_the_version(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.leases.release(grant)
        await a_grant(backend)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 9))

    async def test_a_grant_that_was_passed_on_does_not_write(self, backend: Backend) -> None:
        old = await a_line(backend, 1)
        await backend.leases.release(old)
        new = await a_grant(backend)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(old, 2))
        await backend.threads.append(a_write(new, 2))

    async def test_an_epoch_that_was_never_granted_does_not_write(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for epoch in (grant.epoch - 1, grant.epoch + 1):
            with pytest.raises(LeaseLost):
                await backend.threads.append(replace(a_write(grant, 2), epoch=epoch))

    async def test_the_lease_of_another_thread_does_not_write(self, backend: Backend) -> None:
        await a_line(backend, 1)
        other = await a_grant(backend, OTHER)
        with pytest.raises(LeaseLost):
            await backend.threads.append(replace(a_write(other, 2), key=KEY))

    async def test_another_uid_does_not_write(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 2, uid="another"))

    async def test_a_thread_that_is_gone_is_not_made_again_by_its_next_checkpoint(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 2))
        assert await backend.threads.get_head(KEY) is None

    async def test_a_write_that_expects_another_head_is_refused_with_both_versions(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        for version in (1, 2, 3, 5):
            with pytest.raises(VersionConflict) as refused:
                await backend.threads.append(a_write(grant, version))
            assert (refused.value.expected, refused.value.actual) == (version - 1, 3)

    async def test_a_decision_on_what_is_not_pending_is_refused(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.threads.append(a_write(grant, 2, approvals=(an_approval(2),)))
        decision = ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b"{}")
        await backend.threads.append(a_write(grant, 3, decisions=(decision,)))
        for again in (decision, replace(decision, approval_id="unknown")):
            with pytest.raises(ApprovalNotPending) as refused:
                await backend.threads.append(a_write(grant, 4, decisions=(again,)))
            assert refused.value.approval_id == again.approval_id

    async def test_a_decision_on_another_threads_approval_is_refused(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.threads.append(a_write(grant, 2, approvals=(an_approval(2),)))
        other = await a_line(backend, 1, OTHER)
        decision = ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b"{}")
        with pytest.raises(ApprovalNotPending):
            await backend.threads.append(a_write(other, 2, decisions=(decision,)))

    async def test_a_fork_of_what_is_not_stored_is_refused_last(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        with pytest.raises(CheckpointMissing):
            await backend.threads.append(a_write(grant, 4, fork_of=7))
        decision = ApprovalDecision("unknown", ApprovalState.APPROVED, b"{}")
        with pytest.raises(ApprovalNotPending):
            await backend.threads.append(a_write(grant, 4, fork_of=7, decisions=(decision,)))

    async def test_a_refused_write_leaves_no_trace(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.threads.append(a_write(grant, 2, approvals=(an_approval(2), an_approval(2, 1))))
        before = (await backend.threads.get_head(KEY), await backend.messages.list_messages(KEY))
        refused = a_write(
            grant,
            3,
            messages=(a_message(3),),
            state=StateChange(replaced={"x": b"1"}),
            approvals=(an_approval(3),),
            # The first could be made; the second refuses both.
            decisions=(
                ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b"{}"),
                ApprovalDecision("unknown", ApprovalState.APPROVED, b"{}"),
            ),
            request=a_request(3),
        )
        for write in (refused, replace(refused, fork_of=9, decisions=refused.decisions[:1])):
            with pytest.raises(StorageError):
                await backend.threads.append(write)
        assert (await backend.threads.get_head(KEY), await backend.messages.list_messages(KEY)) == before
        assert await backend.threads.get_checkpoint(KEY, 3) is None
        assert await backend.approvals.get_approval("acme", an_approval(3).id) is None
        assert await backend.threads.find_request(KEY, a_request(3).request_hash) is None
        state = await backend.threads.get_state(KEY, version=None)
        assert state is not None
        assert "x" not in state

    async def test_a_refusal_touches_no_write_that_shares_its_commit(self, backend: Backend) -> None:
        keys = [ThreadKey("acme", f"shared-{number}") for number in range(12)]
        grants = [await a_grant(backend, key) for key in keys]
        writes = [a_write(grant, 1 if number % 3 else 5) for number, grant in enumerate(grants)]
        outcomes = await asyncio.gather(*(backend.threads.append(write) for write in writes), return_exceptions=True)
        for number, key in enumerate(keys):
            head = await backend.threads.get_head(key)
            if number % 3:
                assert head is not None
            else:
                assert isinstance(outcomes[number], LeaseLost)
                assert head is None

    async def test_of_writes_that_race_for_one_version_one_wins(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        writes = [a_write(grant, 2, checkpoint=a_checkpoint(2, body=b'{"n":%d}' % number)) for number in range(8)]
        outcomes = await asyncio.gather(*(backend.threads.append(write) for write in writes), return_exceptions=True)
        won = [number for number, outcome in enumerate(outcomes) if not isinstance(outcome, BaseException)]
        assert len(won) == 1
        assert sum(isinstance(outcome, VersionConflict) for outcome in outcomes) == 7
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.checkpoint == writes[won[0]].checkpoint

    async def test_a_cancelled_write_is_done_whole_or_not_at_all(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        version = 0
        for number in range(20):
            write = a_write(
                grant, version + 1, messages=(a_message(version + 1),), request=a_request(number, version=version + 1)
            )
            task = asyncio.create_task(backend.threads.append(write))
            for _ in range(number % 5):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            # A write to the thread behind it, which is refused: whatever the cancelled one still does is done by then.
            with pytest.raises(StorageError):
                await backend.threads.append(a_write(grant, 99))
            head = await backend.threads.get_head(KEY)
            done = head is not None and head.thread.head_version == version + 1
            recorded = await backend.threads.find_request(KEY, a_request(number).request_hash)
            messages = await backend.messages.list_messages(KEY)
            assert (recorded is not None) == done
            assert len(messages) == version + done
            version += done

    @belongs_to(Category.DURABLE)
    async def test_what_a_write_brought_is_there_when_the_database_is_opened_again(
        self, make_backend: MakeBackend
    ) -> None:
        backend = make_backend()
        await backend.open()
        grant = await a_grant(backend)
        await grow(backend, grant, range(1, 30))
        write = a_write(grant, 30, approvals=(an_approval(30),), request=a_request(30))
        await backend.threads.append(write)
        before = await _everything(backend)
        await backend.close()
        again = make_backend()
        await again.open()
        assert await _everything(again) == before
        await again.close()


async def _everything(backend: Backend) -> tuple[object, ...]:
    return (
        await backend.threads.get_head(KEY),
        list(await backend.threads.read_log(KEY, UID, after_version=0, limit=100, max_bytes=1 << 20)),
        list(await backend.messages.list_messages(KEY)),
        await backend.threads.get_state(KEY, version=None),
        await backend.threads.get_state(KEY, version=9),
        await backend.threads.find_request(KEY, a_request(30).request_hash),
    )


def _bare_thread(key: ThreadKey = KEY) -> ThreadRecord:
    return a_thread(key, uid=UID, info=ThreadInfo())
