"""Messages: the transcript in the model's order, page by page, with ids that stay."""

from __future__ import annotations

import pytest

from clew_engine import reads
from clew_engine.messages import DataPart, MediaPart, TextPart
from clew_storage import ThreadKey
from tests.scenarios.scripts import ask
from tests.scenarios.world import World, refused

KEY = ThreadKey("", "t")


async def test_transcript_order_is_the_models_order_of_calls(world: World) -> None:
    def add(a: int) -> int:
        return a

    world.agent([ask("add", a=1), ask("add", a=2)], "ok", tools=[add])
    thread = await world.thread()
    await thread.send()
    messages = await thread.messages()
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [message["position"] for message in messages] == [0, 1, 2, 3, 4]
    calls = [part["id"] for part in messages[1]["content"]]
    assert [message["content"][0]["tool_call_id"] for message in messages[2:4]] == calls


async def test_a_message_says_what_made_it_and_what_it_cost(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send()
    reply = (await thread.messages())[-1]
    assert (reply["model"], reply["finish_reason"], reply["version"]) == ("scripted", "stop", 2)
    assert (reply["usage"]["input_tokens"], reply["usage"]["output_tokens"]) == (3, 2)


async def test_ids_and_places_stay_as_a_thread_grows(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    seen: list[tuple[str, int]] = []
    for _ in range(3):
        await thread.send()
        found = [(message["id"], message["position"]) for message in await thread.messages()]
        assert found[: len(seen)] == seen
        seen = found
    assert len(set(seen)) == 6


async def test_parts_of_every_kind_a_user_sends_come_back(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    parts = [
        TextPart("look"),
        MediaPart("image", "image/png", data=b"\x89PNG\x00"),
        MediaPart("document", "application/pdf", uri="https://example.org/a.pdf"),
        DataPart(b'{"a":1.0}'),
    ]
    await thread.send(parts)
    kept = (await thread.messages())[0]["content"]
    assert [part["type"] for part in kept] == ["text", "image", "document", "data"]
    message, _ = await reads.get_message(here.storage, KEY, "m1.0")
    assert list(message.content) == parts


async def test_pages_are_of_one_version_and_hold_everything_once(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    for _ in range(3):
        await thread.send()
    whole = [message["id"] for message in await thread.messages()]
    found: list[str] = []
    token = ""
    while True:
        page = await reads.list_messages(here.storage, KEY, newest_first=False, size=2, token=token)
        found += [message.id for message in page.items]
        token = page.next_token
        await thread.send("written meanwhile")
        assert page.version == 6
        if not token:
            break
    assert found == whole


async def test_newest_first_is_the_same_from_the_end(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    for _ in range(2):
        await thread.send()
    page = await reads.list_messages(here.storage, KEY, newest_first=True, size=3, token="")
    rest = await reads.list_messages(here.storage, KEY, newest_first=True, size=3, token=page.next_token)
    whole = [message["id"] for message in await thread.messages()]
    assert [message.id for message in (*page.items, *rest.items)] == whole[::-1]


async def test_a_page_stops_before_it_is_too_large(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    for _ in range(3):
        await thread.send("x" * 1_500_000)
    page = await reads.list_messages(here.storage, KEY, newest_first=False, size=500, token="")
    assert len(page.items) < 6
    assert page.next_token


async def test_pages_of_history_are_of_one_line_also_when_the_thread_is_rewound_between_them(here: World) -> None:
    here.agent("one", "two")
    thread = await here.thread()
    await thread.send("first")
    await thread.send("second")
    page = await reads.list_checkpoints(here.storage, KEY, size=2, token="")
    await thread.rewind((await thread.history())[-1]["id"])
    rest = await reads.list_checkpoints(here.storage, KEY, size=2, token=page.next_token)
    assert [each.version for each in (*page.items, *rest.items)] == [4, 3, 2, 1]
    assert (rest.version, rest.next_token) == (4, "")


@pytest.mark.parametrize("token", ["x", "AAAA", "bnVsbA", "W10", "WzEsMiwzXQ", "é"])
async def test_a_forged_token_is_refused(here: World, token: str) -> None:
    here.agent("ok")
    await (await here.thread()).send()
    with refused("argument_invalid"):
        await reads.list_messages(here.storage, KEY, newest_first=False, size=1, token=token)
    with refused("argument_invalid"):
        await reads.list_checkpoints(here.storage, KEY, size=1, token=token)


async def test_a_token_of_another_listing_is_refused(here: World) -> None:
    here.agent("ok")
    await (await here.thread()).send()
    await (await here.thread("other")).send()
    page = await reads.list_messages(here.storage, KEY, newest_first=False, size=1, token="")
    with refused("argument_invalid"):
        await reads.list_messages(here.storage, KEY, newest_first=True, size=1, token=page.next_token)
    with refused("argument_invalid"):
        await reads.list_messages(
            here.storage, ThreadKey("", "other"), newest_first=False, size=1, token=page.next_token
        )


async def test_a_message_off_the_line_is_not_found(here: World) -> None:
    here.agent("one", "two")
    thread = await here.thread()
    await thread.send()
    first = (await thread.history())[0]["id"]
    await thread.send()
    gone = (await thread.messages())[-1]["id"]
    await reads.get_message(here.storage, KEY, gone)
    await thread.rewind(first)
    with refused("message_not_found"):
        await reads.get_message(here.storage, KEY, gone)


async def test_a_thread_without_messages_has_none(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    assert await thread.messages() == []
    await thread.update(name="made")
    assert await thread.messages() == []
