"""The exchange: calls go from runs to workers and outcomes come back, each to one worker at a time, and none is lost while its worker lives."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import KEY, NOW, OTHER
from clew_storage.port import Backend
from clew_storage.records import CallName, CallSight, CallState, GivenCall, OfferedCall, ThreadKey, WorkerRecord

LEASE_S = 30.0
# A lease that is over as soon as it is given, by every backend's clock.
OVER_S = 0.0


def an_offer(name: str = "k1", key: ThreadKey = KEY, *, tool: str = "charge", once: bool = False) -> OfferedCall:
    """A call of a tool on a thread."""
    return OfferedCall(CallName(key, name), tool, b'{"n":"%s"}' % name.encode(), once, NOW)


def a_worker(worker_id: str = "w1", *tools: str, tenant: str = KEY.tenant, thread_id: str = "") -> WorkerRecord:
    """A worker that offers these tools."""
    return WorkerRecord(tenant, worker_id, tools or ("charge",), b'{"w":1}', thread_id=thread_id, created_at_ms=NOW)


async def claimed(
    backend: Backend, worker: WorkerRecord, *, limit: int = 10, lease_s: float = LEASE_S, now_ms: int = NOW
) -> list[GivenCall]:
    """What a worker is given when it asks."""
    return list(await backend.exchange.claim(worker, tools=worker.tools, limit=limit, lease_s=lease_s, now_ms=now_ms))


async def seen(backend: Backend, call: CallName, now_ms: int = NOW) -> CallSight | None:
    """How a call stands."""
    return (await backend.exchange.sight([call], now_ms=now_ms)).get(call)


async def held(backend: Backend, worker_id: str, *calls: CallName, lease_s: float = LEASE_S) -> set[CallName]:
    """Those of the calls that are the worker's, after it has renewed them."""
    return set(await backend.exchange.hold(KEY.tenant, worker_id, calls, lease_s=lease_s, now_ms=NOW))


