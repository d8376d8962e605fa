"""The cache's part of random histories, beside a model that is a dict."""
# ruff: noqa: D102 - a rule's name says what it does

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from clew_storage.conformance.draws import often
from clew_storage.port import Backend
from clew_storage.records import CachedValue, CacheKey

T = TypeVar("T")
TENANTS = ["acme", "umbrella"]
NAMESPACES = ["n", "n:k", "%"]
tenants, namespaces = st.sampled_from(TENANTS), st.sampled_from(NAMESPACES)
keys = st.sampled_from(["k", "k:k", "k%", "k_", "k\x00", "é", "K", "🧶"])
prefixes = st.sampled_from(["", "k", "k%", "k_", "%", "k\x00", "é"])
names = st.builds(CacheKey, tenants, namespaces, keys)
json_texts = st.sampled_from([b"1", b"null", b" [1.0] "])


class CacheRules(RuleBasedStateMachine):
    """Mixed into the machine, which has the backend and the time."""

    backend: Backend

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[CacheKey, CachedValue] = {}
        self.last_key: str | None = None

    @abstractmethod
    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """See the machine."""

    @abstractmethod
    def now(self) -> int:
        """See the machine."""

    @abstractmethod
    def time(self) -> int:
        """See the machine."""

    @rule(name=names, text=json_texts, ttl=st.none() | st.integers(0, 4), put=often, delete=st.booleans())
    def change_value(self, name: CacheKey, text: bytes, ttl: int | None, *, put: bool, delete: bool) -> None:
        if put:
            value = CachedValue(text, None if ttl is None else self.now() + ttl)
            self.run(self.backend.cache.put_value(name, value))
            self.values[name] = value
        if delete:
            now = self.now()
            expected = self._living(name, now) is not None
            self.values.pop(name, None)
            assert self.run(self.backend.cache.delete_value(name, now_ms=now)) == expected

    @rule(tenant=tenants, namespace=namespaces, prefix=prefixes, limit=st.integers(1, 3))
    def list_keys(self, tenant: str, namespace: str, prefix: str, limit: int) -> None:
        """Goes on from where the last page ended, whatever it was a page of."""
        now, after = self.now(), self.last_key
        found = self.run(
            self.backend.cache.list_keys(tenant, namespace, prefix=prefix, after=after, limit=limit, now_ms=now)
        )
        expected = sorted(
            name.key
            for name in self.values
            if (name.tenant, name.namespace) == (tenant, namespace)
            and name.key.startswith(prefix)
            and (after is None or name.key > after)
            and self._living(name, now)
        )
        assert list(found) == expected[:limit]
        self.last_key = found[-1] if found else None

    @rule(limit=st.integers(1, 3))
    def forget_expired(self, limit: int) -> None:
        now = self.now()
        expired = [name for name in self.values if self._living(name, now) is None]
        assert self.run(self.backend.cache.forget_expired(now_ms=now, limit=limit)) == min(limit, len(expired))
        if len(expired) <= limit:
            for name in expired:
                del self.values[name]
            return
        # Which of them went is the backend's own business: those that a look at an earlier time still shows are left.
        for name in expired:
            if self.run(self.backend.cache.get_value(name, now_ms=0)) is None:
                del self.values[name]

    @invariant()
    def all_values_are_as_the_model_says(self) -> None:
        now = self.time()
        for name in self.values:
            assert self.run(self.backend.cache.get_value(name, now_ms=now)) == self._living(name, now)

    def _living(self, name: CacheKey, now: int) -> CachedValue | None:
        value = self.values.get(name)
        return value if value is not None and (value.expires_at_ms is None or value.expires_at_ms > now) else None
