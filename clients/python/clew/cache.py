"""The cache: values by namespace and key, each for ever or for a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.argument_checks import check_limit, checked
from clew.blocking import blocking
from clew.errors import ArgumentInvalidError
from clew.json_text import decode_json, encode_json
from clew.options import duration_of
from clew.v1 import cache_service_pb2 as pb

if TYPE_CHECKING:
    from clew.client import Client


class Cache:
    """JSON values by namespace and key, each for ever or for a time. Namespaces and keys are any text, in which no character has a meaning."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @checked
    async def put(self, namespace: str, key: str, value: Any, *, ttl: float | None = None) -> None:
        """Keep a value for `ttl` seconds (None: for ever), in the place of the one that was under the key."""
        _check(namespace=namespace, key=key)
        request = pb.PutValueRequest(namespace=namespace, key=key, value_json=encode_json(value, "value_json"))
        if ttl is not None:
            request.ttl.CopyFrom(duration_of(ttl, "ttl"))
        to = self._client.connection()
        await to.ask(to.cache.PutValue, request)

    @checked
    async def get(self, namespace: str, key: str, default: Any = None) -> Any:
        """The value, or `default` where there is none or its time is over."""
        _check(namespace=namespace, key=key)
        to = self._client.connection()
        found = await to.ask(to.cache.GetValue, pb.GetValueRequest(namespace=namespace, key=key))
        return decode_json(found.value_json) if found.HasField("value_json") else default

    @checked
    async def delete(self, namespace: str, key: str) -> bool:
        """Delete a value; True if there was one."""
        _check(namespace=namespace, key=key)
        to = self._client.connection()
        return (await to.ask(to.cache.DeleteValue, pb.DeleteValueRequest(namespace=namespace, key=key))).existed

    @checked
    async def keys(self, namespace: str, prefix: str = "", *, limit: int | None = None) -> list[str]:
        """The keys of a namespace that begin with a text, in the order of their code points; with a limit the first ones."""
        _check(namespace=namespace, prefix=prefix)
        check_limit(limit)
        to = self._client.connection()
        request = pb.ListKeysRequest(namespace=namespace, prefix=prefix)
        found: list[str] = []
        while limit is None or len(found) < limit:
            request.page_size = 1000 if limit is None else min(1000, limit - len(found))
            page = await to.ask(to.cache.ListKeys, request)
            found += page.keys
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        return found

    put_sync = blocking(put)
    get_sync = blocking(get)
    delete_sync = blocking(delete)
    keys_sync = blocking(keys)


def _check(**texts: str) -> None:
    """Raises ArgumentInvalidError, naming the field, for what does not travel as text."""
    for field, text in texts.items():
        try:
            text.encode()
        except (AttributeError, UnicodeEncodeError):
            raise ArgumentInvalidError(f"{field}: {text!r} is no text", metadata={"field": field}) from None
