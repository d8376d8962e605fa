"""A storage for each test, on each backend that needs no server, and the surfaces over it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import clew
from clew_engine import Agent, App, Storage, Tuning, Workflow
from tests.support.serving import serving

# A thread of the app of this name, in process or of a client; both have the same verbs.
Threads = Callable[..., Any]


@pytest.fixture(params=["memory", "sqlite"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    """Open, and closed afterwards."""
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path / 'clew.db'}"
    async with Storage(url, tuning=Tuning(cancel_grace_s=0.2, model_backoff_s=0.0)) as opened:
        yield opened


@pytest.fixture(params=["in_process", "grpc"])
async def surface(request: pytest.FixtureRequest, storage: Storage) -> AsyncIterator[Callable[..., Any]]:
    """Serves apps, and gives what makes handles on their threads."""
    async with AsyncExitStack() as stack:

        async def serve(*flows: Workflow | Agent, **compiled: Any) -> Threads:
            apps: Sequence[App] = [
                flow.compile(storage, **compiled) if isinstance(flow, Workflow) else flow for flow in flows
            ]
            if request.param == "in_process":
                by_name: dict[str, Any] = {app.name: app for app in apps}
                return lambda thread_id="t", app=apps[0].name: by_name[app].thread(thread_id)
            served = await stack.enter_async_context(serving(apps, storage))
            client = await stack.enter_async_context(clew.Client(served.target))
            return lambda thread_id="t", app=apps[0].name: client.workflow(app).thread(thread_id)

        yield serve
