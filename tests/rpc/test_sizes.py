"""A server sends nothing over 4 MiB and takes nothing over 8; what is too large is refused by its size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import grpc
import pytest

from clew.v1.approval_service_pb2 import ListApprovalsRequest, WatchApprovalsRequest
from clew.v1.checkpoint_service_pb2 import ListCheckpointsRequest, RewindRequest
from clew.v1.message_pb2 import MediaPart, Part, TextPart
from clew.v1.run_service_pb2 import Content, DecideRequest, Decision, SendRequest, WatchRequest
from clew.v1.thread_service_pb2 import (
    GetMessageRequest,
    GetStateRequest,
    ListMessagesRequest,
    ListThreadsRequest,
    UpdateThreadRequest,
)
from clew_engine import Agent, OfflineModel, tool
from clew_engine.messages import TextPart as TextPartOfOurs
from clew_engine.messages import Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk
from clew_engine.models.offline_rules import after, otherwise
from tests.rpc.agents import echo
from tests.support.serving import Served, events_of, refusal, serving

LIMIT = 4 << 20
MIB = 1 << 20


def picture(size: int) -> Content:
    return Content(parts=[Part(image=MediaPart(mime_type="image/png", data=b"\xff" * size))])


async def test_a_request_over_8_mib_is_not_taken() -> None:
    async with serving([echo()]) as served:
        call = served.runs.Send(SendRequest(thread_id="t", text="x" * 2 * LIMIT))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await events_of(call)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("size", [3_700_000, 5_000_000])
async def test_a_message_over_its_limit_is_refused_by_its_size_and_nothing_is_written(size: int) -> None:
    async with serving([echo()]) as served:
        refused = await refusal(served.runs.Send(SendRequest(thread_id="t", text="x" * size)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STATE_TOO_LARGE")
        assert int(refused.metadata["size"]) > int(refused.metadata["limit"]) == 3_670_016
        assert not (await served.threads.ListThreads(ListThreadsRequest())).threads


async def test_state_of_5_megabytes_is_refused_by_the_rules_and_not_by_the_transport() -> None:
    async with serving([echo()]) as served:
        state = json.dumps({"a": "x" * 5_000_000}).encode()
        refused = await refusal(served.runs.Send(SendRequest(thread_id="t", text="hi", state_json=state)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STATE_TOO_LARGE")
        assert refused.metadata["limit"] == str(MIB)


async def test_state_over_its_limit_is_refused_by_its_size_and_nothing_is_written() -> None:
    async with serving([echo()]) as served:
        state = json.dumps({"a": "x" * MIB}).encode()
        refused = await refusal(served.runs.Send(SendRequest(thread_id="t", text="hi", state_json=state)))
        assert (refused.reason, refused.metadata["limit"]) == ("STATE_TOO_LARGE", str(MIB))
        assert not (await served.threads.ListThreads(ListThreadsRequest())).threads
    async with serving([echo()], state_limit=3 * MIB) as served:
        await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi", state_json=state)))
        assert (await served.threads.GetState(GetStateRequest(thread_id="t"))).state_json.startswith(b'{"a":')


@pytest.mark.parametrize(("cache_bytes", "kept"), [(0, 0), (MIB, 1)])
async def test_what_threads_at_rest_take_in_memory_is_a_setting(cache_bytes: int, kept: int) -> None:
    async with serving([echo()], cache_bytes=cache_bytes) as served:
        for _ in range(2):
            events = await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
            assert events[-1].run_completed.reply.text == "hi"
            assert len(served.server.storage.warm) == kept


async def test_the_largest_reply_comes_without_its_message_and_can_be_read() -> None:
    async with serving([echo()]) as served:
        text = "é" * 1_800_000
        events = await events_of(served.runs.Send(SendRequest(thread_id="t", text=text)))
        reply = events[-1].run_completed.reply
        assert reply.text == text
        assert not reply.HasField("message")
        found = await served.threads.GetMessage(GetMessageRequest(thread_id="t", message_id=reply.message_id))
        assert found.message.content[0].text.text == text
        replayed = await events_of(served.runs.Watch(WatchRequest(thread_id="t")))
        assert replayed[-1] == events[-1]


async def test_lists_of_checkpoints_are_paged_by_bytes() -> None:
    agent = Agent("fails", model=OfflineModel([otherwise.fail("model_rejected", "🙁" * 4000)]))
    async with serving([agent]) as served:
        events = await events_of(served.runs.Send(SendRequest(thread_id="t", text="hi")))
        newest = f"{events[-1].thread_uid}.{events[-1].version}"
        for _ in range(140):
            request = RewindRequest(thread_id="t", checkpoint_id=newest)
            newest = (await served.checkpoints.Rewind(request)).checkpoint.id
        page = await served.checkpoints.ListCheckpoints(ListCheckpointsRequest(thread_id="t", page_size=200))
        assert 1 * MIB < page.ByteSize() < 3 * MIB
        rest = ListCheckpointsRequest(thread_id="t", page_size=200, page_token=page.next_page_token)
        found = [*page.checkpoints, *(await served.checkpoints.ListCheckpoints(rest)).checkpoints]
        assert [each.version for each in found] == [*range(142, 0, -1)]


async def test_lists_of_messages_are_paged_by_bytes() -> None:
    agent = Agent("nod", model=OfflineModel([otherwise.say("Seen.")]))
    async with serving([agent]) as served:
        for _ in range(3):
            await events_of(served.runs.Send(SendRequest(thread_id="t", content=picture(MIB))))
        sizes, token = [], ""
        while True:
            page = await served.threads.ListMessages(
                ListMessagesRequest(thread_id="t", page_size=500, page_token=token)
            )
            assert page.ByteSize() <= LIMIT
            sizes.append(len(page.messages))
            token = page.next_page_token
            if not token:
                break
        assert sum(sizes) == 6
        assert len(sizes) == 3


async def test_lists_of_threads_are_paged_by_bytes() -> None:
    async with serving([echo()]) as served:
        metadata = json.dumps({"note": "x" * 65_000})
        for number in range(80):
            await served.threads.UpdateThread(
                UpdateThreadRequest(thread_id=f"t{number}", metadata_json=metadata, allow_missing=True)
            )
        seen, token = 0, ""
        while True:
            page = await served.threads.ListThreads(ListThreadsRequest(page_size=200, page_token=token))
            assert page.ByteSize() <= LIMIT
            seen += len(page.threads)
            token = page.next_page_token
            if not token:
                break
        assert seen == 80


@tool(approve=True)
def file_report(text: str) -> str:
    """File a report."""
    return f"{len(text)} letters"


async def test_many_large_questions_are_announced_listed_and_watched_within_the_limit() -> None:
    large = json.dumps({"text": "x" * 1_000_000})
    asks = otherwise.call_with("file_report", large).call_with("file_report", large).call_with("file_report", large)
    agent = Agent("clerk", model=OfflineModel([after("file_report").say("Filed."), asks]), tools=[file_report])
    async with serving([agent]) as served:
        events = await events_of(served.runs.Send(SendRequest(thread_id="t", text="go")))
        await events_of(served.runs.Send(SendRequest(thread_id="u", text="go")))
        assert len(events[-1].run_suspended.approvals) == 3
        found: list[str] = []
        token = ""
        while True:
            page = await served.approvals.ListApprovals(ListApprovalsRequest(page_size=200, page_token=token))
            assert page.ByteSize() <= LIMIT
            found += [approval.id for approval in page.approvals]
            token = page.next_page_token
            if not token:
                break
        assert len(found) == 6
        inbox: Any = served.approvals.WatchApprovals(WatchApprovalsRequest())
        seen: list[Any] = []
        while not seen or not seen[-1].HasField("snapshot_end"):
            response = await inbox.read()
            assert response.ByteSize() <= LIMIT
            seen += response.events
        assert [event.pending.id for event in seen[:-1]] == found
        inbox.cancel()
        decisions = [
            Decision(approval_id=each.id, approve=Decision.Approve()) for each in events[-1].run_suspended.approvals
        ]
        decided = await events_of(served.runs.Decide(DecideRequest(thread_id="t", decisions=decisions)))
        assert decided[-1].run_completed.reply.text == "Filed."


@tool
def make_noise() -> str:
    """Make much of nothing."""
    return "z" * 2_000_000


async def test_results_of_parallel_calls_are_streamed_and_replayed_within_the_limit() -> None:
    calls = otherwise.call("make_noise").call("make_noise").call("make_noise").call("make_noise")
    agent = Agent("noisy", model=OfflineModel([after("make_noise").say("Done."), calls]), tools=[make_noise])
    async with serving([agent]) as served:
        streams: tuple[Any, ...] = (
            lambda: served.runs.Send(SendRequest(thread_id="t", text="go")),
            lambda: served.runs.Watch(WatchRequest(thread_id="t")),
        )
        for begin in streams:
            events: list[Any] = []
            reading = begin()
            while (response := await reading.read()) is not grpc.aio.EOF:
                assert response.ByteSize() <= LIMIT
                events += response.events
            assert sum(event.HasField("tool_call_finished") for event in events) == 4
            assert events[-1].run_completed.reply.text == "Done."


class Talker:
    """Says very much at a time, and waits before it ends."""

    name = "talker"

    def __init__(self, chunk: str, times: int) -> None:
        self.chunk, self.times = chunk, times
        self.said, self.ends = asyncio.Event(), asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The same chunk, so many times."""
        for _ in range(self.times):
            yield TextChunk(0, self.chunk)
        self.said.set()
        await self.ends.wait()
        yield ModelResponse((TextPartOfOurs("done"),), Usage(), "stop", self.name)


