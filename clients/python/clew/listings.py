"""What a client can list: threads, apps and workers."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from clew.argument_checks import check_limit, checked
from clew.blocking import blocking
from clew.errors import ArgumentInvalidError, StateInvalidError
from clew.json_text import encode_json
from clew.records import App, ThreadInfo, WorkerInfo, app_of, thread_of, worker_of
from clew.v1 import app_service_pb2, checkpoint_pb2, thread_service_pb2, worker_service_pb2
from clew.words import number_of

if TYPE_CHECKING:
    from clew.client import Client


_MAX_METADATA = 64 << 10
Scalar = str | int | float | bool | None


class Threads:
    """The threads that the server keeps."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @checked
    async def list(
        self,
        limit: int | None = 20,
        *,
        user_id: str | int | None = None,
        app: str = "",
        status: str = "",
        metadata: Mapping[str, Scalar] | tuple[str, Scalar] | None = None,
        query: str = "",
        order: Literal["create_time", "update_time"] = "create_time",
    ) -> builtins.list[ThreadInfo]:
        """The newest threads that meet all that is asked; with a limit of None all of them.

        `metadata` is a dict whose pairs a thread's metadata all has at its top level (or one pair): strings, numbers, booleans and None, which are
        equal as JSON has it. `query` is a part of the id or the name. By `update_time`, threads that change meanwhile may be missed or come twice.
        """
        check_limit(limit)
        request = thread_service_pb2.ListThreadsRequest(
            user_id="" if user_id is None else str(user_id),
            app=app,
            status=number_of(checkpoint_pb2.CheckpointStatus, status, "status"),
            metadata_json=_wanted(metadata),
            query=query,
            order=number_of(thread_service_pb2.ThreadOrder, order, "order"),
        )
        to = self._client.connection()
        found: builtins.list[ThreadInfo] = []
        while limit is None or len(found) < limit:
            request.page_size = 200 if limit is None else min(200, limit - len(found))
            page = await to.ask(to.threads.ListThreads, request)
            found += map(thread_of, page.threads)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        return found

    list_sync = blocking(list)  # noqa: A003  # the method is meant


class Apps:
    """The agents and workflows that the server runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @checked
    async def list(self) -> builtins.list[App]:
        """All of them, by name."""
        to = self._client.connection()
        request = app_service_pb2.ListAppsRequest(page_size=200)
        found: builtins.list[App] = []
        while True:
            page = await to.ask(to.apps.ListApps, request)
            found += map(app_of, page.apps)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return found

    @checked
    async def get(self, name: str) -> App:
        """One of them."""
        to = self._client.connection()
        return app_of((await to.ask(to.apps.GetApp, app_service_pb2.GetAppRequest(name=name))).app)

    list_sync = blocking(list)  # noqa: A003  # the method is meant
    get_sync = blocking(get)


class Workers:
    """The workers that are there, at all servers."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @checked
    async def list(self, tool: str = "") -> builtins.list[WorkerInfo]:
        """All of them by their ids; with a tool those that offer it."""
        to = self._client.connection()
        request = worker_service_pb2.ListWorkersRequest(tool=tool, page_size=200)
        found: builtins.list[WorkerInfo] = []
        while True:
            page = await to.ask(to.workers.ListWorkers, request)
            found += map(worker_of, page.workers)
            request.page_token = page.next_page_token
            if not page.next_page_token:
                return found

    list_sync = blocking(list)  # noqa: A003  # the method is meant


def _wanted(metadata: object) -> str:
    """The pairs as a JSON object; empty for none. Raises ArgumentInvalidError."""
    if isinstance(metadata, tuple) and len(metadata) == 2:
        metadata = {metadata[0]: metadata[1]}
    if not metadata and (metadata is None or isinstance(metadata, dict)):
        return ""
    if not isinstance(metadata, dict):
        raise _refused("a dict or a pair of a key and its value is due here")
    for key, value in metadata.items():
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise _refused(f"the value under {key!r} is no string, number, boolean or null")
    try:
        text = encode_json(metadata, "metadata")
    except StateInvalidError as error:
        raise ArgumentInvalidError(error.message, metadata=error.metadata) from None
    if len(text.encode()) > _MAX_METADATA:
        raise _refused(f"at most {_MAX_METADATA} bytes")
    return text


def _refused(why: str) -> ArgumentInvalidError:
    return ArgumentInvalidError(f"metadata: {why}", metadata={"field": "metadata"})
