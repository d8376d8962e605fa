"""Approvals: asked, decided once, voided, listed."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_grant,
    a_line,
    a_write,
    an_approval,
)
from clew_storage.port import Backend
from clew_storage.records import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalRedaction,
    ApprovalState,
    Grant,
    ThreadInfo,
    ThreadKey,
)

ENDS = [state for state in ApprovalState if state is not ApprovalState.PENDING]


async def asking(backend: Backend, *approvals: ApprovalRecord, key: ThreadKey = KEY) -> Grant:
    """A thread whose version 2 asks."""
    grant = await a_line(backend, 1, key)
    await backend.threads.append(a_write(grant, 2, approvals=approvals))
    return grant


async def listed(backend: Backend, tenant: str = "acme", **asked: Any) -> list[str]:
    """The ids of a list of approvals."""
    return [approval.id for approval in await backend.approvals.list_approvals(tenant, **asked)]


class ApprovalPromises(Promises):
    """`Approvals`, and what an append does to them."""

    async def test_an_approval_comes_back_as_it_was_asked(self, backend: Backend) -> None:
        asked = an_approval(2, expires_at_ms=NOW + 9, body=b'{"args":"\x00"}', kind="TOOL_OUTCOME", run_version=4)
        await asking(backend, asked)
        assert await backend.approvals.get_approval("acme", asked.id) == asked

    async def test_an_unknown_approval_and_one_of_another_tenant_are_none(self, backend: Backend) -> None:
        await asking(backend, an_approval(2))
        assert await backend.approvals.get_approval("acme", "unknown") is None
        assert await backend.approvals.get_approval("umbrella", an_approval(2).id) is None

    async def test_the_same_id_can_be_asked_by_two_tenants(self, backend: Backend) -> None:
        key = ThreadKey("umbrella", "thread-1")
        await asking(backend, an_approval(2))
        await asking(backend, an_approval(2, key=key, body=b"2"), key=key)
        found = await backend.approvals.get_approval("umbrella", an_approval(2).id)
        assert found is not None
        assert (found.key, found.body) == (key, b"2")

    @pytest.mark.parametrize("state", ENDS)
    async def test_a_decision_ends_a_pending_approval(self, backend: Backend, state: ApprovalState) -> None:
        grant = await asking(backend, an_approval(2), an_approval(2, 1))
        decision = ApprovalDecision(an_approval(2).id, state, b'{"by":"eve"}')
        await backend.threads.append(a_write(grant, 3, decisions=(decision,)))
        decided = replace(an_approval(2), state=state, decided_at_ms=NOW + 3, decision=b'{"by":"eve"}')
        assert await backend.approvals.get_approval("acme", decided.id) == decided
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.pending == (an_approval(2, 1),)

    async def test_voiding_ends_what_is_pending_and_spares_what_the_write_decides_and_asks(
        self, backend: Backend
    ) -> None:
        grant = await asking(backend, an_approval(2), an_approval(2, 1))
        decision = ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b"{}")
        await backend.threads.append(
            a_write(grant, 3, decisions=(decision,), void_approvals=True, approvals=(an_approval(3),))
        )
        states = {approval.id: approval for approval in await backend.approvals.list_approvals("acme")}
        assert states[an_approval(2).id].state is ApprovalState.APPROVED
        voided = replace(an_approval(2, 1), state=ApprovalState.VOID, decided_at_ms=NOW + 3)
        assert states[voided.id] == voided
        assert states[an_approval(3).id] == an_approval(3)

    async def test_a_redacted_approval_stands_as_it_stood_and_says_something_else(self, backend: Backend) -> None:
        grant = await asking(backend, *(an_approval(2, number) for number in range(3)))
        decided = ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b'{"arguments":"{}"}')
        await backend.threads.append(a_write(grant, 3, decisions=(decided,)))
        redactions = (
            ApprovalRedaction(decided.approval_id, b'{"tool":"refund"}', b'{"by":"eve"}'),
            ApprovalRedaction(an_approval(2, 1).id, b"{}", None),
            ApprovalRedaction("unknown", b"{}", None),
        )
        await backend.threads.append(a_write(grant, 4, redactions=redactions))
        expected = [
            replace(
                an_approval(2, body=b'{"tool":"refund"}'),
                state=ApprovalState.APPROVED,
                decided_at_ms=NOW + 3,
                decision=b'{"by":"eve"}',
            ),
            an_approval(2, 1, body=b"{}"),
            an_approval(2, 2),
        ]
        assert list(await backend.approvals.list_approvals("acme")) == expected
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert list(head.pending) == expected[1:]

    async def test_redacting_comes_after_deciding_and_before_asking(self, backend: Backend) -> None:
        grant = await asking(backend, an_approval(2))
        asked = an_approval(3)
        redactions = tuple(ApprovalRedaction(each, b"{}", b"{}") for each in (an_approval(2).id, asked.id))
        decision = ApprovalDecision(an_approval(2).id, ApprovalState.APPROVED, b'{"by":"eve"}')
        await backend.threads.append(
            a_write(grant, 3, decisions=(decision,), approvals=(asked,), redactions=redactions)
        )
        found = {each.id: each for each in await backend.approvals.list_approvals("acme")}
        assert (found[an_approval(2).id].state, found[an_approval(2).id].decision) == (ApprovalState.APPROVED, b"{}")
        assert found[asked.id] == asked

    async def test_an_approval_of_another_thread_is_not_redacted(self, backend: Backend) -> None:
        grant = await asking(backend, an_approval(2))
        await asking(backend, an_approval(2, key=OTHER, id="other"), key=OTHER)
        await backend.threads.append(a_write(grant, 3, redactions=(ApprovalRedaction("other", b"{}", None),)))
        assert await backend.approvals.get_approval("acme", "other") == an_approval(2, key=OTHER, id="other")

    async def test_voiding_one_thread_leaves_the_others(self, backend: Backend) -> None:
        grant = await asking(backend, an_approval(2))
        await asking(backend, an_approval(2, key=OTHER, id="other"), key=OTHER)
        await backend.threads.append(a_write(grant, 3, void_approvals=True))
        assert await listed(backend, states=[ApprovalState.PENDING]) == ["other"]

    async def test_a_write_without_a_word_of_approvals_leaves_them_pending(self, backend: Backend) -> None:
        grant = await asking(backend, an_approval(2))
        await backend.threads.append(a_write(grant, 3))
        assert await listed(backend, states=[ApprovalState.PENDING]) == [an_approval(2).id]

    async def test_the_list_is_by_creation_oldest_first_and_ties_by_id(self, backend: Backend) -> None:
        times = {"c": 5, "a": 7, "b": 5, "d": 1}
        await asking(backend, *(an_approval(2, id=name, created_at_ms=at) for name, at in times.items()))
        assert await listed(backend) == ["d", "b", "c", "a"]

    async def test_pages_of_the_list_join_without_a_gap_or_a_repeat(self, backend: Backend) -> None:
        await asking(backend, *(an_approval(2, number, created_at_ms=NOW + number // 4) for number in range(10)))
        for states in ([], [ApprovalState.PENDING], list(ApprovalState)):
            whole = await listed(backend, states=states)
            found: list[str] = []
            after: tuple[int, str] | None = None
            while page := await backend.approvals.list_approvals("acme", states=states, after=after, limit=3):
                found += [approval.id for approval in page]
                after = (page[-1].created_at_ms, page[-1].id)
            assert found == whole
            assert len(whole) == 10

    async def test_the_list_is_of_one_tenant(self, backend: Backend) -> None:
        await asking(backend, an_approval(2))
        assert await listed(backend, tenant="umbrella") == []

    async def test_the_list_can_be_of_one_thread(self, backend: Backend) -> None:
        await asking(backend, an_approval(2))
        await asking(backend, an_approval(2, key=OTHER, id="other"), key=OTHER)
        assert await listed(backend, key=OTHER) == ["other"]
        assert await listed(backend, key=ThreadKey("acme", "none")) == []
        assert await listed(backend, key=ThreadKey("umbrella", "thread-1")) == []

    async def test_no_states_means_all_and_some_mean_those(self, backend: Backend) -> None:
        grant = await asking(backend, *(an_approval(2, number) for number in range(4)))
        decisions = (
            ApprovalDecision(an_approval(2, 1).id, ApprovalState.APPROVED, b"{}"),
            ApprovalDecision(an_approval(2, 2).id, ApprovalState.REJECTED, b"{}"),
        )
        await backend.threads.append(a_write(grant, 3, decisions=decisions))
        assert len(await listed(backend)) == 4
        ended = [ApprovalState.APPROVED, ApprovalState.REJECTED]
        assert await listed(backend, states=ended) == [an_approval(2, 1).id, an_approval(2, 2).id]
        assert await listed(backend, states=[ApprovalState.PENDING]) == [an_approval(2, 0).id, an_approval(2, 3).id]

    async def test_the_list_can_be_of_one_user_or_app(self, backend: Backend) -> None:
        await asking(backend, an_approval(2))
        grant = await a_grant(backend, OTHER)
        await backend.threads.append(
            a_write(grant, info=ThreadInfo(app="sales", user_id="bob"), approvals=(an_approval(1, key=OTHER, id="o"),))
        )
        assert await listed(backend, user_id="bob") == ["o"]
        assert await listed(backend, app="support") == [an_approval(2).id]
        assert await listed(backend, app="support", user_id="bob") == []

    async def test_expired_are_the_pending_whose_time_is_over_of_every_tenant(self, backend: Backend) -> None:
        key = ThreadKey("umbrella", "t")
        grant = await asking(
            backend,
            an_approval(2, id="late", expires_at_ms=NOW + 20),
            an_approval(2, id="never"),
            an_approval(2, id="just", expires_at_ms=NOW + 10),
            an_approval(2, id="decided", expires_at_ms=NOW + 1),
            an_approval(2, id="at once", expires_at_ms=NOW + 10),
        )
        await asking(backend, an_approval(2, key=key, id="other", expires_at_ms=NOW + 5), key=key)
        decision = ApprovalDecision("decided", ApprovalState.APPROVED, b"{}")
        await backend.threads.append(a_write(grant, 3, decisions=(decision,)))
        expired = await backend.approvals.list_expired(now_ms=NOW + 10, limit=10)
        assert [approval.id for approval in expired] == ["other", "at once", "just"]
        assert len(await backend.approvals.list_expired(now_ms=NOW + 99, limit=2)) == 2
        assert expired[1].uid == UID
