"""Which threads are in progress while nobody holds them."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import KEY, NOW, OTHER, UID, a_checkpoint, a_grant, a_thread, a_write, fork
from clew_storage.port import Backend
from clew_storage.records import Grant, InfoChange, Status, ThreadInfo, ThreadKey

APP = "support"


async def begin(backend: Backend, key: ThreadKey = KEY, *, app: str = APP) -> Grant:
    """A thread in progress, held."""
    grant = await a_grant(backend, key)
    await backend.threads.append(a_write(grant, info=ThreadInfo(app=app)))
    return grant


async def left(backend: Backend, *keys: ThreadKey, app: str = APP) -> None:
    """Threads in progress that nobody holds any more."""
    for key in keys:
        await backend.leases.release(await begin(backend, key, app=app))


async def interrupted(
    backend: Backend, *apps: str, after: ThreadKey | None = None, limit: int = 100
) -> list[ThreadKey]:
    """The keys of a listing."""
    return [each.key for each in await backend.threads.list_interrupted(apps or (APP,), after=after, limit=limit)]


class InterruptedPromises(Promises):
    """`Threads.list_interrupted`."""

    async def test_a_thread_in_progress_is_interrupted_when_its_lease_was_let_go(self, backend: Backend) -> None:
        grant = await begin(backend)
        assert await interrupted(backend) == []
        await backend.leases.release(grant)
        (found,) = await backend.threads.list_interrupted([APP], after=None, limit=9)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert (found, found.uid, found.head_version) == (head.thread, UID, 1)

    @pytest.mark.parametrize("status", [each for each in Status if each is not Status.IN_PROGRESS])
    async def test_a_thread_at_rest_is_not_interrupted(self, backend: Backend, status: Status) -> None:
        grant = await begin(backend)
        await backend.threads.append(a_write(grant, 2, checkpoint=a_checkpoint(2, status=status)))
        await backend.leases.release(grant)
        assert await interrupted(backend) == []

    async def test_a_thread_that_goes_on_after_a_rest_is_interrupted_again(self, backend: Backend) -> None:
        grant = await begin(backend)
        for version, status in ((2, Status.FAILED), (3, Status.IN_PROGRESS), (4, Status.IN_PROGRESS)):
            await backend.threads.append(a_write(grant, version, checkpoint=a_checkpoint(version, status=status)))
        await backend.leases.release(grant)
        assert await interrupted(backend) == [KEY]

    async def test_a_thread_whose_first_write_is_its_end_is_not_interrupted(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, checkpoint=a_checkpoint(status=Status.COMPLETED)))
        await backend.leases.release(grant)
        assert await interrupted(backend) == []

    async def test_a_thread_without_a_checkpoint_is_not_interrupted(self, backend: Backend) -> None:
        await backend.threads.change_info(OTHER, InfoChange(), create=a_thread(), request=None, now_ms=NOW)
        assert await interrupted(backend) == []

    async def test_a_deleted_thread_is_not_interrupted_and_one_made_anew_may_be(self, backend: Backend) -> None:
        await left(backend, KEY)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert await interrupted(backend) == []
        await left(backend, KEY)
        assert await interrupted(backend) == [KEY]

    async def test_a_copy_is_interrupted_as_its_own_head_says(self, backend: Backend) -> None:
        await left(backend, KEY)
        for thread_id, status in (("copy-1", Status.FAILED), ("copy-2", Status.IN_PROGRESS)):
            key = ThreadKey("acme", thread_id)
            checkpoint = a_checkpoint(2, parent_version=1, status=status)
            write = a_write(Grant(key, 0, "write"), 2, uid="uid-2", checkpoint=checkpoint, fork_of=1)
            await backend.threads.copy_thread(KEY, UID, a_thread(key), write)
        assert await interrupted(backend) == [ThreadKey("acme", "copy-2"), KEY]

    async def test_a_fork_that_is_in_progress_is_interrupted(self, backend: Backend) -> None:
        grant = await begin(backend)
        await backend.threads.append(a_write(grant, 2, checkpoint=a_checkpoint(2, status=Status.COMPLETED)))
        await fork(backend, grant, 3, 1)
        await backend.leases.release(grant)
        assert await interrupted(backend) == [KEY]

    async def test_only_threads_of_these_apps_are_listed(self, backend: Backend) -> None:
        await left(backend, KEY)
        await left(backend, OTHER, app="sales")
        assert await interrupted(backend, "sales") == [OTHER]
        assert await interrupted(backend, "sales", APP) == [KEY, OTHER]
        assert await interrupted(backend, "supp") == []
        assert list(await backend.threads.list_interrupted((), after=None, limit=9)) == []

    async def test_pages_over_all_tenants_join_without_a_gap_or_a_repeat(self, backend: Backend) -> None:
        keys = [ThreadKey(tenant, name) for tenant in ("", "Acme", "acme", "ömega") for name in ("B", "a", "é", "𝄞")]
        held = [await begin(backend, key) for key in keys[::5]]
        await left(backend, *(key for key in reversed(keys) if key not in keys[::5]))
        found: list[ThreadKey] = []
        while page := await interrupted(backend, after=found[-1] if found else None, limit=3):
            found += page
        assert found == [key for key in keys if key not in keys[::5]]
        for grant in held:
            await backend.leases.release(grant)
        assert await interrupted(backend) == keys

    @belongs_to(Category.DURABLE)
    async def test_after_a_restart_what_was_in_progress_is_interrupted(self, make_backend: MakeBackend) -> None:
        first = make_backend()
        await first.open()
        await begin(first)
        await first.close()
        second = make_backend()
        await second.open()
        assert await interrupted(second) == [KEY]
        await second.close()

    @pytest.fixture
    async def elsewhere(self, make_backend: MakeBackend) -> AsyncIterator[Backend]:
        """Another server."""
        backend = make_backend()
        await backend.open()
        yield backend
        await backend.close()

    @belongs_to(Category.SHARED)
    async def test_what_one_server_holds_is_interrupted_on_none(self, backend: Backend, elsewhere: Backend) -> None:
        grant = await begin(backend)
        assert await interrupted(elsewhere) == []
        await backend.leases.release(grant)
        assert await interrupted(elsewhere) == [KEY]
