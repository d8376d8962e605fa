"""Retention's part of random histories: idle threads go, logs are trimmed, and what stays reads as before."""
# ruff: noqa: D102 - a rule's name says what it does

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from clew_storage.conformance.draws import often
from clew_storage.conformance.model import Model
from clew_storage.port import Backend
from clew_storage.records import CheckpointRedaction, IdleFilter, Status, ThreadKey, ThreadRecord, Trim

T = TypeVar("T")
statuses = st.lists(st.sampled_from(Status), max_size=3, unique=True).map(tuple)


class RetentionRules(RuleBasedStateMachine):
    """Mixed into the machine, which has the backend, the model and the time."""

    backend: Backend
    model: Model
    count: int

    @abstractmethod
    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """See the machine."""

    @abstractmethod
    def now(self) -> int:
        """See the machine."""

    @rule(data=st.data(), right=often)
    def trim_thread(self, data: st.DataObject, *, right: bool) -> None:
        idle = sorted((key for key in self.model.threads if self.model.is_idle(key)), key=str)
        if not idle:
            return
        key = data.draw(st.sampled_from(idle))
        thread = self.model.threads[key]
        line = [number for number in thread.versions[thread.head].line if number > thread.oldest]
        oldest = data.draw(st.sampled_from(line)) if right and line else data.draw(st.integers(1, thread.head + 1))
        head = thread.head if right else data.draw(st.integers(0, thread.head + 1))
        told = data.draw(st.none() | st.integers(oldest, thread.head + 1))
        redactions = () if told is None else (CheckpointRedaction(told, b'{"trimmed":%d}' % self.count),)
        trim = Trim(key, thread.uid, head, oldest, redactions)
        assert self.run(self.backend.retention.trim_thread(trim)) == self.model.trim(trim)

    @rule(where=st.builds(IdleFilter, statuses=statuses, longer_than=st.integers(0, 5)), limit=st.integers(1, 4))
    def list_idle(self, where: IdleFilter, limit: int) -> None:
        found: list[ThreadRecord] = []
        after = None
        while part := self.run(self.backend.retention.list_idle(where, after=after, limit=limit)):
            found += part
            after = part[-1].key
        assert [record.key for record in found] == self._idle(where)

    @rule(where=st.builds(IdleFilter, statuses=statuses, longer_than=st.integers(0, 3)))
    def delete_idle(self, where: IdleFilter) -> None:
        found = self.run(self.backend.retention.list_idle(where, after=None, limit=2))
        gone = self.run(self.backend.retention.delete_idle(found, now_ms=self.now()))
        assert list(gone) == [record.key for record in found if not self.model.threads[record.key].pending()]
        for key in gone:
            self.model.delete(key, None)

    def _idle(self, where: IdleFilter) -> list[ThreadKey]:
        found = []
        for key, thread in self.model.threads.items():
            status = Status.SUSPENDED if thread.pending() else thread.status
            stored = thread.head - max(thread.oldest - 1, 0)
            if (
                self.model.is_idle(key)
                and stored > where.longer_than
                and (not where.statuses or status in where.statuses)
            ):
                found.append(key)
        return sorted(found, key=lambda key: (key.tenant, key.thread_id))
