"""Threads that are deleted in the middle of something: what may be left of them, and how what goes on there may end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

CANARY = "canary-that-must-be-gone"
# A deleted thread leaves nothing in these; in `threads` and `requests` stay its tombstone and the hashes of its requests.
CONTENT = ("checkpoints", "messages", "state_changes", "folds", "approvals")
ENDS = {"thread_not_found", "resume_invalid", "approval_not_found"}


async def all_ended(*calls: Awaitable[object]) -> None:
    """Wait for every call, and raise what one of them raised."""
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def ended_badly(thread_id: str, playing: Awaitable[None], *, within_s: float) -> list[str]:
    """Wait for what goes on in a thread that is deleted; what is wrong with how it ended."""
    try:
        async with asyncio.timeout(within_s):
            await playing
    except TimeoutError:
        return [f"{thread_id}: a stream did not end"]
    except Exception as error:  # noqa: BLE001 - how it ends is what is judged
        if getattr(error, "code", "") not in ENDS:
            return [f"{thread_id}: ended with {error!r}"]
    return []
