"""What every backend must keep, as tests: each sentence of the port, and one model that random histories are held to.

A backend's author writes, in a test module of a project with pytest, pytest-asyncio (`asyncio_mode = "auto"`) and
hypothesis:

    from clew_storage.conformance import BackendPromises, Category, hold_to_model

    class TestMine(BackendPromises):
        opted_out = {Category.DURABLE: "it is a cache"}

        @pytest.fixture
        def make_backend(self, tmp_path):
            return lambda: MyBackend(tmp_path / "db")  # every call opens the same database

    def test_random_histories_equal_the_model():
        hold_to_model(lambda: functools.partial(MyBackend, new_path()))  # a new database each time

A category is the only way to leave a test out, and each needs its reason.
"""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.{noun}"
        for noun in (
            "append_promises",
            "approval_promises",
            "archive_promises",
            "backend_promises",
            "cache_promises",
            "cache_rules",
            "copy_promises",
            "delete_promises",
            "exchange_promises",
            "head_promises",
            "idle_promises",
            "info_promises",
            "interrupted_promises",
            "lease_promises",
            "list_promises",
            "log_promises",
            "machine",
            "message_promises",
            "request_promises",
            "retention_rules",
            "server_promises",
            "sights",
            "state_promises",
            "trim_promises",
        )
    )
)

from clew_storage.conformance.append_promises import AppendPromises  # noqa: E402 - after the rewrite is registered
from clew_storage.conformance.approval_promises import ApprovalPromises  # noqa: E402
from clew_storage.conformance.archive_promises import ArchivePromises, SizePromises  # noqa: E402
from clew_storage.conformance.backend_promises import OpeningPromises  # noqa: E402
from clew_storage.conformance.cache_promises import CachePromises  # noqa: E402
from clew_storage.conformance.categories import Category, Promises  # noqa: E402
from clew_storage.conformance.copy_promises import CopyPromises  # noqa: E402
from clew_storage.conformance.delete_promises import DeletePromises  # noqa: E402
from clew_storage.conformance.exchange_promises import ExchangePromises  # noqa: E402
from clew_storage.conformance.head_promises import HeadPromises  # noqa: E402
from clew_storage.conformance.idle_promises import IdlePromises  # noqa: E402
from clew_storage.conformance.info_promises import InfoPromises  # noqa: E402
from clew_storage.conformance.interrupted_promises import InterruptedPromises  # noqa: E402
from clew_storage.conformance.lease_promises import LeasePromises  # noqa: E402
from clew_storage.conformance.list_promises import ListPromises  # noqa: E402
from clew_storage.conformance.log_promises import LogPromises  # noqa: E402
from clew_storage.conformance.machine import hold_to_model  # noqa: E402
from clew_storage.conformance.message_promises import MessagePromises  # noqa: E402
from clew_storage.conformance.request_promises import RequestPromises  # noqa: E402
from clew_storage.conformance.server_promises import GlancePromises, ServerPromises  # noqa: E402
from clew_storage.conformance.state_promises import StatePromises  # noqa: E402
from clew_storage.conformance.trim_promises import TrimPromises  # noqa: E402


class BackendPromises(
    LeasePromises,
    AppendPromises,
    HeadPromises,
    LogPromises,
    StatePromises,
    MessagePromises,
    ApprovalPromises,
    InfoPromises,
    ListPromises,
    InterruptedPromises,
    CopyPromises,
    DeletePromises,
    RequestPromises,
    IdlePromises,
    TrimPromises,
    CachePromises,
    ExchangePromises,
    OpeningPromises,
    GlancePromises,
    ServerPromises,
    ArchivePromises,
    SizePromises,
):
    """Every promise of the port."""


__all__ = ["BackendPromises", "Category", "Promises", "hold_to_model"]
