"""SQLite keeps the port's promises, on a file and in memory."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest

from clew_storage import open_storage
from clew_storage.conformance import BackendPromises, Category, hold_to_model
from clew_storage.conformance.categories import MakeBackend


class TestSqliteFile(BackendPromises):
    opted_out: ClassVar = {Category.SHARED: "one process owns a file"}

    @pytest.fixture
    def make_backend(self, tmp_path: Path) -> MakeBackend:
        return lambda: open_storage(f"sqlite://{tmp_path}/clew.db")


class TestSqliteInMemory(BackendPromises):
    opted_out: ClassVar = {
        Category.DURABLE: "what is in memory goes with its backend",
        Category.ONE_OWNER: "every database in memory is one of its own",
        Category.SHARED: "every database in memory is one of its own",
    }

    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return lambda: open_storage("sqlite://:memory:")


def test_random_histories_equal_the_model(tmp_path: Path) -> None:
    numbers = count()
    hold_to_model(lambda: partial(open_storage, f"sqlite://{tmp_path}/{next(numbers)}.db"), reopens=True)