class ExchangePromises(Promises):
    """`Exchange`."""

    async def test_a_call_is_offered_given_finished_and_taken(self, backend: Backend) -> None:
        offer = an_offer()
        assert await backend.exchange.offer(offer) == CallSight(CallState.OPEN)
        assert await claimed(backend, a_worker()) == [GivenCall(offer, 1)]
        assert await seen(backend, offer.call) == CallSight(CallState.GIVEN, "w1", 1)
        done = await backend.exchange.finish("w1", offer.call, b"\x00outcome")
        assert done == CallSight(CallState.DONE, "w1", 1, outcome=b"\x00outcome")
        assert await seen(backend, offer.call) == done
        await backend.exchange.take([offer.call])
        assert await seen(backend, offer.call) == CallSight(CallState.TAKEN, "w1", 1)

    async def test_a_call_that_was_given_is_given_to_nobody_else(self, backend: Backend) -> None:
        await backend.exchange.offer(an_offer())
        assert len(await claimed(backend, a_worker())) == 1
        assert await claimed(backend, a_worker("w2")) == []
        assert await claimed(backend, a_worker()) == []

    async def test_calls_are_given_in_the_order_they_came_and_no_more_than_asked_for(self, backend: Backend) -> None:
        for number in range(5):
            await backend.exchange.offer(replace(an_offer(f"k{number}"), offered_at_ms=NOW + number))
        first = await claimed(backend, a_worker(), limit=3)
        second = await claimed(backend, a_worker("w2"), limit=3)
        assert [given.offer.call.name for given in (*first, *second)] == [f"k{number}" for number in range(5)]

    async def test_of_workers_that_ask_at_once_each_call_goes_to_one(self, backend: Backend) -> None:
        for number in range(20):
            await backend.exchange.offer(an_offer(f"k{number}"))
        given = await asyncio.gather(*(claimed(backend, a_worker(f"w{number}"), limit=3) for number in range(10)))
        names = [each.offer.call.name for calls in given for each in calls]
        assert len(names) == len(set(names)) == 20

    async def test_a_worker_is_given_calls_of_its_tools_and_of_its_thread_alone(self, backend: Backend) -> None:
        await backend.exchange.offer(an_offer("mine"))
        await backend.exchange.offer(an_offer("other tool", tool="refund"))
        await backend.exchange.offer(an_offer("other thread", OTHER))
        elsewhere = ThreadKey("another", KEY.thread_id)
        await backend.exchange.offer(an_offer("other tenant", elsewhere))
        here = a_worker("here", "charge", thread_id=KEY.thread_id)
        assert [given.offer.call.name for given in await claimed(backend, here)] == ["mine"]
        assert [given.offer.call.name for given in await claimed(backend, a_worker())] == ["other thread"]

    async def test_a_call_whose_lease_is_over_goes_to_the_next(self, backend: Backend) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker(), lease_s=OVER_S)
        assert await seen(backend, offer.call) == CallSight(CallState.OPEN, "w1", 1)
        assert await claimed(backend, a_worker("w2")) == [GivenCall(offer, 2)]
        assert await seen(backend, offer.call) == CallSight(CallState.GIVEN, "w2", 2)
        assert await held(backend, "w1", offer.call) == set()
        sight = await backend.exchange.finish("w1", offer.call, b"late")
        assert sight == CallSight(CallState.GIVEN, "w2", 2), "who has it now brings the outcome"

    async def test_a_call_that_is_once_goes_to_nobody_else_and_is_known_to_be_lost(self, backend: Backend) -> None:
        offer = an_offer(once=True)
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker(), lease_s=OVER_S)
        assert await claimed(backend, a_worker("w2")) == []
        assert await seen(backend, offer.call) == CallSight(CallState.GIVEN, "w1", 1, lost=True)
        done = await backend.exchange.finish("w1", offer.call, b"late")
        assert done == CallSight(CallState.DONE, "w1", 1, outcome=b"late")

    async def test_a_worker_that_renews_keeps_its_calls(self, backend: Backend) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker(), lease_s=OVER_S)
        assert await held(backend, "w1", offer.call) == {offer.call}
        assert await claimed(backend, a_worker("w2")) == []
        assert await held(backend, "w2", offer.call) == set()

    async def test_a_worker_that_comes_back_with_an_open_call_has_it_again(self, backend: Backend) -> None:
        offer = an_offer(once=True)
        assert await held(backend, "w1", offer.call) == set(), "nobody wants it"
        await backend.exchange.offer(offer)
        assert await held(backend, "w1", offer.call) == {offer.call}
        assert await claimed(backend, a_worker("w2")) == []
        done = await backend.exchange.finish("w1", offer.call, b"kept")
        assert done is not None
        assert done.outcome == b"kept"

    async def test_a_call_that_is_not_known_may_wait_for_who_has_it(self, backend: Backend) -> None:
        offer = replace(an_offer(), not_before_ms=NOW + 10)
        await backend.exchange.offer(offer)
        assert await claimed(backend, a_worker(), now_ms=NOW + 9) == []
        assert await held(backend, "w2", offer.call) == {offer.call}
        await backend.exchange.withdraw([offer.call])
        await backend.exchange.offer(offer)
        assert len(await claimed(backend, a_worker(), now_ms=NOW)) == 1, "it was known"
        late = replace(an_offer("late"), not_before_ms=NOW + 10)
        await backend.exchange.offer(late)
        assert len(await claimed(backend, a_worker(), now_ms=NOW + 10)) == 1

    async def test_a_call_that_is_offered_again_stays_as_it_is(self, backend: Backend) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker())
        assert await backend.exchange.offer(offer) == CallSight(CallState.GIVEN, "w1", 1)
        await backend.exchange.finish("w1", offer.call, b"1")
        assert await backend.exchange.offer(offer) == CallSight(CallState.DONE, "w1", 1, outcome=b"1")
        await backend.exchange.take([offer.call])
        assert await backend.exchange.offer(offer) == CallSight(CallState.OPEN), (
            "its run has that one, and wants another"
        )
        assert await claimed(backend, a_worker("w2")) == [GivenCall(offer, 1)]

    async def test_the_first_outcome_stays(self, backend: Backend) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker())
        await backend.exchange.finish("w1", offer.call, b"first")
        again = await backend.exchange.finish("w1", offer.call, b"second")
        assert again == CallSight(CallState.DONE, "w1", 1, outcome=b"first")
        await backend.exchange.take([offer.call])
        assert await backend.exchange.finish("w1", offer.call, b"third") == CallSight(CallState.TAKEN, "w1", 1)

    async def test_what_never_came_to_a_worker_is_open_again_but_for_what_is_once(self, backend: Backend) -> None:
        await backend.exchange.offer(an_offer("another's"))
        await claimed(backend, a_worker("w2"))
        for name in ("held", "lost"):
            await backend.exchange.offer(an_offer(name))
        await backend.exchange.offer(an_offer("once", once=True))
        await claimed(backend, a_worker())
        reopen, held = backend.exchange.reopen, [an_offer("held").call]
        assert await reopen("another", "w1", but=[]) == 0
        assert await reopen(KEY.tenant, "w1", but=held) == 1
        assert await reopen(KEY.tenant, "w1", but=held) == 0
        assert [given.offer.call.name for given in await claimed(backend, a_worker("w3"))] == ["lost"]

    async def test_a_worker_that_drains_stays_so_until_it_is_dismissed(self, backend: Backend) -> None:
        async def register() -> bool:
            return await backend.exchange.register(a_worker(), lease_s=LEASE_S, now_ms=NOW)

        assert not await backend.exchange.drain(KEY.tenant, "w1")
        assert not await register()
        assert await backend.exchange.drain(KEY.tenant, "w1")
        assert await register()
        (found,) = await backend.exchange.list_workers(KEY.tenant, tools=(), after=None, limit=9, now_ms=NOW)
        assert found.draining
        await backend.exchange.dismiss(KEY.tenant, "w1")
        assert not await register()

    async def test_what_is_given_back_is_given_again_when_its_time_has_come(self, backend: Backend) -> None:
        offer = replace(an_offer(), max_tries=3)
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker())
        tenant = KEY.tenant
        assert not await backend.exchange.give_back(tenant, "w2", offer.call, not_before_ms=0)
        assert await backend.exchange.give_back(tenant, "w1", offer.call, not_before_ms=NOW + 10)
        assert not await backend.exchange.give_back(tenant, "w1", offer.call, not_before_ms=0)
        assert await seen(backend, offer.call) == CallSight(CallState.OPEN, delivery=1, tries=1, not_before_ms=NOW + 10)
        assert await claimed(backend, a_worker("w2"), now_ms=NOW + 9) == []
        assert await claimed(backend, a_worker("w2"), now_ms=NOW + 10) == [GivenCall(offer, 2)]
        assert await seen(backend, offer.call) == CallSight(CallState.GIVEN, "w2", 2, tries=1, not_before_ms=NOW + 10)
        assert await backend.exchange.give_back(tenant, "w2", offer.call, not_before_ms=0)
        assert len(await claimed(backend, a_worker())) == 1
        assert not await backend.exchange.give_back(tenant, "w1", offer.call, not_before_ms=0), "it had three tries"

    async def test_a_call_has_its_time_from_when_it_is_given_first_and_then_goes_to_nobody(
        self, backend: Backend
    ) -> None:
        await backend.exchange.offer(replace(an_offer("short"), timeout_ms=0))
        await backend.exchange.offer(replace(an_offer("long"), timeout_ms=60_000))
        short, long = sorted(
            await claimed(backend, a_worker(), lease_s=OVER_S), key=lambda given: given.offer.call.name
        )[::-1]
        assert short.deadline_ms is not None
        assert long.deadline_ms is not None
        assert 59_000 <= long.deadline_ms - short.deadline_ms <= 61_000
        now_ms = short.deadline_ms
        sight = await seen(backend, short.offer.call, now_ms)
        assert sight is not None
        assert sight.late
        other = await seen(backend, long.offer.call, now_ms)
        assert other is not None
        assert not other.late
        (again,) = await claimed(backend, a_worker("w2"), now_ms=now_ms)
        assert (again.offer, again.deadline_ms) == (long.offer, long.deadline_ms)

    async def test_a_worker_that_runs_a_tool_once_takes_no_calls_that_may_run_twice(self, backend: Backend) -> None:
        careful = replace(a_worker("careful"), once=("charge",))
        await backend.exchange.offer(an_offer("twice"))
        await backend.exchange.offer(an_offer("once", once=True))
        assert [given.offer.call.name for given in await claimed(backend, careful)] == ["once"]
        assert [given.offer.call.name for given in await claimed(backend, a_worker())] == ["twice"]

    async def test_who_has_a_call_says_how_far_it_is(self, backend: Backend) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        assert not await backend.exchange.report("w1", offer.call, b"1")
        await claimed(backend, a_worker())
        assert await backend.exchange.report("w1", offer.call, b"1")
        assert await backend.exchange.report("w1", offer.call, b"2")
        assert not await backend.exchange.report("w2", offer.call, b"3")
        assert await seen(backend, offer.call) == CallSight(CallState.GIVEN, "w1", 1, progress=b"2")
        await backend.exchange.finish("w1", offer.call, b"done")
        assert not await backend.exchange.report("w1", offer.call, b"4")

    async def test_what_is_withdrawn_is_nobodys_and_begins_anew_when_it_is_offered_again(
        self, backend: Backend
    ) -> None:
        offer = an_offer()
        await backend.exchange.offer(offer)
        await claimed(backend, a_worker())
        await backend.exchange.withdraw([offer.call, an_offer("never offered").call])
        assert await seen(backend, offer.call) == CallSight(CallState.WITHDRAWN, "w1", 1)
        assert await seen(backend, an_offer("never offered").call) is None
        assert await held(backend, "w1", offer.call) == set()
        assert await backend.exchange.finish("w1", offer.call, b"1") == CallSight(CallState.WITHDRAWN, "w1", 1)
        await backend.exchange.take([offer.call])
        assert await seen(backend, offer.call) == CallSight(CallState.WITHDRAWN, "w1", 1), "there is no outcome to take"
        assert await claimed(backend, a_worker("w2")) == []
        assert await backend.exchange.offer(offer) == CallSight(CallState.OPEN)

    async def test_calls_of_two_threads_with_one_name_are_two(self, backend: Backend) -> None:
        await backend.exchange.offer(an_offer())
        await backend.exchange.offer(an_offer(key=OTHER))
        (given,) = await claimed(backend, a_worker("w1", "charge", thread_id=OTHER.thread_id))
        await backend.exchange.finish("w1", given.offer.call, b"1")
        assert await seen(backend, an_offer().call) == CallSight(CallState.OPEN)

    async def test_workers_are_listed_by_id_and_tool_until_their_lease_is_over(self, backend: Backend) -> None:
        workers = [a_worker("w2", "charge", "refund"), a_worker("w1"), a_worker("w1", tenant="another")]
        for worker in workers:
            await backend.exchange.register(worker, lease_s=LEASE_S, now_ms=NOW)
        await backend.exchange.register(a_worker("gone"), lease_s=OVER_S, now_ms=NOW)

        async def listed(*tools: str, after: str | None = None, limit: int = 9) -> list[WorkerRecord]:
            found = await backend.exchange.list_workers(KEY.tenant, tools=tools, after=after, limit=limit, now_ms=NOW)
            return list(found)

        assert await listed() == [workers[1], workers[0]]
        assert await listed("refund") == [workers[0]]
        assert await listed("refund", "charge", "unknown") == [workers[1], workers[0]]
        assert await listed("unknown") == []
        assert await listed(after="w1") == [workers[0]]
        assert await listed(limit=1) == [workers[1]]
        changed = replace(workers[0], tools=("charge",), once=("charge",))
        await backend.exchange.register(changed, lease_s=LEASE_S, now_ms=NOW)
        assert await listed() == [workers[1], changed]
        await backend.exchange.dismiss(KEY.tenant, "w2")
        assert await listed() == [workers[1]]

    async def test_what_was_taken_is_forgotten_when_it_is_old_and_nothing_else(self, backend: Backend) -> None:
        for name in ("taken", "done"):
            await backend.exchange.offer(an_offer(name))
        await claimed(backend, a_worker())
        await backend.exchange.offer(an_offer("left", once=True))
        await claimed(backend, a_worker("dead"), lease_s=OVER_S)
        await backend.exchange.offer(an_offer("open"))
        await backend.exchange.offer(an_offer("withdrawn"))
        await backend.exchange.withdraw([an_offer("withdrawn").call])
        for name in ("taken", "done"):
            await backend.exchange.finish("w1", an_offer(name).call, b"1")
        await backend.exchange.take([an_offer("taken").call])
        assert await backend.exchange.forget(before_ms=NOW) == 0
        assert await backend.exchange.forget(before_ms=NOW + 1) == 3
        names = [
            name for name in ("withdrawn", "taken", "done", "left", "open") if await seen(backend, an_offer(name).call)
        ]
        assert names == ["done", "open"]
