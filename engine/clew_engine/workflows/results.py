"""What a workflow's run hands back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from clew_engine.approvals import Approval
from clew_engine.ids import checkpoint_id
from clew_engine.streams import EventStream
from clew_storage import Status

if TYPE_CHECKING:
    from clew_engine.handles import Handle

S = TypeVar("S", bound="Handle")
P = ParamSpec("P")


class Result(Struct, frozen=True):
    """How a run stands: its state, and with status `suspended` what is asked (`approvals`).

    Of a run without a thread `snapshot` is then what the app's `resume` and `decide` go on from: plain JSON, to be kept anywhere.
    """

    thread_id: str
    run_id: str
    version: int
    status: Status
    state: Mapping[str, Any]
    steps: int = 0
    approvals: tuple[Approval, ...] = ()
    snapshot: dict[str, Any] | None = None


async def result_of(thread: Handle, stream: EventStream) -> Result:
    """What an attempt's stream hands back, read to its end. Raises RunFailedError or RunCancelledError for a run that failed."""
    reply = await stream.reply()
    return Result(
        thread_id=reply.thread_id,
        run_id=reply.run_id,
        version=reply.version,
        status=reply.status,
        state=await thread.state(checkpoint_id(reply.thread_uid, reply.version)),
        steps=reply.steps,
        approvals=reply.approvals,
    )


def resulting(
    verb: Callable[Concatenate[S, P], EventStream], name: str, doc: str
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Result]]:
    """From a verb that streams to the one that reads to its end: a Result, or the error that the run failed with."""

    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        return await result_of(self, verb(self, *args, **kwargs))

    call.__name__, call.__doc__ = name, doc
    call.__qualname__ = f"WorkflowThread.{name}"
    call.__annotations__ = verb.__annotations__ | {"return": "Result"}
    call.__signature__ = inspect.signature(verb).replace(return_annotation="Result")  # type: ignore[attr-defined]
    return call
