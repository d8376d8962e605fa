"""All that a thread waits for, to be decided at once."""

from __future__ import annotations

from clew.connection import Connection
from clew.errors import ClewError, ResumeInvalidError, ThreadInterruptedError, ThreadNotFoundError
from clew.v1 import approval_service_pb2, thread_pb2, thread_service_pb2


async def pending_ids(connection: Connection, thread_id: str) -> tuple[list[str], int]:
    """The approvals that a thread waits for, and the version that they were read at. Raises what deciding nothing would be refused with."""
    request = approval_service_pb2.ListApprovalsRequest(thread_id=thread_id)
    found: list[str] = []
    version = 0
    try:
        while True:
            page = await connection.ask(connection.approvals.ListApprovals, request)
            found += [approval.id for approval in page.approvals]
            version = version or page.version
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        if found:
            return found, version
        raise await _why_nothing_waits(connection, thread_id)
    except ThreadNotFoundError:
        raise _nothing(thread_id) from None


async def _why_nothing_waits(connection: Connection, thread_id: str) -> ClewError:
    request = thread_service_pb2.GetThreadRequest(thread_id=thread_id)
    thread = (await connection.ask(connection.threads.GetThread, request)).thread
    if thread.run.state == thread_pb2.RUN_STATE_INTERRUPTED:
        return ThreadInterruptedError(
            f"run {thread.run.run_id} of thread {thread_id} was interrupted; retry continues it",
            metadata={"run_id": thread.run.run_id},
        )
    return _nothing(thread_id)


def _nothing(thread_id: str) -> ResumeInvalidError:
    return ResumeInvalidError(f"thread {thread_id} waits for no decision", metadata={"thread_id": thread_id})
