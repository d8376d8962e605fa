"""How a backend takes part in the suite, and what it may leave out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, TypeVar

import pytest

from clew_storage.port import Backend

Test = TypeVar("Test", bound=Callable[..., Any])
MakeBackend = Callable[[], Backend]


class Category(Enum):
    """The promises that not every kind of storage can keep."""

    DURABLE = "what was written is there when the database is opened again"
    ONE_OWNER = "a database that is open is refused to a second opener"
    SHARED = "any number of servers have a database open at once"


def belongs_to(category: Category) -> Callable[[Test], Test]:
    """Mark a test of a promise that can be opted out of."""

    def mark(test: Test) -> Test:
        test.category = category  # type: ignore[attr-defined]
        return test

    return mark


class Promises:
    """Tests of a backend. A subclass gives the fixture `make_backend`; each call of what it returns is the same database."""

    opted_out: ClassVar[Mapping[Category, str]] = {}

    def __init_subclass__(cls) -> None:
        """Take out what the subclass opts out of."""
        super().__init_subclass__()
        for category, reason in cls.opted_out.items():
            assert reason, f"{cls.__name__} opts out of {category} without a reason"
            for name in dir(cls):
                if getattr(getattr(cls, name), "category", None) is category:
                    setattr(cls, name, None)

    @pytest.fixture
    async def backend(self, make_backend: MakeBackend) -> AsyncIterator[Backend]:
        """An open backend on an empty database."""
        backend = make_backend()
        await backend.open()
        yield backend
        await backend.close()
