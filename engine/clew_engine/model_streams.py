"""One request to a model as it streams: deltas go to live readers, the whole response comes back."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from clew_engine import ids, incidents
from clew_engine.causes import told
from clew_engine.checkpoints import Failure
from clew_engine.drafts import DraftMessage
from clew_engine.events import MessageDiscarded, ReasoningDelta, TextDelta
from clew_engine.messages import Part, ReasoningPart, TextPart
from clew_engine.models import Model, ModelError, ModelRequest, ModelResponse, ReasoningChunk, TextChunk
from clew_engine.runs import RunStopped

if TYPE_CHECKING:
    from clew_engine.runs import Run


class ModelStream:
    """Try `number` (from 0) of a model step. `apart` names the reply of one whose message the thread's transcript does not get."""

    def __init__(self, run: Run, number: int, apart: str = "") -> None:
        self._run = run
        self._number = number
        self._apart = apart
        self._texts: dict[tuple[type[TextPart | ReasoningPart], int], list[str]] = {}
        self._offsets: dict[tuple[type[TextPart | ReasoningPart], int], int] = {}
        self.message_id = f"{apart}.{number}" if apart else ids.message_id(run.thread.version + 1, number)

    async def read(self, model: Model, request: ModelRequest) -> ModelResponse:
        """Stream to the end. Raises ModelError, also for a stream that ends without a response or with nothing in it."""
        response: ModelResponse | None = None
        try:
            async with aclosing(model.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, ModelResponse):
                        response = item
                    else:
                        self._pass_on(item)
        except ModelError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody asked for it: a library of the model's gave its own request up.
            message = f"the model {model.name!r} cancelled itself"
            raise ModelError("model_unavailable", message, retryable=True) from error
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            what = f"the model {model.name!r}"
            incidents.raised(what, error, self._run.thread.key.thread_id)
            message = f"{what} raised {told(error)}"
            raise ModelError("model_rejected", message, retryable=False) from error
        if response is None:
            raise ModelError("model_incomplete", "the model's stream ended before its reply did", retryable=True)
        if all(isinstance(part, TextPart) and not part.text for part in response.content):
            raise ModelError("model_incomplete", "the model answered with nothing", retryable=True)
        return response

    def partial(self, model: str, position: int | None) -> DraftMessage | None:
        """What was streamed so far as a message, or None for nothing."""
        parts: list[Part] = [
            kind("".join(texts)) for (kind, _), texts in sorted(self._texts.items(), key=lambda each: each[0][1])
        ]
        if not parts or self._apart:
            return None
        return DraftMessage(
            "assistant",
            tuple(parts),
            position=position,
            number=self._number,
            model=model,
            finish_reason="cancelled",
        )

    def _pass_on(self, chunk: TextChunk | ReasoningChunk) -> None:
        if not chunk.text:
            return
        kind = TextPart if isinstance(chunk, TextChunk) else ReasoningPart
        part = (kind, chunk.part_index)
        offset = self._offsets.get(part, 0)
        self._offsets[part] = offset + len(chunk.text.encode())
        self._texts.setdefault(part, []).append(chunk.text)
        payload = TextDelta if kind is TextPart else ReasoningDelta
        self._run.thread.emit(payload(self.message_id, chunk.part_index, offset, chunk.text))


async def answered(run: Run, model: Model, request: ModelRequest, apart: str = "") -> tuple[ModelResponse, int]:
    """The model's response and the number of the try that gave it: what may work later is tried again, after a while.

    Raises ModelError, and RunStopped with what was streamed when the run is asked to stop.
    """
    tuning = run.storage.tuning
    number = 0
    while True:
        stream = ModelStream(run, number, apart)
        try:
            return await run.work(stream.read(model, request)), number
        except RunStopped as stopped:
            raise RunStopped(stopped.failure, stream.partial(model.name, run.thread.body.partial)) from None
        except ModelError as error:
            number += 1
            if not error.retryable or number >= tuning.model_attempts:
                raise
            run.thread.emit(MessageDiscarded(stream.message_id, model_failure(error)))
            backoff = tuning.model_backoff_s * 2 ** (number - 1)
            await run.work(asyncio.sleep(max(backoff, error.retry_after_s or 0.0)))


def model_failure(error: ModelError) -> Failure:
    """A model's error as a run's failure."""
    return Failure(error.code, error.message, error.retryable)
