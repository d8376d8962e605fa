"""CacheService on the wire: values as they were written, times, and pages that only fit their own listing."""

from __future__ import annotations

import asyncio
import base64
import json

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from clew.v1 import cache_service_pb2 as pb
from clew_server import upkeep
from clew_storage import CachedValue, CacheKey
from tests.rpc.agents import echo
from tests.support.serving import Served, refusal, serving


async def put(served: Served, key: str, value_json: str = "1", ttl: Duration | None = None) -> pb.PutValueResponse:
    return await served.cache.PutValue(pb.PutValueRequest(namespace="n", key=key, value_json=value_json, ttl=ttl))


@pytest.mark.parametrize("text", [" [1.0 ,\t2]\n", "9007199254740993", '"\\u0041\\u0000"', "null", '{"b":1,"a":2}'])
async def test_a_value_comes_back_character_for_character(served_on_each: Served, text: str) -> None:
    await put(served_on_each, "k", text)
    found = await served_on_each.cache.GetValue(pb.GetValueRequest(namespace="n", key="k"))
    assert found.value_json == text
    assert not found.HasField("expire_time")


async def test_the_time_of_the_end_is_told_and_a_part_of_a_millisecond_counts_as_one(served: Served) -> None:
    served.storage.now_ms = lambda: 1_790_000_000_500
    for ttl, seconds, nanos in (
        (Duration(seconds=60), 60, 500_000_000),
        (Duration(nanos=1), 0, 501_000_000),
        (Duration(seconds=1, nanos=500_000_001), 2, 1_000_000),
        (Duration(seconds=3_155_760_000), 3_155_760_000, 500_000_000),
    ):
        kept = await put(served, "k", ttl=ttl)
        assert (kept.expire_time.seconds, kept.expire_time.nanos) == (1_790_000_000 + seconds, nanos)
        found = await served.cache.GetValue(pb.GetValueRequest(namespace="n", key="k"))
        assert found.expire_time == kept.expire_time
    assert not (await put(served, "k")).HasField("expire_time")


async def test_no_value_is_not_the_value_null(served: Served) -> None:
    missing = await served.cache.GetValue(pb.GetValueRequest(namespace="n", key="k"))
    assert not missing.HasField("value_json")
    await put(served, "k", "null")
    assert (await served.cache.GetValue(pb.GetValueRequest(namespace="n", key="k"))).HasField("value_json")


async def test_what_is_no_json_is_refused_as_state_is(served: Served) -> None:
    refused = await refusal(
        served.cache.PutValue(pb.PutValueRequest(namespace="n", key="k", value_json='{"a":1,"a":2}'))
    )
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "STATE_INVALID")
    assert refused.metadata["field"] == "value_json"


async def test_the_limit_of_a_value_is_that_of_a_state() -> None:
    async with serving([echo()], state_limit=3 << 20) as served:
        largest = json.dumps("x" * ((3 << 20) - 2))
        await put(served, "k", largest)
        assert (await served.cache.GetValue(pb.GetValueRequest(namespace="n", key="k"))).value_json == largest
        refused = await refusal(
            served.cache.PutValue(pb.PutValueRequest(namespace="n", key="k", value_json=f"{largest} "))
        )
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STATE_TOO_LARGE")
        assert (refused.metadata["size"], refused.metadata["limit"]) == (str((3 << 20) + 1), str(3 << 20))


async def test_pages_go_on_where_the_last_one_ended_whatever_comes_and_goes(served_on_each: Served) -> None:
    for number in range(6):
        await put(served_on_each, f"k{number}")
    page = await served_on_each.cache.ListKeys(pb.ListKeysRequest(namespace="n", prefix="k", page_size=2))
    assert list(page.keys) == ["k0", "k1"]
    await put(served_on_each, "k00")
    await put(served_on_each, "k31")
    for gone in ("k1", "k2"):
        await served_on_each.cache.DeleteValue(pb.DeleteValueRequest(namespace="n", key=gone))
    rest = await served_on_each.cache.ListKeys(
        pb.ListKeysRequest(namespace="n", prefix="k", page_size=99, page_token=page.next_page_token)
    )
    assert (list(rest.keys), rest.next_page_token) == (["k3", "k31", "k4", "k5"], "")


async def test_a_page_has_a_hundred_keys_unless_it_is_told_and_a_thousand_at_most(served: Served) -> None:
    for number in range(1100):
        await served.storage.backend.cache.put_value(CacheKey("", "n", f"{number:04}"), CachedValue(b"1"))
    for asked, given in ((0, 100), (1, 1), (1000, 1000), (1_000_000, 1000)):
        page = await served.cache.ListKeys(pb.ListKeysRequest(namespace="n", page_size=asked))
        assert (len(page.keys), bool(page.next_page_token)) == (given, True)


async def test_a_token_of_another_listing_or_of_none_is_refused(served: Served) -> None:
    for key in "abc":
        await put(served, key)
    token = (await served.cache.ListKeys(pb.ListKeysRequest(namespace="n", page_size=1))).next_page_token
    seal, place = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert base64.b64decode(place) == b"a"
    forged = [
        base64.urlsafe_b64encode(json.dumps([seal, other]).encode()).decode().rstrip("=")
        for other in ("?", "a", "/w==", 7)
    ]
    for request in (
        pb.ListKeysRequest(namespace="m", page_token=token),
        pb.ListKeysRequest(namespace="n", prefix="a", page_token=token),
        *(pb.ListKeysRequest(namespace="n", page_token=each) for each in forged),
    ):
        refused = await refusal(served.cache.ListKeys(request))
        assert (refused.reason, refused.metadata["field"]) == ("ARGUMENT_INVALID", "page_token")


async def test_rows_of_what_has_expired_are_erased_by_the_upkeep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_EVERY_S", 0.0)
    async with serving([echo()]) as served:
        cache = served.storage.backend.cache
        await cache.put_value(CacheKey("umbrella", "n", "k"), CachedValue(b"1", 1))
        async with asyncio.timeout(10):
            while await cache.get_value(CacheKey("umbrella", "n", "k"), now_ms=0) is not None:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0)
