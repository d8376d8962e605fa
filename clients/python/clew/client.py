"""The client: where a program begins."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from clew.app import AppHandle
from clew.argument_checks import checked
from clew.blocking import BACKGROUND, blocking
from clew.cache import Cache
from clew.connection import Connection
from clew.inbox import Approvals
from clew.listings import Apps, Threads, Workers
from clew.settings import Settings, Tls, Token, check_settings, check_times, default_target
from clew.thread import Thread
from clew.worker import Worker
from clew.workflow import WorkflowHandle


class Client:
    """A server, reached over gRPC. `async with Client("localhost:50051") as client:` closes it; `with` does so for the blocking forms.

    Args:
        target: Where the server is; by default what CLEW_TARGET names, or `localhost:50051`.
        token: Sent as a bearer token with every call; a function is asked for each call anew.
        tls: Encryption; True for the system's root certificates.
        timeout: Seconds that a call which answers once may take. Streams have a limit only where they are given one.
        connect_timeout: Seconds to try for before a server that was never heard is given up.
        rejoin_timeout: Seconds to try for before a stream that broke is given up.
        leave_timeout: Seconds to wait for a run to be cancelled when its stream is left.
        insecure_token: Send the token without encryption, also beyond this machine, where anyone on the way can read it.
        options: Further channel options of gRPC.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        token: Token | None = None,
        tls: Tls | bool = False,
        timeout: float = 30.0,
        connect_timeout: float = 5.0,
        rejoin_timeout: float = 60.0,
        leave_timeout: float = 15.0,
        insecure_token: bool = False,
        options: Sequence[tuple[str, Any]] = (),
    ) -> None:
        where = target or default_target()
        check_settings(where, token, tls, insecure_token=insecure_token)
        check_times(
            timeout=timeout,
            connect_timeout=connect_timeout,
            rejoin_timeout=rejoin_timeout,
            leave_timeout=leave_timeout,
        )
        self.settings = Settings(
            target=where,
            token=token,
            tls=Tls() if tls is True else tls or None,
            timeout=timeout,
            connect_timeout=connect_timeout,
            rejoin_timeout=rejoin_timeout,
            leave_timeout=leave_timeout,
            options=tuple(options),
        )
        self._connections: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            weakref.WeakKeyDictionary()
        )
        self.threads = Threads(self)
        self.approvals = Approvals(self)
        self.apps = Apps(self)
        self.workers = Workers(self)
        self.cache = Cache(self)

    def __repr__(self) -> str:
        return f"Client({self.settings.target!r})"

    @checked
    def app(self, name: str) -> AppHandle:
        """A handle on an agent or workflow."""
        return AppHandle(self, name)

    @checked
    def workflow(self, name: str) -> WorkflowHandle:
        """A handle on a workflow: its threads are run with values and give results with a state."""
        return WorkflowHandle(self, name)

    @checked
    def thread(self, thread_id: str, actor: str | None = None) -> Thread:
        """A handle on a thread, whatever its app is."""
        return Thread(self, thread_id, "", actor or "")

    @checked
    def worker(self, worker_id: str | None = None, *, max_calls: int = 0, thread_id: str | None = None) -> Worker:
        """A worker, for tools that this process runs for agents.

        Args:
            worker_id: Its name; by default one that no other process has, which is what keeps a restarted process from being taken for this one.
            max_calls: How many calls it runs at a time, up to 1,000; 0 for 10.
            thread_id: Take calls of this thread alone.
        """
        return Worker(self, worker_id or "", max_calls, thread_id or "")

    def connection(self) -> Connection:
        """What belongs to the running event loop; made by its first use."""
        loop = asyncio.get_running_loop()
        found = self._connections.get(loop)
        if found is None:
            found = self._connections[loop] = Connection(self.settings)
            if BACKGROUND.is_mine(loop):
                BACKGROUND.close_at_exit(self)
        return found

    async def close(self) -> None:
        """Leaves the streams that are open on this event loop, and lets its channel go. The client may be used again."""
        found = self._connections.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found.close()

    close_sync = blocking(close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_sync()
