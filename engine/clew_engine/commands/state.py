"""State from outside a run: replaced, merged or cleared. Values are the bytes that were sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_engine.checkpoints import Checkpoint, Failure, next_names
from clew_engine.drafts import Draft
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError, StateInvalidError, ThreadNotFoundError
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.outside_writes import OutsideWrite, Programs, info_for, known_program, update_draft, write_from_outside
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.state import check_keys, check_size
from clew_engine.verdicts import rule
from clew_storage import Source, StateChange, Status, ThreadInfo, ThreadKey
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.storage import Storage


@dataclass(frozen=True, slots=True)
class StateUpdate:
    """What to make of the state.

    `values` are merged into it, each top-level value whole, and `remove_keys` go; with `replace` it is `values` and nothing else. With `as_node`
    they are taken for what that node of a workflow returned, and the run goes on from there. `force` writes to a suspended thread too; `app` is that
    of a thread which the write makes.
    """

    values: Mapping[str, bytes] = field(default_factory=dict)
    remove_keys: tuple[str, ...] = ()
    replace: bool = False
    force: bool = False
    app: str = ""
    as_node: str = ""


async def update_state(
    storage: Storage,
    key: ThreadKey,
    update: StateUpdate,
    programs: Programs,
    *,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    """Write the change as a checkpoint; makes the thread where there is none.

    As a node it is checked by the program as what the node returns is, reduced, and leaves a failed run (`updated`) that a retry goes on with.
    """
    _check(update)
    check_size(update.values, storage.tuning.state_limit)

    async def prepare(thread: OpenThread) -> OutsideWrite:
        rule(thread, Command.WRITE_AS_NODE if update.as_node else Command.WRITE, forced=update.force)
        info = info_for(thread, update.app)
        if update.as_node:
            return await _as_node(storage, thread, update, programs, info)
        await thread.load_state()
        removed = tuple(thread.state) if update.replace else update.remove_keys
        change = StateChange(replaced=dict(update.values), removed=removed)
        program = known_program(programs, update.app or (thread.info.app if thread.info else ""))
        if program is None:
            return OutsideWrite(update_draft(thread, state=change), info)
        if update.replace:
            program.check_state(update.values)
            return OutsideWrite(_anew(program, thread, change), info)
        # Taking keys away from what does not fit anyway is a way to make it fit.
        if update.values or _fits(program, thread):
            _refuse_older(program, thread)
            program.check_state(apply(thread.state, change))
        return OutsideWrite(update_draft(thread, state=change), info)

    return (await write_from_outside(storage, key, "update_state", prepare, mutation=mutation, options=options))[0]


async def _as_node(
    storage: Storage, thread: OpenThread, update: StateUpdate, programs: Programs, info: ThreadInfo | None
) -> OutsideWrite:
    node, app = update.as_node, update.app or (thread.info.app if thread.info else "")
    if not app:
        raise ArgumentInvalidError("as_node", "the thread belongs to no workflow; name the one it is for", node=node)
    program = programs(app)
    await thread.load()
    _refuse_older(program, thread)
    written = await program.written_as(storage, thread, node, update.values)
    names = " and ".join(map(repr, next_names(written.next)))
    sentence = f"the state was written as node {node!r}; retry goes on " + (f"with {names}" if names else "to the end")
    # A run that is over has had its end told: what goes on here is another.
    new_run = thread.status in (None, Status.COMPLETED)
    draft = Draft(
        Source.UPDATE,
        Status.FAILED,
        next=written.next,
        state=written.change,
        memos=written.memos,
        void_approvals=True,
        failure=Failure("updated", sentence, retryable=True, metadata={"node": node}),
        usage=None if new_run else thread.body.usage,
        step=written.step,
        new_run=new_run,
    )
    return OutsideWrite(draft, info or ThreadInfo(app=app))


async def clear_state(
    storage: Storage, key: ThreadKey, *, force: bool = False, mutation: Mutation, options: RunOptions
) -> Checkpoint:
    """Remove every value; messages stay. Raises ThreadNotFoundError where there is no thread."""

    async def prepare(thread: OpenThread) -> OutsideWrite:
        rule(thread, Command.WRITE, forced=force)
        if thread.info is None:
            raise ThreadNotFoundError(key.thread_id)
        await thread.load_state()
        change = StateChange(removed=tuple(thread.state))
        program = storage.programs.get(thread.info.app)
        if program is None:
            return OutsideWrite(update_draft(thread, state=change))
        return OutsideWrite(_anew(program, thread, change))

    return (await write_from_outside(storage, key, "clear_state", prepare, mutation=mutation, options=options))[0]


def _anew(program: Program, thread: OpenThread, change: StateChange) -> Draft:
    """The whole state is given in the form of this version, whichever the old one was of."""
    if thread.head is None:
        return update_draft(thread, state=change)
    return update_draft(thread, state=change, next=program.restated(thread.body.next))


def _fits(program: Program, thread: OpenThread) -> bool:
    try:
        _refuse_older(program, thread)
        program.check_state(thread.state)
    except (ResumeInvalidError, StateInvalidError):
        return False
    return True


def _refuse_older(program: Program, thread: OpenThread) -> None:
    """What is written now must not be taken for what an older version left, and be migrated."""
    if program.upgraded_state(thread.body.next, thread.state, thread.key.thread_id) is not None:
        raise StateInvalidError(
            "state",
            "it is of an older version of the workflow; run, answer or retry the thread first, which brings it up to date, or give the whole state (replace)",
        )


def _check(update: StateUpdate) -> None:
    check_keys(dict.fromkeys(update.remove_keys, b""), "remove_keys")
    if update.as_node and (update.replace or update.remove_keys):
        raise ArgumentInvalidError(
            "as_node", "a node returns values, which are merged; it replaces and removes nothing"
        )
    if update.replace and update.remove_keys:
        raise ArgumentInvalidError("remove_keys", "a state that is replaced keeps no key that could be removed")
    for name in update.remove_keys:
        if name in update.values:
            raise ArgumentInvalidError("remove_keys", f"the key {name[:100]!r} is both to be set and to be removed")
