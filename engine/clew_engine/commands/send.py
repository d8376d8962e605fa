"""Send: a message arrives, and a run begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.attempts import Attempt, Opening
from clew_engine.calls import INTENTS
from clew_engine.drafts import Draft, DraftMessage
from clew_engine.errors import AppMismatchError
from clew_engine.messages import Part, TextPart, ToolResultPart
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, NewThread, RunOptions
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.state import check_size, replacing
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import Source, StateChange, Status, ThreadInfo, ThreadKey
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.storage import Storage


def send(
    storage: Storage,
    key: ThreadKey,
    program: Program,
    content: tuple[Part, ...],
    values: dict[str, bytes],
    *,
    new: NewThread,
    mutation: Mutation,
    options: RunOptions,
) -> EventStream:
    """Run one turn: a new one, or the first of its thread."""
    program.check_input(content)
    check_size(values, storage.tuning.state_limit)

    def opening(thread: OpenThread) -> Opening:
        # A thread of another app has no answer to give that would make this call right.
        check_app(thread, program.name)
        rule(thread, Command.SEND)
        change = _change(program, thread, values)
        more = program.defaults(apply(thread.state, change) if change else thread.state)
        if more:
            change = replace(change, replaced={**change.replaced, **more}) if change else replacing(more)
        program.check_state(apply(thread.state, change) if change else thread.state)
        said = (DraftMessage("user", content),) if content else ()
        draft = Draft(
            Source.INPUT,
            next=program.begin(),
            messages=(*closing_messages(thread), *said),
            state=change,
            step=0,
            new_run=True,
        )
        info = None
        if thread.info is None or not thread.info.app:
            info = _info(thread.info, program.name, new)
        return Opening(draft, program, info)

    return Attempt(storage, key, "send", opening, mutation, options).stream()


def _change(program: Program, thread: OpenThread, values: dict[str, bytes]) -> StateChange | None:
    """The values over the state, which an earlier version of the program may have left."""
    upgrade = program.upgraded_state(thread.body.next, thread.state, thread.key.thread_id)
    if upgrade is None:
        return replacing(values)
    removed = tuple(key for key in upgrade.removed if key not in values)
    return replace(upgrade, replaced={**upgrade.replaced, **values}, removed=removed)


def check_app(thread: OpenThread, app: str) -> None:
    """Raises AppMismatchError for a thread of another app."""
    if thread.info is not None and thread.info.app and thread.info.app != app:
        raise AppMismatchError(thread.key.thread_id, thread.info.app, app)


def closing_messages(thread: OpenThread) -> tuple[DraftMessage, ...]:
    """Outcomes for the calls that a failed run left open, so that no model ever sees a call without a result."""
    if thread.status is not Status.FAILED:
        return ()
    started = frozenset(thread.body.next.get(INTENTS, ()))
    return tuple(
        DraftMessage("tool", (_closed(call.id, call.name, started),), position=position)
        for position, call in thread.transcript.open_calls()
    )


def _closed(call_id: str, name: str, started: frozenset[str]) -> ToolResultPart:
    if call_id in started:
        text = "whether this call had its effect is not known: it was started and the run ended before its result"
        return ToolResultPart(call_id, name, (TextPart(text),), is_error=True, outcome="unknown")
    text = "the run ended before this call had a result"
    return ToolResultPart(call_id, name, (TextPart(text),), is_error=True, outcome="cancelled")


def _info(known: ThreadInfo | None, app: str, new: NewThread) -> ThreadInfo:
    if known is None:
        return ThreadInfo(app=app, user_id=new.user_id, name=new.name, metadata=new.metadata)
    return ThreadInfo(
        app=app,
        user_id=known.user_id or new.user_id,
        name=known.name or new.name,
        metadata=new.metadata if known.metadata == b"{}" else known.metadata,
        revision=known.revision,
    )
