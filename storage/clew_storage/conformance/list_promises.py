"""Lists of threads: filtered, ordered, in pages that hold while threads change."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from typing import Any

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import KEY, NOW, a_checkpoint, a_grant, a_thread, a_write
from clew_storage.port import Backend
from clew_storage.records import InfoChange, Status, ThreadFilter, ThreadInfo, ThreadKey, ThreadRecord


async def put(backend: Backend, thread_id: str, created: int, *, tenant: str = "acme", **info: Any) -> ThreadRecord:
    """A thread without a checkpoint."""
    key = ThreadKey(tenant, thread_id)
    made = a_thread(key, uid=f"uid-{thread_id}", info=ThreadInfo(**info), created_at_ms=created)
    return await backend.threads.change_info(key, InfoChange(), create=made, request=None, now_ms=created)


async def names(
    backend: Backend,
    where: ThreadFilter | None = None,
    *,
    tenant: str = "acme",
    by_update: bool = False,
    after: tuple[int, str] | None = None,
    limit: int = 100,
) -> list[str]:
    """The ids of a list of threads."""
    found = await backend.threads.list_threads(
        tenant, where or ThreadFilter(), by_update=by_update, after=after, limit=limit
    )
    return [thread.key.thread_id for thread in found]


class ListPromises(Promises):
    """`Threads.list_threads`."""

    async def test_the_newest_comes_first_and_ties_go_by_id(self, backend: Backend) -> None:
        for name, created in (("c", 5), ("B", 5), ("a", 5), ("old", 1), ("new", 9)):
            await put(backend, name, created)
        assert await names(backend) == ["new", "B", "a", "c", "old"]

    async def test_a_listed_thread_is_what_its_head_says(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        written = await backend.threads.append(a_write(grant))
        listed = await backend.threads.list_threads("acme", ThreadFilter(), by_update=False, after=None, limit=9)
        assert list(listed) == [written.thread]

    async def test_a_list_is_of_one_tenant(self, backend: Backend) -> None:
        await put(backend, "ours", 1)
        await put(backend, "theirs", 1, tenant="umbrella")
        assert await names(backend) == ["ours"]
        assert await names(backend, tenant="nobody") == []

    async def test_by_last_change_the_changed_comes_first(self, backend: Backend) -> None:
        for number in range(3):
            await put(backend, str(number), NOW + number)
        await backend.threads.change_info(
            ThreadKey("acme", "0"), InfoChange(name="x"), create=None, request=None, now_ms=NOW + 50
        )
        assert await names(backend, by_update=True) == ["0", "2", "1"]
        assert await names(backend) == ["2", "1", "0"]

    @pytest.mark.parametrize("by_update", [False, True])
    async def test_pages_of_threads_join_without_a_gap_or_a_repeat(self, backend: Backend, *, by_update: bool) -> None:
        for number in range(10):
            await put(backend, f"t{number}", NOW + number // 4)
        found: list[str] = []
        after: tuple[int, str] | None = None
        while page := await names(backend, by_update=by_update, after=after, limit=3):
            found += page
            after = (NOW + int(page[-1][1:]) // 4, page[-1])
        assert found == await names(backend, by_update=by_update)
        assert len(found) == 10

    async def test_threads_made_changed_and_deleted_meanwhile_do_not_shift_a_page_by_creation(
        self, backend: Backend
    ) -> None:
        for number in range(6):
            await put(backend, f"t{number}", NOW + number)
        first = await names(backend, limit=2)
        await put(backend, "newer", NOW + 99)
        await backend.threads.change_info(
            ThreadKey("acme", "t0"), InfoChange(name="x"), create=None, request=None, now_ms=NOW + 200
        )
        await backend.threads.delete_thread(ThreadKey("acme", "t4"), request=None, now_ms=NOW)
        assert first == ["t5", "t4"]
        assert await names(backend, after=(NOW + 4, "t4"), limit=2) == ["t3", "t2"]
        assert await names(backend, after=(NOW + 2, "t2")) == ["t1", "t0"]

    async def test_a_deleted_thread_is_not_listed(self, backend: Backend) -> None:
        await put(backend, "gone", 1, user_id="ada")
        await backend.threads.delete_thread(ThreadKey("acme", "gone"), request=None, now_ms=2)
        for where in (ThreadFilter(), ThreadFilter(user_id=""), ThreadFilter(user_id="ada"), ThreadFilter(text="gone")):
            assert await names(backend, where) == []

    async def test_user_app_and_status_are_matched_whole(self, backend: Backend) -> None:
        await put(backend, "a", 1, user_id="ada", app="support")
        await put(backend, "b", 2, user_id="bob", app="support")
        await put(backend, "c", 3, user_id="ad", app="sales")
        await put(backend, "d", 4)
        assert await names(backend, ThreadFilter(user_id="ada")) == ["a"]
        assert await names(backend, ThreadFilter(user_id="")) == ["d"]
        assert await names(backend, ThreadFilter(app="support")) == ["b", "a"]
        assert await names(backend, ThreadFilter(app="support", user_id="bob")) == ["b"]

    async def test_status_is_the_heads(self, backend: Backend) -> None:
        await put(backend, "none", 1)
        for number, status in enumerate(Status):
            key = ThreadKey("acme", status.value)
            grant = await a_grant(backend, key)
            checkpoint = a_checkpoint(status=status, created_at_ms=number)
            await backend.threads.append(a_write(grant, checkpoint=checkpoint))
        for status in Status:
            assert await names(backend, ThreadFilter(status=status)) == [status.value]

    async def test_metadata_matches_top_level_pairs_as_json(self, backend: Backend) -> None:
        await put(backend, "a", 1, metadata=b'{"plan":"gold","n":1,"deep":{"plan":"silver"}}')
        await put(backend, "b", 2, metadata=b'{"plan":"go\\u006cd"}')
        await put(backend, "c", 3, metadata=b'{"pl.an":"gold","$":"x"}')
        await put(backend, "d", 4, metadata=b'{"n":1.0,"yes":true,"none":null,"plan":"gold"}')

        async def found(wanted: bytes) -> list[str]:
            return await names(backend, ThreadFilter(metadata=wanted))

        assert await found(b'{"plan":"gold"}') == ["d", "b", "a"]
        assert await found(b'{"plan":"silver"}') == []
        assert await found(b'{"n":"1"}') == []
        assert await found(b'{"n":1}') == ["d", "a"]
        assert await found(b'{"plan":"gold","n":1,"yes":true}') == ["d"]
        assert await found(b'{"yes":1}') == []
        assert await found(b'{"none":null}') == ["d"]
        assert await found(b'{"other":null}') == []
        assert await found(b'{"pl.an":"gold"}') == ["c"]
        assert await found(b'{"$":"x"}') == ["c"]
        assert await found(b"{}") == ["d", "c", "b", "a"]

    async def test_text_matches_a_part_of_id_or_name_without_regard_to_case_and_accents(self, backend: Backend) -> None:
        await put(backend, "Order-1", 1, name="Straße 5%")
        await put(backend, "order_2", 2, name="ÉTÉ")
        assert await names(backend, ThreadFilter(text="ORDER")) == ["order_2", "Order-1"]
        assert await names(backend, ThreadFilter(text="strasse")) == ["Order-1"]
        assert await names(backend, ThreadFilter(text="été")) == ["order_2"]
        assert await names(backend, ThreadFilter(text="ete")) == ["order_2"]
        assert await names(backend, ThreadFilter(text="e\u0301T")) == ["order_2"]
        assert await names(backend, ThreadFilter(text="\u0301")) == []
        assert await names(backend, ThreadFilter(text="%")) == ["Order-1"]
        assert await names(backend, ThreadFilter(text="_")) == ["order_2"]
        assert await names(backend, ThreadFilter(text="'")) == []

    async def test_filters_hold_together_and_across_pages(self, backend: Backend) -> None:
        for number in range(12):
            await put(backend, f"t{number:02}", NOW + number, user_id="ada" if number % 2 else "bob", name="x")
        where = ThreadFilter(user_id="ada", text="T")
        first = await names(backend, where, limit=3)
        assert first == ["t11", "t09", "t07"]
        assert await names(backend, where, after=(NOW + 7, "t07"), limit=9) == ["t05", "t03", "t01"]

    async def test_the_first_checkpoint_does_not_move_a_thread_in_the_list(self, backend: Backend) -> None:
        await put(backend, KEY.thread_id, NOW)
        await put(backend, "later", NOW + 1)
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, uid=f"uid-{KEY.thread_id}"))
        assert await names(backend) == ["later", KEY.thread_id]
