"""Idempotency: a committed mutation is found again by its request id, and never done twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from clew_engine.errors import ArgumentInvalidError, ClewError, RequestIdReusedError
from clew_engine.ids import MAX_ID_LENGTH, request_hash
from clew_engine.options import Mutation
from clew_storage import RequestRecord, RequestRecorded, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

T = TypeVar("T")
_VISIBLE = re.compile(r"[\x21-\x7e]*")


def check_request_id(value: str, field: str = "request_id") -> None:
    """Raises ArgumentInvalidError for an id that no client would make."""
    if len(value) > MAX_ID_LENGTH or _VISIBLE.fullmatch(value) is None:
        raise ArgumentInvalidError(field, f"at most {MAX_ID_LENGTH} visible ASCII characters; a UUID is best")


async def again_if_recorded(mutation: Callable[[], Awaitable[T]]) -> T:
    """What a mutation gives. When the same request was committed by another call meanwhile, it is asked again, and finds that outcome."""
    try:
        return await mutation()
    except RequestRecorded:
        return await mutation()


async def unless_recorded(requests: RequestLog, mutation: Callable[[], Awaitable[T]]) -> T:
    """What a mutation gives. One that is refused may have been committed by the same request on another server: then it finds that outcome."""
    try:
        return await mutation()
    except ClewError:
        if await requests.find() is None:
            raise
        return await mutation()


class RequestLog:
    """The record of one mutation, before and after it is done."""

    def __init__(self, storage: Storage, key: ThreadKey, verb: str, mutation: Mutation) -> None:
        check_request_id(mutation.request_id)
        self._storage = storage
        self._key = key
        self._verb = verb
        self._request_id = mutation.request_id
        body = b"\x00".join((verb.encode(), str(mutation.expected_version).encode(), mutation.body))
        self._digest = hashlib.blake2b(body, digest_size=16, person=b"clew-body").digest()

    async def find(self) -> tuple[str, int] | None:
        """The uid and version that this mutation wrote before, or None. Raises RequestIdReusedError for another body under the id."""
        found = await self.find_record()
        return None if found is None else (found.uid, found.version)

    async def find_record(self) -> RequestRecord | None:
        """The whole record, or None."""
        if not self._request_id:
            return None
        found = await self._storage.backend.threads.find_request(self._key, request_hash(self._request_id))
        if found is not None and (found.body_digest != self._digest or found.verb != self._verb):
            raise RequestIdReusedError(
                f"request id {self._request_id!r} was used for another {found.verb} on this thread; make a new id",
                request_id=self._request_id,
            )
        return found

    def record(self, reply: bytes = b"") -> RequestRecord | None:
        """The record to commit with the mutation; who writes it fills in uid and version."""
        if not self._request_id:
            return None
        return RequestRecord(
            request_hash=request_hash(self._request_id),
            body_digest=self._digest,
            verb=self._verb,
            uid="",
            version=0,
            created_at_ms=self._storage.now_ms(),
            reply=reply,
        )
