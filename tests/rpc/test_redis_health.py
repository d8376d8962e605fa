"""Health says how Redis is, under a name of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from clew_engine import Agent
from tests.scenarios.scripts import ScriptedModel
from tests.support.redis import KeptRedis
from tests.support.serving import serving

UP, DOWN = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_server_is_healthy_whether_its_redis_is_or_not(kept_redis: KeptRedis) -> None:
    kept_redis.kill()
    async with serving([Agent("app", model=ScriptedModel())], redis=kept_redis.url) as served:
        health: Any = health_pb2_grpc.HealthStub(served.channel)
        told = health.Watch(health_pb2.HealthCheckRequest(service="redis"))
        async with asyncio.timeout(20):
            assert (await told.read()).status == DOWN
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == UP
            for change, status in ((kept_redis.start, UP), (kept_redis.kill, DOWN)):
                change()
                assert (await told.read()).status == status
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == UP
        told.cancel()


async def test_a_server_without_redis_knows_of_none() -> None:
    async with serving([Agent("app", model=ScriptedModel())]) as served:
        health: Any = health_pb2_grpc.HealthStub(served.channel)
        with pytest.raises(Exception, match="NOT_FOUND"):
            await health.Check(health_pb2.HealthCheckRequest(service="redis"))
