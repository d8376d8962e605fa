"""AppService: what this server runs."""

from __future__ import annotations

from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import app_service_pb2 as pb
from clew.v1.app_service_pb2_grpc import AppServiceServicer
from clew_engine import Storage
from clew_engine.paging import page_size
from clew_server.rpc.served_apps import ServedApps
from clew_server.rpc.wire.apps import to_app
from clew_server.rpc.wire.events import fitting
from clew_server.rpc.wire.scalars import VALUE_BYTES

Context = ServicerContext[Any, Any]
_LISTING = ("apps",)


class AppService(AppServiceServicer):
    """The apps by name."""

    def __init__(self, apps: ServedApps, storage: Storage) -> None:
        self._apps = apps
        self._storage = storage

    async def ListApps(self, request: pb.ListAppsRequest, context: Context) -> pb.ListAppsResponse:
        """A page of apps."""
        limit = page_size(request.page_size, 50, 200)
        async with self._storage.calling(None):
            return await self._page(request.page_token, limit)

    async def GetApp(self, request: pb.GetAppRequest, context: Context) -> pb.GetAppResponse:
        """One app."""
        return pb.GetAppResponse(app=to_app(self._apps.info(request.name)))

    async def _page(self, token: str, limit: int) -> pb.ListAppsResponse:
        tokens = self._storage.page_tokens
        place = await tokens.place(token, _LISTING)
        left = [info for info in self._apps.infos() if place is None or info.name > str(place[0])]
        apps = fitting(map(to_app, left[:limit]), VALUE_BYTES)
        following = await tokens.make(_LISTING, (apps[-1].name,)) if len(apps) < len(left) else ""
        return pb.ListAppsResponse(apps=apps, next_page_token=following)
