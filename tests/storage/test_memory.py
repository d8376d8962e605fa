"""Memory keeps the port's promises."""

from __future__ import annotations

from typing import ClassVar

import pytest

from clew_storage import open_storage
from clew_storage.conformance import BackendPromises, Category, hold_to_model
from clew_storage.conformance.categories import MakeBackend


class TestMemory(BackendPromises):
    opted_out: ClassVar = {
        Category.DURABLE: "what is in memory goes with its backend",
        Category.ONE_OWNER: "every memory backend is a database of its own",
        Category.SHARED: "every memory backend is a database of its own",
    }

    @pytest.fixture
    def make_backend(self) -> MakeBackend:
        return lambda: open_storage("memory://")


def test_random_histories_equal_the_model() -> None:
    hold_to_model(lambda: lambda: open_storage("memory://"))
