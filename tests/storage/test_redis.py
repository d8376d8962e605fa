"""A database beside which there is Redis keeps the port's promises, those of the cache among them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import pytest

from clew_storage import Backend, RedisSettings, open_redis
from clew_storage.conformance import Category, hold_to_model
from clew_storage.conformance.backend_promises import OpeningPromises
from clew_storage.conformance.cache_promises import CachePromises
from clew_storage.conformance.categories import MakeBackend
from clew_storage.conformance.copy_promises import CopyPromises
from clew_storage.conformance.delete_promises import DeletePromises
from clew_storage.conformance.state_promises import StatePromises
from tests.support.redis import as_shared


def with_redis(url: str, redis: str, prefix: str) -> Callable[[], Backend]:
    """Opens the same database each time, beside the same part of Redis; every state counts as large."""
    settings = RedisSettings(redis, prefix=prefix, large_state=0, patience=10.0)
    return lambda: open_redis(settings).around(as_shared(url))


class TestSqliteBesideRedis(CachePromises, StatePromises, CopyPromises, DeletePromises, OpeningPromises):
    """Those promises that Redis has a part in."""

    opted_out: ClassVar = {Category.SHARED: "one process owns a file"}

    @pytest.fixture
    def make_backend(self, tmp_path: Path, redis_url: str) -> MakeBackend:
        return with_redis(f"sqlite://{tmp_path}/clew.db", redis_url, uuid4().hex)

    @pytest.mark.filterwarnings("ignore")
    def test_reopened_in_another_loop_it_keeps_what_was_committed_and_frees_what_was_held(
        self, make_backend: MakeBackend
    ) -> None:
        super().test_reopened_in_another_loop_it_keeps_what_was_committed_and_frees_what_was_held(make_backend)
        # The sockets of a loop that is closed are closed by whoever finds them, and Python says so.
        gc.collect()


def test_random_histories_equal_the_model(redis_url: str) -> None:
    hold_to_model(lambda: with_redis("memory://", redis_url, uuid4().hex), histories=20)
