"""What an agent's author has a say in at each model step: its instructions, and hooks before and after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clew_engine import incidents
from clew_engine.causes import told
from clew_engine.checkpoints import Failure
from clew_engine.errors import ClewError
from clew_engine.runs import RunStopped
from clew_engine.state import StateView, encode_values

if TYPE_CHECKING:
    from clew_engine.agents import Instructions
    from clew_engine.runs import Run


async def instructed(run: Run, instructions: Instructions, view: StateView) -> str | None:
    """What the model is told, by a text or by a function of the state."""
    if instructions is None or isinstance(instructions, str):
        return instructions
    said = await authors_own(run, "instructions", instructions, view)
    return None if said is None else str(said)


async def hooked(run: Run, hooks: Sequence[object], moment: str, look: Callable[[], StateView]) -> dict[str, bytes]:
    """What the hooks that have a method for this moment change in the state."""
    changes: dict[str, bytes] = {}
    if not hooks:
        return changes
    view = look()
    for hook in hooks:
        function = getattr(hook, moment, None)
        if function is None:
            continue
        what = f"hook {type(hook).__name__}.{moment}"
        returned = await authors_own(run, what, function, view)
        if returned is not None and not isinstance(returned, Mapping):
            message = f"{what} returned {type(returned).__name__}, and not a mapping of state keys or None"
            raise RunStopped(Failure("tool_failed", message, retryable=True))
        if returned:
            changes |= encode_values(returned)
    return changes


async def authors_own(run: Run, what: str, function: Any, view: StateView) -> Any:
    """Call a function of the author's. Raises RunStopped, saying what it was, for what it raises."""

    async def call() -> Any:
        try:
            result = function(view)
            return await result if inspect.isawaitable(result) else result
        except ClewError as error:
            # Of another thread or storage that the function used: not to be confused with what ends the run itself.
            incidents.raised(what, error, run.thread.key.thread_id)
            raise

    try:
        return await run.work(call())
    except (RunStopped, ClewError):
        raise
    except Exception as error:
        incidents.raised(what, error, run.thread.key.thread_id)
        message = f"{what} raised {told(error)}"
        raise RunStopped(Failure("tool_failed", message, retryable=True)) from error
