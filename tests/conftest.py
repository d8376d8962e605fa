"""Lists the tests that this machine lacks something for in `build/not_run.txt`.

`.ci/run` compares the list with `tests/not_run.txt`, so that nothing is passed over in silence.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.pgbouncer import pooled
from tests.support.postgres import some_dsn
from tests.support.redis import KeptRedis, a_redis, some_redis

pytest_plugins = ["tests.faults.reporting", "tests.golden.reporting"]

# A loaded machine is slow, which says nothing of the code.
settings.register_profile("clew", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("clew")


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """A Postgres server, started by the first test that asks for it."""
    with some_dsn() as dsn:
        yield dsn


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis server, started by the first test that asks for it."""
    with some_redis() as url:
        yield url


@pytest.fixture
def kept_redis() -> Iterator[KeptRedis]:
    """A Redis server of the test's own, to be killed and started again."""
    with a_redis() as server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer_dsn(postgres_dsn: str) -> Iterator[str]:
    """The way to that server through a PgBouncer in transaction mode."""
    with pooled(postgres_dsn) as dsn:
        yield dsn


NOT_RUN: pytest.StashKey[set[str]] = pytest.StashKey()
LIST = Path(__file__).parent.parent / "build" / "not_run.txt"


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So it is for what a script starts in the background, and all that the tests start would have it from here: deaf to Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[NOT_RUN] = set()


@contextmanager
def no_garbage(*, while_told: bool) -> Iterator[None]:
    """Nothing is collected while a failure is told.

    Python 3.11 cannot parse within a parse: asyncio formats the traceback of a task that is collected, pytest parses the failed test's file at that
    moment, and all of pytest ends with a SystemError.
    """
    if not while_told:
        yield
        return
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    with no_garbage(while_told=call.excinfo is not None):
        report = (yield).get_result()
    if report.skipped and not hasattr(report, "wasxfail"):
        item.config.stash[NOT_RUN].add(item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    if (yield).get_result().skipped:
        collector.config.stash[NOT_RUN].add(collector.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    worker_output = getattr(session.config, "workeroutput", None)
    if worker_output is not None:
        not_run = session.config.stash[NOT_RUN]
        worker_output["not_run"] = list(not_run)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    not_run: set[str] = node.config.stash[NOT_RUN]
    not_run.update(getattr(node, "workeroutput", {}).get("not_run", ()))


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workeroutput") and not config.option.collectonly:
        LIST.parent.mkdir(exist_ok=True)
        not_run = config.stash[NOT_RUN]
        LIST.write_text("".join(f"{node}\n" for node in sorted(not_run)))
