"""Search: the messages of a line that have all words of what is looked for, the same through every backend and surface."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew_engine import message_search, reads
from clew_storage import ThreadKey
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle, InProcess, World, head_of, refused

KEY = ThreadKey("", "t")
SAID = [
    "Where is my order A-1001?",
    "Ihre Bestellung kommt über die Straße",
    "Crème brûlée costs 100%",
    "100 people_said so",
    "東京タワーへ行く",
    "she said 'yes' and \"no\"",
    "한국어를 배워요 🧶",
    "❤️ from C:\\temp 👩‍💻",
]


async def spoken(thread: Handle) -> None:
    """The thread with all of it said."""
    await thread.append_messages([{"role": "user", "content": text, "id": f"s{n}"} for n, text in enumerate(SAID)])


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("order", ["s0"]),
        ("ORDER my", ["s0"]),
        ("a 1001", ["s0"]),
        ("uber strasse", ["s1"]),
        ("ÜBER", ["s1"]),
        ("creme BRULEE", ["s2"]),
        ("100%", ["s2"]),
        ("people_said", ["s3"]),
        ("people said", ["s3"]),
        ("PEOPLE_said so.", ["s3"]),
        ("said_so", []),
        ("said", ["s3", "s5"]),
        ("%", ["s2"]),
        ("_", ["s3"]),
        ("o%r", []),
        ("ord", []),
        ("京", ["s4"]),
        ("タワー", ["s4"]),
        ("'yes' \"no\"", ["s5"]),
        ('"', ["s5"]),
        ("'", ["s5"]),
        ('"no" yes', ["s5"]),
        ('"so"', []),
        ("a-1001?", ["s0"]),
        ("order?", ["s0"]),
        ("order!", ["s0"]),
        ("?", ["s0"]),
        ("my-order", []),
        ("한국", ["s6"]),
        ("한국어", ["s6"]),
        ("🧶", ["s6"]),
        ("🎉", []),
        ("❤", ["s7"]),
        ("👩", ["s7"]),
        ("👩‍💻", ["s7"]),
        ("c:\\temp", ["s7"]),
        (" ", []),
        ("order OR said", []),
        ("NOT", []),
        ("said*", []),
        ("", ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"]),
    ],
)
async def test_all_words_must_be_there_and_no_character_stands_for_others(
    world: World, search: str, found: list[str]
) -> None:
    thread = await world.thread()
    await spoken(thread)
    assert [each["id"] for each in await thread.messages(search=search)] == found
    newest = await thread.messages(search=search, order="newest_first")
    assert [each["id"] for each in newest] == found[::-1]


async def test_results_of_tools_are_found_and_thoughts_and_arguments_are_not(world: World) -> None:
    def look(what: str) -> str:
        return f"a needle in {len(what)} haystacks"

    world.agent(["I look", ask("look", what="thimble")], "done", tools=[look])
    thread = await world.thread()
    await thread.send("find it")
    roles = {
        word: [each["role"] for each in await thread.messages(search=word)] for word in ("needle", "thimble", "look")
    }
    assert roles == {"needle": ["tool"], "thimble": [], "look": ["assistant"]}


async def test_what_was_edited_deleted_or_rewound_is_found_as_it_is_now(world: World) -> None:
    thread = await world.thread()
    await spoken(thread)
    before = await head_of(thread)
    await thread.update_message("s0", "a parcel")
    assert await thread.messages(search="order") == []
    assert [each["id"] for each in await thread.messages(search="parcel")] == ["s0"]
    await thread.delete_message("s3")
    assert [each["id"] for each in await thread.messages(search="said")] == ["s5"]
    await thread.rewind(before["id"])
    assert [each["id"] for each in await thread.messages(search="order")] == ["s0"]
    assert [each["id"] for each in await thread.messages(search="said")] == ["s5"]
    copy = await thread.copy("u")
    assert [each["id"] for each in await copy.messages(search="said")] == ["s5"]


async def test_a_limit_is_at_least_one(world: World) -> None:
    thread = await world.thread()
    await spoken(thread)
    assert [each["id"] for each in await thread.messages(search="said", limit=1)] == ["s3"]
    assert [each["id"] for each in await thread.messages(limit=2, order="newest_first")] == ["s7", "s6"]
    for limit in (0, -1):
        with refused("argument_invalid", field="limit"):
            await thread.messages(limit=limit)
        with refused("argument_invalid", field="limit"):
            await thread.inner.history(limit)  # type: ignore[attr-defined]
    with refused("argument_invalid"):
        await thread.messages(order="sideways")


@pytest.mark.parametrize("newest_first", [False, True])
async def test_pages_of_a_search_hold_every_hit_once_and_a_long_way_between_hits_ends_a_page(
    here: World, monkeypatch: pytest.MonkeyPatch, *, newest_first: bool
) -> None:
    monkeypatch.setattr(message_search, "_STRETCH", 4)
    monkeypatch.setattr(message_search, "MOST", 8)
    thread = await here.thread()
    texts = ["needle" if number in (0, 5, 30, 31, 59) else "hay" for number in range(60)]
    await thread.append_messages([{"role": "user", "content": text, "id": f"n{n}"} for n, text in enumerate(texts)])
    found: list[str] = []
    sizes: list[int] = []
    token = ""
    while True:
        page = await reads.list_messages(
            here.storage, KEY, newest_first=newest_first, size=2, token=token, search="Needle"
        )
        found += [message.id for message in page.items]
        sizes.append(len(page.items))
        await thread.append_messages([{"role": "user", "content": "needle, but later"}])
        token = page.next_token
        if not token:
            break
    expected = ["n0", "n5", "n30", "n31", "n59"]
    assert found == (expected[::-1] if newest_first else expected)
    assert 0 in sizes
    with refused("argument_invalid"):
        await reads.list_messages(here.storage, KEY, newest_first=newest_first, size=2, token="AAAA", search="hay")


async def test_a_token_is_of_its_search(here: World) -> None:
    thread = await here.thread()
    await spoken(thread)
    page = await reads.list_messages(here.storage, KEY, newest_first=False, size=1, token="", search="said")
    assert page.next_token
    for search in ("", "order"):
        with refused("argument_invalid"):
            await reads.list_messages(
                here.storage, KEY, newest_first=False, size=1, token=page.next_token, search=search
            )


WORDS = [
    "Ärger",
    "arger",
    "ÄRGER!",
    "straße",
    "STRASSE",
    "東京",
    "京",
    "100%",
    "100",
    "a_b",
    "한국",
    "한",
    "🧶",
    "%",
    "'",
    "ﬁn",
    "fin",
    "e\u0301",
    "É",
]


@settings(max_examples=60, deadline=None)
@given(
    said=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=6),
    searches=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join), min_size=1, max_size=4),
)
def test_every_backend_gives_the_same_hits(said: list[str], searches: list[str]) -> None:
    async def hits(url: str) -> list[list[str]]:
        world = World(url, InProcess)
        try:
            thread = await world.thread()
            await thread.append_messages(
                [{"role": "user", "content": text, "id": f"s{n}"} for n, text in enumerate(said)]
            )
            return [[each["id"] for each in await thread.messages(search=search)] for search in searches]
        finally:
            await world.close()

    memory, sqlite = (asyncio.run(hits(url)) for url in ("memory://", "sqlite://:memory:"))
    assert memory == sqlite
    for (number, text), (search, found) in product(enumerate(said), zip(searches, memory, strict=True)):
        if text == search:
            assert f"s{number}" in found