async def text_of(call: Any, size: int) -> str:
    """The text that a stream begins with, up to a size; every message within the limit and every piece at its offset."""
    text = ""
    while len(text.encode()) < size:
        response = await call.read()
        assert response.ByteSize() <= LIMIT
        for event in response.events:
            if event.HasField("text_delta"):
                assert event.text_delta.offset == len(text.encode())
                text += event.text_delta.text
    return text


@pytest.mark.parametrize(
    ("chunk", "times"), [("🧶é" * 1_000_000, 1), ("aé🧶" * 100_000, 9)], ids=["at once", "bit by bit"]
)
async def test_text_of_over_4_mib_is_streamed_and_joined_within_the_limit(chunk: str, times: int) -> None:
    talker = Talker(chunk, times)
    async with serving([Agent("talker", model=talker)]) as served:
        want = chunk * times
        size = len(want.encode())
        sending: Any = served.runs.Send(SendRequest(thread_id="t", text="go"))
        assert await text_of(sending, size) == want
        await talker.said.wait()
        joining: Any = served.runs.Watch(WatchRequest(thread_id="t", follow=True))
        assert await text_of(joining, size) == want
        talker.ends.set()
        assert (await events_of(sending))[-1].run_completed.reply.text == "done"
        joining.cancel()


async def test_text_of_every_kind_comes_back_as_it_was_sent(served: Served) -> None:
    text = "NUL \0, a line\r\n, 🧶 and \u2028"
    content = Content(parts=[Part(text=TextPart(text=text)), Part(data_json='{"n": 9007199254740993, "f": 1.0}')])
    await events_of(served.runs.Send(SendRequest(thread_id="t", content=content)))
    listed = await served.threads.ListMessages(ListMessagesRequest(thread_id="t"))
    assert listed.messages[0].content == content.parts
