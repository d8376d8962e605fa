"""CacheService: values by namespace and key, each for ever or for a time."""

from __future__ import annotations

from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import cache_service_pb2 as pb
from clew.v1.cache_service_pb2_grpc import CacheServiceServicer
from clew_engine import cached_values
from clew_engine.storage import Storage
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.scalars import milliseconds, timestamp
from clew_storage import CacheKey

Context = ServicerContext[Any, Any]


class CacheService(CacheServiceServicer):
    """None of these knows of any thread."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def PutValue(self, request: pb.PutValueRequest, context: Context) -> pb.PutValueResponse:
        """Keeps a value."""
        ttl_ms = milliseconds(request.ttl) if request.HasField("ttl") else None
        async with self._storage.calling(None):
            kept = await cached_values.put_value(
                self._storage, _key(request, context), request.value_json.encode(), ttl_ms=ttl_ms
            )
        return pb.PutValueResponse(expire_time=_expiry(kept.expires_at_ms))

    async def GetValue(self, request: pb.GetValueRequest, context: Context) -> pb.GetValueResponse:
        """The value, where there is one."""
        async with self._storage.calling(None):
            found = await cached_values.get_value(self._storage, _key(request, context))
        if found is None:
            return pb.GetValueResponse()
        return pb.GetValueResponse(value_json=found.value.decode(), expire_time=_expiry(found.expires_at_ms))

    async def DeleteValue(self, request: pb.DeleteValueRequest, context: Context) -> pb.DeleteValueResponse:
        """Deletes a value."""
        async with self._storage.calling(None):
            existed = await cached_values.delete_value(self._storage, _key(request, context))
        return pb.DeleteValueResponse(existed=existed)

    async def ListKeys(self, request: pb.ListKeysRequest, context: Context) -> pb.ListKeysResponse:
        """The keys of a namespace, by code point."""
        async with self._storage.calling(None):
            page = await cached_values.list_keys(
                self._storage,
                tenant_of(context),
                request.namespace,
                prefix=request.prefix,
                size=request.page_size,
                token=request.page_token,
            )
        return pb.ListKeysResponse(keys=page.items, next_page_token=page.next_token)


def _key(request: Any, context: Context) -> CacheKey:
    return cached_values.cache_key(tenant_of(context), request.namespace, request.key)


def _expiry(expires_at_ms: int | None) -> Any:
    return None if expires_at_ms is None else timestamp(expires_at_ms)
