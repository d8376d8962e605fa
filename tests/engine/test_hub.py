"""A reader that does not keep up is cut off by what it was not given, whatever kind of content that is."""

from __future__ import annotations

import pytest

from clew_engine.checkpoints import Checkpoint
from clew_engine.errors import StreamCutError
from clew_engine.events import CheckpointWritten, Event
from clew_engine.hub import Hub
from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from clew_storage import Source, Status, ThreadKey

KEY = ThreadKey("", "t")
LARGE = "x" * 1000
CHECKPOINT = Checkpoint("u.1", "t", "u", "u.r1", "", 1, 0, Status.IN_PROGRESS, Source.STEP, 1, 1, 1, ())
PARTS: list[Part] = [
    TextPart(LARGE),
    ReasoningPart(LARGE),
    ToolCallPart("c", "tool", LARGE),
    ToolResultPart("c", "tool", (TextPart(LARGE),)),
    MediaPart("image", "image/png", data=LARGE.encode()),
    DataPart(LARGE.encode()),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
async def test_what_a_message_holds_counts_against_a_reader_that_does_not_read(part: Part) -> None:
    hub = Hub(2000)
    reader = hub.subscribe(KEY)
    event = Event("t", "u", "u.r1", 1, True, 1, CheckpointWritten(CHECKPOINT, (Message("m1.0", "user", (part,), 1),)))
    hub.publish(KEY, [event])
    hub.publish(KEY, [event])
    with pytest.raises(StreamCutError):
        await reader.take(0.1)


async def test_a_reader_that_keeps_up_is_not_cut_off() -> None:
    hub = Hub(2000)
    reader = hub.subscribe(KEY)
    event = Event(
        "t", "u", "u.r1", 1, True, 1, CheckpointWritten(CHECKPOINT, (Message("m1.0", "user", (PARTS[0],), 1),))
    )
    for _ in range(5):
        hub.publish(KEY, [event])
        assert await reader.take(0.1) == [event]


async def test_when_all_readers_end_each_still_gets_what_is_queued_and_then_its_cursor() -> None:
    hub = Hub(10_000)
    reader = hub.subscribe(KEY)
    event = Event("t", "u", "u.r1", 1, True, 1, CheckpointWritten(CHECKPOINT, ()))
    hub.publish(KEY, [event])
    hub.fail_all("the server is shutting down")
    assert await reader.take(0.1) == [event]
    with pytest.raises(StreamCutError) as cut:
        await reader.take(0.1)
    assert cut.value.version == 1
