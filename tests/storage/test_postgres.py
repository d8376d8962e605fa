"""Postgres keeps the port's promises."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import pytest

from clew_storage import open_storage
from clew_storage.conformance import BackendPromises, Category, hold_to_model
from clew_storage.conformance.categories import MakeBackend
from tests.support.postgres import in_schema


class TestPostgres(BackendPromises):
    opted_out: ClassVar = {Category.ONE_OWNER: "any number of servers share a database"}

    @pytest.fixture
    def make_backend(self, postgres_dsn: str) -> MakeBackend:
        return partial(open_storage, in_schema(postgres_dsn))


def test_random_histories_equal_the_model(postgres_dsn: str) -> None:
    hold_to_model(lambda: partial(open_storage, in_schema(postgres_dsn)), reopens=True)
