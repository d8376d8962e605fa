"""The in-process handle on the threads that are stored. The same verbs as the client's."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from clew_engine import reads
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking
from clew_engine.errors import ArgumentInvalidError
from clew_engine.field_rules import wanted_metadata, word_of
from clew_engine.paging import check_limit
from clew_engine.thread_info import ThreadInfo, info_of
from clew_storage import Status, ThreadFilter

if TYPE_CHECKING:
    from clew_engine.storage import Storage

Scalar = str | int | float | bool | None
_PAGE = 200


class Threads:
    """The threads that are stored."""

    def __init__(self, storage: Storage, tenant: str = "") -> None:
        self.storage = storage
        self._tenant = tenant

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
        if order not in ("create_time", "update_time"):
            raise ArgumentInvalidError("order", f"{order!r} is none of create_time, update_time")
        where = ThreadFilter(
            user_id=None if user_id is None else str(user_id) or None,
            app=app or None,
            status=word_of(Status, status, "status"),
            metadata=wanted_metadata(metadata),
            text=query or None,
        )
        found: builtins.list[ThreadInfo] = []
        token = ""
        async with self.storage.calling(None):
            while limit is None or len(found) < limit:
                size = _PAGE if limit is None else min(_PAGE, limit - len(found))
                page = await reads.list_threads(
                    self.storage, self._tenant, where, by_update=order == "update_time", size=size, token=token
                )
                found += map(info_of, page.items)
                token = page.next_token
                if not token:
                    break
        return found

    list_sync = blocking(list)  # noqa: A003 - the method is meant
