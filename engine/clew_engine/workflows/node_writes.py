"""State that is written in a node's name: the node counts as done, in the step that the run stands at or as a step of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clew_engine import ids, incidents
from clew_engine.calls import GIVEN
from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.json_text import join_object, split_object
from clew_engine.program import NodeWrite
from clew_engine.runs import RunStopped, contained
from clew_engine.state import LazySequence, StateView
from clew_engine.workflows import continuations
from clew_engine.workflows.agent_nodes import usage_in
from clew_engine.workflows.branches import chosen_after
from clew_engine.workflows.continuations import ARRIVED, ASKED, PASSED, nodes_of
from clew_engine.workflows.memos import RETURNED, Memos
from clew_engine.workflows.reducers import Merged, MergeError
from clew_storage import StateChange, Status
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.storage import Storage
    from clew_engine.workflows.program import WorkflowProgram


async def write_as_node(
    program: WorkflowProgram, storage: Storage, thread: OpenThread, node: str, values: Mapping[str, bytes]
) -> NodeWrite:
    """What becomes of the thread.

    Where the run stands at several nodes of which others are not done, the values are recorded as what the node returned and merged with theirs, as
    always. Where none is left the step is over now. A node that the run does not stand at takes the place of those that it stands at.
    """
    if node not in program.nodes:
        known = ", ".join(program.nodes)
        raise ArgumentInvalidError(
            "as_node", f"workflow {program.name!r} has no node {node!r}; it has: {known}", node=node
        )
    with _in_name_of(node):
        program.keys.check(values, "state")
    under_way = thread.head is not None and thread.status is not Status.COMPLETED
    continuation, memos, step = program.upgrades.stamped({}), Memos(), 0
    if under_way:
        assert thread.head is not None
        migrations = program.upgrades.pending(thread.body.next, thread.key.thread_id)
        continuation = program.upgrades.continuation(migrations, thread.body.next)
        memos, step = await program.memos(storage, thread.key, thread.head), thread.head.step
    together = nodes_of(continuation)
    done = together if node in together else [node]
    returned = {name: split_object(value) for name, value in memos.returned().items()} | {node: dict(values)}
    if any(name not in returned for name in done):
        # What was asked is void, and with it answers that did not count yet.
        open_step = {name: value for name, value in continuation.items() if name not in (ASKED, GIVEN)}
        return NodeWrite(open_step, step, memos=((node, RETURNED, join_object(values).decode()),))
    with _in_name_of(node):
        change = _merged(program, thread, done, returned)
    view = _view(thread, change, step, new_run=not under_way)
    try:
        chosen = await chosen_after(contained, program.graph, done, view, thread.key.thread_id)
    except RunStopped as error:
        why = f"what follows cannot be told: {error.failure.message}"
        raise ArgumentInvalidError("as_node", why, node=node) from error
    following, arrived = program.graph.following(done, chosen, continuation.get(ARRIVED, {}))
    used = continuations.usage_of(continuation) + usage_in(memos)
    next_ = continuations.with_usage(continuations.following(continuation, following, arrived, step + 1), used)
    passed = [name for name in done if name in program.pause_after]
    return NodeWrite({**next_, PASSED: passed} if passed else next_, step + 1, change)


def _merged(
    program: WorkflowProgram, thread: OpenThread, done: Sequence[str], returned: Mapping[str, Mapping[str, bytes]]
) -> StateChange | None:
    merged = Merged(thread.state, program.keys.reducers)
    try:
        for name in done:
            merged.add(name, returned[name])
    except MergeError as error:
        if error.__cause__ is not None:
            incidents.raised(f"the reducer of {error.key!r}", error.__cause__, thread.key.thread_id)
        raise StateInvalidError(f"state.{error.key}", str(error)) from error
    change = merged.change()
    if change is not None:
        program.keys.check_reduced(change, thread.changed(change), "state")
    # A retry would not go on with a state that does not fit.
    program.check_state(apply(thread.state, change) if change else thread.state)
    return change


def _view(thread: OpenThread, change: StateChange | None, step: int, *, new_run: bool) -> StateView:
    """What a branch is given in a run."""
    counters = {
        "run_id": ids.run_id(thread.uid, thread.version + 1) if new_run else thread.run_id,
        "step": step,
        "attempt": 1 if new_run or thread.head is None else thread.head.attempt,
    }
    messages = LazySequence(thread.transcript.before(None), lambda message: message.as_dict())
    return StateView(thread.changed(change), messages, counters)


@contextmanager
def _in_name_of(node: str) -> Iterator[None]:
    """What is wrong with the values says whose they would be."""
    try:
        yield
    except StateInvalidError as error:
        why = error.message.removeprefix(f"{error.field}: ")
        raise StateInvalidError(error.field, f"node {node!r} cannot return this: {why}", node=node) from error
