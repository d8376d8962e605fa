"""The cache: values by namespace and key, gone when their time is over."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import KEY, NOW, a_line
from clew_storage.port import Backend
from clew_storage.records import CachedValue, CacheKey

# What a separator, an escape, a pattern or a sloppy comparison would take for one another.
STRANGE = ["%", "_", "a%", "a_", "ab", "a", "a:b", "a\\", "a\x00", "a\x00b", "A", "é", "e\u0301", "'", '"', "*", "[a]", "🧶", "\uffff", " a", "a ", "/", "."]  # fmt: skip


def a_value(text: bytes = b'{"n":1}', expires_at_ms: int | None = None) -> CachedValue:
    """A value that never expires, unless it is told when."""
    return CachedValue(text, expires_at_ms)


def named(key: str = "k", namespace: str = "n", tenant: str = "acme") -> CacheKey:
    """The name of a value."""
    return CacheKey(tenant, namespace, key)


async def listed(
    backend: Backend, prefix: str = "", *, namespace: str = "n", tenant: str = "acme", after: str | None = None,
    limit: int = 1000, now_ms: int = NOW,
) -> list[str]:  # fmt: skip
    """The keys that a listing shows."""
    return list(
        await backend.cache.list_keys(tenant, namespace, prefix=prefix, after=after, limit=limit, now_ms=now_ms)
    )


class CachePromises(Promises):
    """`Cache`."""

    @pytest.mark.parametrize(
        "text", [b"1", b"null", b"1.0", b" [1,  2] ", b"9007199254740993", b'"\\u0000"', '"🧶é"'.encode(), b"0" * 1_000_000]
    )  # fmt: skip
    async def test_a_value_comes_back_byte_for_byte(self, backend: Backend, text: bytes) -> None:
        await backend.cache.put_value(named(), a_value(text))
        assert await backend.cache.get_value(named(), now_ms=NOW) == a_value(text)

    async def test_what_was_never_put_is_not_there(self, backend: Backend) -> None:
        assert await backend.cache.get_value(named(), now_ms=NOW) is None
        assert await backend.cache.delete_value(named(), now_ms=NOW) is False
        assert await listed(backend) == []

    async def test_a_namespace_and_a_tenant_without_a_name_are_like_others(self, backend: Backend) -> None:
        await backend.cache.put_value(named("secret", "", ""), a_value(b"null"))
        assert await listed(backend, namespace="", tenant="") == ["secret"]
        assert [
            await listed(backend, namespace=namespace, tenant=tenant) for namespace, tenant in (("n", ""), ("", "acme"))
        ] == [[], []]

    async def test_the_last_value_put_takes_the_place_and_the_time_of_the_one_before(self, backend: Backend) -> None:
        for expires_at_ms in (NOW + 1, None, NOW + 5):
            await backend.cache.put_value(named(), a_value(b"%d" % (expires_at_ms or 0), expires_at_ms))
        assert await backend.cache.get_value(named(), now_ms=NOW + 4) == a_value(b"%d" % (NOW + 5), NOW + 5)
        assert await listed(backend) == ["k"]

    async def test_a_value_is_gone_from_the_very_millisecond_at_which_it_expires(self, backend: Backend) -> None:
        await backend.cache.put_value(named(), a_value(expires_at_ms=NOW))
        assert await backend.cache.get_value(named(), now_ms=NOW - 1) is not None
        assert await listed(backend, now_ms=NOW - 1) == ["k"]
        assert await backend.cache.get_value(named(), now_ms=NOW) is None
        assert await listed(backend, now_ms=NOW) == []
        assert await backend.cache.delete_value(named(), now_ms=NOW) is False

    async def test_a_value_without_a_time_never_expires(self, backend: Backend) -> None:
        await backend.cache.put_value(named(), a_value())
        assert await backend.cache.forget_expired(now_ms=NOW * 1000, limit=10) == 0
        assert await backend.cache.get_value(named(), now_ms=NOW * 1000) == a_value()

    async def test_a_deleted_value_is_gone_and_can_be_put_again(self, backend: Backend) -> None:
        await backend.cache.put_value(named(), a_value(expires_at_ms=NOW + 1))
        assert await backend.cache.delete_value(named(), now_ms=NOW) is True
        assert await backend.cache.delete_value(named(), now_ms=NOW) is False
        assert await backend.cache.get_value(named(), now_ms=NOW) is None
        await backend.cache.put_value(named(), a_value())
        assert await backend.cache.get_value(named(), now_ms=NOW) == a_value()

    async def test_no_two_names_are_one_value(self, backend: Backend) -> None:
        names = [named(key) for key in STRANGE] + [named("k", namespace) for namespace in STRANGE]
        names += [
            named("c", "a:b"),
            named("b:c", "a"),
            named("c", "a\x00b"),
            named("b\x00c", "a"),
            named(tenant="umbrella"),
        ]
        for number, name in enumerate(names):
            await backend.cache.put_value(name, a_value(b"%d" % number))
        for number, name in enumerate(names):
            assert await backend.cache.get_value(name, now_ms=NOW) == a_value(b"%d" % number)
        assert await backend.cache.delete_value(names[0], now_ms=NOW) is True
        for number, name in enumerate(names[1:], start=1):
            assert await backend.cache.get_value(name, now_ms=NOW) == a_value(b"%d" % number)

    async def test_keys_are_listed_by_code_point(self, backend: Backend) -> None:
        for key in STRANGE:
            await backend.cache.put_value(named(key), a_value())
        assert await listed(backend) == sorted(STRANGE)

    @pytest.mark.parametrize("prefix", [*STRANGE, "nothing", "e", ""])
    async def test_a_prefix_is_taken_literally(self, backend: Backend, prefix: str) -> None:
        for key in STRANGE:
            await backend.cache.put_value(named(key), a_value())
        assert await listed(backend, prefix) == sorted(key for key in STRANGE if key.startswith(prefix))

    async def test_a_listing_is_of_one_namespace_and_one_tenant(self, backend: Backend) -> None:
        await backend.cache.put_value(named("mine"), a_value())
        await backend.cache.put_value(named("near", "n2"), a_value())
        await backend.cache.put_value(named("theirs", tenant="umbrella"), a_value())
        assert await listed(backend) == ["mine"]
        assert await listed(backend, namespace="N") == []
        assert await listed(backend, tenant="umbrella") == ["theirs"]

    async def test_pages_hold_every_key_once(self, backend: Backend) -> None:
        for key in STRANGE:
            await backend.cache.put_value(named(key), a_value())
        for prefix in ("", "a"):
            whole = await listed(backend, prefix)
            for size in (1, 2, 5):
                found: list[str] = []
                while page := await listed(backend, prefix, after=found[-1] if found else None, limit=size):
                    found += page
                assert found == whole
        assert await listed(backend, "a", after="") == await listed(backend, "a")
        assert await listed(backend, "a", after="b") == []

    async def test_what_has_expired_fills_no_place_of_a_page(self, backend: Backend) -> None:
        for number in range(10):
            await backend.cache.put_value(named(f"{number}"), a_value(expires_at_ms=NOW if number < 8 else NOW + 1))
        assert await listed(backend, limit=2) == ["8", "9"]

    async def test_what_has_expired_is_erased_a_part_at_a_time_whoever_it_belongs_to(self, backend: Backend) -> None:
        for number in range(5):
            name = named(f"{number}", tenant="acme" if number % 2 else "umbrella")
            await backend.cache.put_value(name, a_value(expires_at_ms=NOW + number))
        await backend.cache.put_value(named("stays"), a_value())
        went = [await backend.cache.forget_expired(now_ms=NOW + 3, limit=3) for _ in range(3)]
        assert went == [3, 1, 0]
        # Asked as of a time when all of them were there.
        assert await listed(backend, now_ms=NOW - 1) == ["stays"]
        assert await listed(backend, tenant="umbrella", now_ms=NOW - 1) == ["4"]

    async def test_a_value_that_was_put_anew_is_not_erased_for_its_old_time(self, backend: Backend) -> None:
        await backend.cache.put_value(named(), a_value(expires_at_ms=NOW))
        await backend.cache.put_value(named(), a_value(expires_at_ms=NOW + 5))
        assert await backend.cache.forget_expired(now_ms=NOW + 1, limit=10) == 0
        assert await backend.cache.get_value(named(), now_ms=NOW + 1) is not None

    async def test_threads_and_the_cache_leave_each_other_alone(self, backend: Backend) -> None:
        await backend.cache.put_value(named(KEY.thread_id), a_value())
        await a_line(backend, 1)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert await backend.cache.get_value(named(KEY.thread_id), now_ms=NOW) == a_value()

    @belongs_to(Category.DURABLE)
    async def test_values_and_their_times_are_there_when_it_is_opened_again(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        await backend.open()
        await backend.cache.put_value(named("for a time"), a_value(expires_at_ms=NOW + 1))
        await backend.cache.put_value(named("for ever"), a_value())
        await backend.close()
        backend = make_backend()
        await backend.open()
        assert await listed(backend) == ["for a time", "for ever"]
        assert await listed(backend, now_ms=NOW + 1) == ["for ever"]
        await backend.close()
