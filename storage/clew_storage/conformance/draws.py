"""What random histories are made of."""

from __future__ import annotations

from typing import Any, Protocol

from hypothesis import strategies as st
from msgspec.structs import replace

from clew_storage.conformance.examples import a_request, an_approval
from clew_storage.conformance.model import Thread
from clew_storage.records import (
    ApprovalDecision,
    ApprovalRedaction,
    ApprovalState,
    CheckpointRecord,
    CheckpointRedaction,
    Grant,
    MessageRecord,
    Source,
    StateChange,
    Status,
    ThreadInfo,
    Write,
)

requests = st.none() | st.integers(1, 6)
often = st.sampled_from([True, True, True, True, True, True, False])
texts = st.sampled_from(["", "x", "y"])
_STATE_CHANGES = st.builds(
    StateChange,
    replaced=st.dictionaries(st.sampled_from("abc"), st.sampled_from([b"1", b"9007199254740993", b'"\\u0000"'])),
    # Keys of arrays are never replaced, so that the model need not parse JSON.
    appended=st.dictionaries(st.sampled_from("xyz"), st.lists(st.sampled_from([b"1", b"[]"]), max_size=3).map(tuple)),
    removed=st.lists(st.sampled_from("abcxyz"), max_size=2, unique=True).map(tuple),
)


class Draw(Protocol):
    """Hypothesis's `data.draw`."""

    def __call__(self, strategy: st.SearchStrategy[Any]) -> Any:
        """A value of the strategy."""


def draw_write(draw: Draw, grant: Grant, thread: Thread | None, *, now: int, count: int, right: bool) -> Write:
    """A write under a grant; `right` says whether it knows the thread as it is. `count` tells the history's steps apart."""
    head = thread.head if thread else 0
    uid = thread.uid if thread else f"uid-{count}"
    expected = head if right else draw(st.integers(0, head + 1))
    version = expected + 1
    fork_of = draw(st.none() | st.integers(1, max(head, 1) + (not right)))
    request = draw(requests)
    return Write(
        key=grant.key,
        uid=uid if right else draw(st.sampled_from([uid, "another"])),
        epoch=grant.epoch,
        expected_version=expected,
        checkpoint=CheckpointRecord(
            version=version,
            parent_version=expected if fork_of is None else fork_of,
            run_version=draw(st.integers(1, 2)),
            attempt=1,
            status=draw(st.sampled_from(Status)),
            source=draw(st.sampled_from(Source)),
            step=version,
            next_position=version,
            created_at_ms=now,
            body=b'{"n":%d}' % count,
        ),
        info=ThreadInfo(app="app", user_id=draw(texts)) if expected == 0 or draw(st.booleans()) else None,
        messages=_draw_messages(draw, thread, version, now, count),
        erased=_draw_erased(draw, thread),
        redactions=_draw_redactions(draw, thread, count),
        state=draw(st.none() | _STATE_CHANGES),
        approvals=tuple(
            an_approval(version, number, id=f"{uid}.{count}.{number}", key=grant.key, uid=uid, created_at_ms=now)
            for number in range(draw(st.integers(0, 2)))
        ),
        decisions=_draw_decisions(draw, thread, right=right),
        void_approvals=draw(st.booleans()),
        request=None if request is None else a_request(request, uid=uid, version=version, created_at_ms=now),
        fork_of=fork_of,
    )


def _draw_messages(draw: Draw, thread: Thread | None, version: int, now: int, count: int) -> tuple[MessageRecord, ...]:
    """New messages, or one that is edited in its place."""
    transcript = thread.versions[thread.head].transcript if thread and thread.head else {}
    if transcript and draw(st.booleans()):
        known = transcript[draw(st.sampled_from(sorted(transcript)))]
        return (replace(known, version=version, body=b"edited %d" % count),)
    positions = draw(st.lists(st.integers(0, 12), max_size=3, unique=True))
    ids = [f"m{version}.0", f"own-{count}", f"m{version}.2"]
    return tuple(
        MessageRecord(message_id, version, position, "user", now, b"%d" % count)
        for message_id, position in zip(ids, positions, strict=False)
    )


def _draw_erased(draw: Draw, thread: Thread | None) -> tuple[str, ...]:
    """Now and then messages of whatever line, and one that is not there."""
    known = sorted({row.id for at in thread.versions.values() for row in at.messages}) if thread else []
    if draw(st.integers(0, 3)):
        return ()
    return tuple(draw(st.lists(st.sampled_from([*known, "unknown"]), max_size=2, unique=True)))


def _draw_redactions(
    draw: Draw, thread: Thread | None, count: int
) -> tuple[CheckpointRedaction | ApprovalRedaction, ...]:
    """Now and then of rows of whatever line, and of ones that are not there: the write's own are among those."""
    if thread is None or draw(st.integers(0, 3)):
        return ()
    versions = draw(st.lists(st.integers(1, thread.head + 2), max_size=2, unique=True))
    names = draw(st.lists(st.sampled_from([*sorted(thread.approvals), "unknown"]), max_size=2, unique=True))
    body = b'{"redacted":%d}' % count
    decision = draw(st.none() | st.just(b"{}"))
    return (
        *(CheckpointRedaction(version, body) for version in versions),
        *(ApprovalRedaction(name, body, decision) for name in names),
    )


def _draw_decisions(draw: Draw, thread: Thread | None, *, right: bool) -> tuple[ApprovalDecision, ...]:
    known = [asked.id for asked in thread.pending()] if thread else []
    names = known if right else [*known, "unknown"]
    chosen = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    return tuple(ApprovalDecision(name, ApprovalState.APPROVED, b"{}") for name in chosen)
