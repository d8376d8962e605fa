"""One database served one way: what every scenario is played in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Protocol, cast

import pytest
from msgspec.structs import replace

import clew
from clew_engine import Agent, ClewError, Limits, Storage, Thread, Tuning, Workflow
from clew_engine.errors import LeaseLostError
from clew_engine.models import Model
from clew_engine.sweep import sweep
from clew_storage import ThreadKey
from tests.scenarios.handles import Served
from tests.scenarios.in_process import InProcessThread
from tests.scenarios.scripts import ScriptedModel
from tests.scenarios.sights import Reader, Turn

ERRORS: tuple[type[Exception], ...] = (ClewError, clew.ClewError)
TUNING = Tuning(model_backoff_s=0.0, cancel_grace_s=0.3)


class Handle(Protocol):
    """A thread as a caller holds it, in process or through the client."""

    id: str

    def stream(self, text: Any = "hello", **options: Any) -> Reader: ...
    async def send(self, text: Any = "hello", **options: Any) -> Turn: ...
    def stream_decide(self, answers: Mapping[str, Any], **options: Any) -> Reader: ...
    async def decide(self, answers: Mapping[str, Any], **options: Any) -> Turn: ...
    async def resume(self, value: Any, **options: Any) -> Turn: ...
    def stream_retry(self, **options: Any) -> Reader: ...
    async def retry(self, **options: Any) -> Turn: ...
    def watch(self, after_version: int = 0, **options: Any) -> Reader: ...
    async def cancel(self, run_id: str = "", **options: Any) -> dict[str, Any]: ...
    async def rewind(self, checkpoint_id: str, **options: Any) -> dict[str, Any]: ...
    async def copy(self, target_id: str, checkpoint_id: str = "", **options: Any) -> Handle: ...
    async def update(self, **changes: Any) -> dict[str, Any]: ...
    async def delete(self, **options: Any) -> bool: ...
    async def info(self) -> dict[str, Any]: ...
    async def update_state(self, values: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]: ...
    async def clear_state(self, **options: Any) -> dict[str, Any]: ...
    async def append_messages(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> list[str]: ...
    async def update_message(self, message_id: str, content: Any = None, **options: Any) -> dict[str, Any]: ...
    async def delete_message(self, message_id: str, **options: Any) -> list[str]: ...
    async def message(self, message_id: str) -> dict[str, Any]: ...
    async def messages(self, **options: Any) -> list[dict[str, Any]]: ...
    async def state(self, checkpoint_id: str = "") -> dict[str, Any]: ...
    async def history(self, limit: int = 1000) -> list[dict[str, Any]]: ...
    async def approvals(self) -> list[dict[str, Any]]: ...


class Clock:
    """Time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += int(seconds * 1000)


class Surface(Protocol):
    """How callers reach the agents of a storage."""

    def __call__(self, storage: Storage, agents: Sequence[Served]) -> AbstractAsyncContextManager[Connect]: ...


Connect = Callable[..., Handle]


class World:
    """A storage, the agents and workflows on it, and handles on their threads."""

    def __init__(self, url: str, surface: Surface, redis: object = None) -> None:
        self.url = url
        self.redis = redis
        self.tuning = TUNING
        self.clock = Clock()
        self._surface = surface
        self._storage: Storage | None = None
        self.agents: list[Served] = []
        self._serving: AbstractAsyncContextManager[Connect] | None = None
        self._connect: Connect | None = None

    @property
    def storage(self) -> Storage:
        """The storage, made at its first use."""
        if self._storage is None:
            self._storage = Storage(self.url, tuning=self.tuning, clock=self.clock, redis=self.redis)
        return self._storage

    def tune(self, **changes: Any) -> None:
        """Change settings before anything is served."""
        assert self._storage is None
        self.tuning = replace(self.tuning, **changes)

    def agent(self, *answers: Any, name: str = "app", model: Model | None = None, **settings: Any) -> ScriptedModel:
        """Serve an agent whose model gives these answers; the model tells what it heard."""
        scripted = ScriptedModel(*(answers or ("ok",)))
        self.agents.append(Agent(name, model=model or scripted, storage=self.storage, **settings))
        return scripted

    def workflow(self, flow: Workflow) -> None:
        """Serve a workflow."""
        self.agents.append(flow.compile(self.storage))

    async def thread(self, thread_id: str = "t", *, app: str = "app", **options: Any) -> Handle:
        """A handle on a thread."""
        if self._connect is None:
            if not self.agents:
                self.agent()
            self._serving = self._surface(self.storage, self.agents)
            self._connect = await self._serving.__aenter__()
        return self._connect(thread_id, app=app, **options)

    async def sweep(self) -> None:
        """End what has expired, as happens every few seconds."""
        await sweep(self.storage)

    async def waiters(self, count: int, thread_id: str = "t") -> None:
        """Wait until that many calls wait for a thread."""
        async with asyncio.timeout(10):
            while self.storage.backend.leases.queued(ThreadKey("", thread_id)) != count:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0)

    async def interrupt(self, thread_id: str = "t") -> None:
        """Let the run of a thread die as in a crash: nothing is saved of it any more."""
        run = self.storage.live[ThreadKey("", thread_id)]
        run.abandon(LeaseLostError("the process died"))
        await asyncio.wait_for(asyncio.shield(run.ended), 10)

    async def close(self) -> None:
        """End what is served, and the storage."""
        if self._serving is not None:
            await self._serving.__aexit__(None, None, None)
        if self._storage is not None:
            await self._storage.close()


class InProcess:
    """The surface of `agent.thread(id)`."""

    def __init__(self, storage: Storage, agents: Sequence[Served]) -> None:
        self._agents = {agent.name: agent for agent in agents}

    async def __aenter__(self) -> Connect:
        return self._connect

    async def __aexit__(self, *_: object) -> None:
        return

    def _connect(
        self,
        thread_id: str,
        *,
        app: str,
        actor: str | None = None,
        limits: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Handle:
        if limits is not None:
            options["limits"] = Limits(**{**_NONE, **limits})
        # A workflow's thread has the same verbs; its `stream` takes values.
        return InProcessThread(cast("Thread", self._agents[app].thread(thread_id, actor)), **options)


_NONE: Mapping[str, Any] = {"steps": None, "tokens": None, "seconds": None, "tool_seconds": None}


@contextmanager
def refused(code: str, **metadata: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """The call in this block is refused with a code."""
    with pytest.raises(ERRORS) as raised:
        yield raised
    error: Any = raised.value
    assert error.code == code, f"{error.code}: {error}"
    for name, value in metadata.items():
        assert error.metadata[name] == value


async def snapshot(thread: Handle) -> dict[str, Any]:
    """All that is stored of a thread, to show later that nothing was written."""
    history = await thread.history()
    found: dict[str, Any] = {
        "history": history,
        "messages": await thread.messages(),
        "approvals": await thread.approvals(),
    }
    if history:
        info = await thread.info()
        found |= {"info": info, "state": await thread.state()}
    return found


async def head_of(thread: Handle) -> dict[str, Any]:
    """The newest checkpoint."""
    return (await thread.history(1))[0]


async def at_version(thread: Handle, version: int) -> str:
    """The id of a checkpoint on the thread's line."""
    return next(str(each["id"]) for each in await thread.history() if each["version"] == version)


async def where_calls_are_open(thread: Handle) -> str:
    """The newest checkpoint after which tools are to be run."""
    return next(str(each["id"]) for each in await thread.history() if each["next"] == ["tools"])


async def texts(thread: Handle) -> list[str]:
    """What each message says; of results what they gave."""
    found = []
    for message in await thread.messages():
        parts = [part["content"][0] if part["type"] == "tool_result" else part for part in message["content"]]
        found.append("".join(part.get("text", "") for part in parts))
    return found
