"""Text of a run on one server as it comes to those who watch on another: live through Redis, and without it by whole messages."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import uuid4

import pytest

from clew_engine.errors import StreamCutError
from clew_storage import RedisSettings, ThreadKey
from tests.scenarios.scripts import Answer, Gate, ScriptedModel, ask, unavailable
from tests.scenarios.sights import Reader, Seen
from tests.scenarios.world import InProcess, World
from tests.servers.texts import Deaf, Losing, check_all, check_text, listen_with, pieces, text_of
from tests.support.postgres import in_schema
from tests.support.redis import KeptRedis
from tests.support.waiting import until

Make = Callable[..., World]
KEY = ThreadKey("", "t")


@pytest.fixture
async def server(postgres_dsn: str) -> AsyncIterator[Make]:
    """Makes one more server on the same database, beside the Redis that it is given, with a model that gives these answers."""
    url = in_schema(postgres_dsn, poll_s=0.05)
    prefix = uuid4().hex
    made: list[World] = []

    def make(redis: str | None, *answers: Answer, **tuning: int) -> World:
        world = World(url, InProcess, RedisSettings(redis, prefix=prefix) if redis else None)
        world.tune(look_s=0.05, **tuning)
        world.agent(model=ScriptedModel(*answers), tools=[note])
        made.append(world)
        return world

    yield make
    for world in made:
        await world.close()


def note() -> str:
    """A tool."""
    return "noted"


async def followed(world: World, *, follow: bool = False) -> Reader:
    """A watch that has told that the run began."""
    watch = (await world.thread()).watch(follow=follow)
    await watch.until("run_started")
    return watch


async def told(watch: Reader, text: str) -> list[Seen]:
    """All that a watch has told when it has told this text, and nothing else of a message's."""
    while text_of(watch.seen) != text:
        await watch.until("text_delta", len(pieces(watch.seen)) + 1)
        assert text.startswith(text_of(watch.seen))
    return watch.seen


async def test_without_redis_a_watch_on_another_server_gets_whole_messages_at_each_step(server: Make) -> None:
    gate = Gate()
    here, there = server(None, ["Zwölf ", ask("note")], ["Boxkämpfer ", gate, "jagen"]), server(None)
    run = (await here.thread()).stream()
    await gate.wait()
    watch = await followed(there)
    await watch.until("tool_call_finished")
    gate.open()
    turn = await run.turn()
    assert (await watch.turn()).logged == turn.logged
    assert pieces(watch.seen) == []


async def test_a_watch_on_another_server_gets_text_as_it_is_written(server: Make, redis_url: str) -> None:
    first, second = Gate(), Gate()
    here, there = server(redis_url, [first, "Zwölf ", "Boxkämpfer ", second, "jagen"]), server(redis_url)
    run = (await here.thread()).stream()
    await first.wait()
    watch = await followed(there)
    first.open()
    await second.wait()
    check_text(await told(watch, "Zwölf Boxkämpfer "), {})
    second.open()
    turn = await run.turn()
    assert (await watch.turn()).logged == turn.logged
    check_text(watch.seen, {"m2.0": turn.text})


async def test_who_joins_in_mid_message_begins_with_the_text_so_far(server: Make, redis_url: str) -> None:
    gate = Gate()
    here, there = server(redis_url, ["Zwölf ", "Boxkämpfer", gate, " jagen"]), server(redis_url)
    run = (await here.thread()).stream()
    await gate.wait()
    watches = [await followed(there) for _ in range(3)]
    for watch in watches:
        assert pieces(await told(watch, "Zwölf Boxkämpfer")) == [("m2.0", 0, "Zwölf Boxkämpfer")]
    late = await followed(there)
    assert pieces(await told(late, "Zwölf Boxkämpfer")) == [("m2.0", 0, "Zwölf Boxkämpfer")]
    gate.open()
    turn = await run.turn()
    for watch in (*watches, late):
        await watch.turn()
        check_text(watch.seen, {"m2.0": turn.text})


async def test_an_answer_that_breaks_off_is_discarded_everywhere(server: Make, redis_url: str) -> None:
    first, second = Gate(), Gate()
    here = server(redis_url, ["half", first, unavailable()], ["whole", second])
    there = server(redis_url)
    run = (await here.thread()).stream()
    await first.wait()
    watch = await followed(there)
    await told(watch, "half")
    first.open()
    discarded = await watch.until("message_discarded")
    assert discarded.data == {"message_id": "m2.0", "code": "model_unavailable"}
    await second.wait()
    late = await followed(there)
    assert pieces(await told(late, "whole")) == [("m2.1", 0, "whole")]
    second.open()
    await run.turn()
    await watch.turn()
    check_text(watch.seen, {"m2.1": "whole"})
    await late.turn()
    assert "message_discarded" not in {event.type for event in late.seen}


async def test_the_text_of_the_message_after_a_step_comes_too(server: Make, redis_url: str) -> None:
    gate = Gate()
    here, there = server(redis_url, ["one", ask("note")], ["two", gate]), server(redis_url)
    run = (await here.thread()).stream()
    await gate.wait()
    watch = await followed(there)
    assert pieces(await told(watch, "two")) == [("m4.0", 0, "two")]
    gate.open()
    await run.turn()
    await watch.turn()


async def test_a_thread_is_only_listened_to_while_somebody_watches(server: Make, kept_redis: KeptRedis) -> None:
    gate = Gate()
    here, there = server(kept_redis.url, ["unheard", gate, "heard"]), server(kept_redis.url)
    run = (await here.thread()).stream()
    await gate.wait()
    with kept_redis.client() as redis:

        def channels() -> set[str]:
            found: Any = redis.pubsub_channels()
            return {channel.decode().partition(":")[2] for channel in found}

        await until(lambda: channels() == {"requests"})
        assert "cmdstat_publish" not in redis.info("commandstats"), "nothing is told that nobody asked for"
        watch = await followed(there)
        await told(watch, "unheard")
        assert channels() == {"requests", "text//t"}
        await watch.leave()
        await until(lambda: channels() == {"requests"})
    assert there.storage.hub.texts.uids(KEY) == []
    gate.open()
    await run.turn()


async def test_a_redis_that_dies_in_mid_turn_costs_the_run_nothing_and_text_goes_on_when_it_is_back(
    server: Make, kept_redis: KeptRedis
) -> None:
    gates = [Gate() for _ in range(4)]
    answer: Answer = [gates[0], "before ", gates[1], "while ", gates[2], "after ", gates[3], "end"]
    here, there = server(kept_redis.url, answer, "next"), server(kept_redis.url)
    thread = await here.thread()
    run = thread.stream()
    await gates[0].wait()
    watch = await followed(there, follow=True)
    gates[0].open()
    await told(watch, "before ")
    kept_redis.kill()
    for gate in gates[1:3]:
        await gate.wait()
        gate.open()
    await run.until("text_delta", 3)
    kept_redis.start()
    check_text(await told(watch, "before while after "), {})
    kept_redis.kill()
    gates[3].open()
    turn = await run.turn()
    await watch.until("run_completed")
    check_text(watch.seen, {"m2.0": turn.text})
    again = await thread.send("again")
    await watch.until("run_completed", 2)
    assert [event for event in watch.seen if event.type != "text_delta"] == turn.logged + again.logged
    await watch.leave()


async def test_a_redis_that_answers_nothing_holds_neither_run_nor_watch_up(server: Make, kept_redis: KeptRedis) -> None:
    gate = Gate()
    here, there = server(kept_redis.url, ["before ", gate, "after"]), server(kept_redis.url)
    run = (await here.thread()).stream()
    await gate.wait()
    watch = await followed(there)
    await told(watch, "before ")
    kept_redis.pause()
    gate.open()
    turn = await run.turn()
    assert (await watch.turn()).logged == turn.logged
    check_text(watch.seen, {"m2.0": turn.text})


async def test_what_others_say_through_the_same_redis_does_no_harm(server: Make, kept_redis: KeptRedis) -> None:
    first, second = Gate(), Gate()
    here, there = server(kept_redis.url, [first, "one ", second, "two"]), server(kept_redis.url)
    run = (await here.thread()).stream()
    await first.wait()
    watch = await followed(there)
    with kept_redis.client() as redis:
        channels: Any = redis.pubsub_channels()
        for channel in channels:
            for said in (b"", b"\xff", b"[1]", b'[1,"a","uid",true,"1","x",true,[["text"]]]', b'[1,"x",[["",{}]],[5]]'):
                redis.publish(channel, said)
    first.open()
    await second.wait()
    await told(watch, "one ")
    second.open()
    turn = await run.turn()
    assert (await watch.turn()).logged == turn.logged
    check_text(watch.seen, {"m2.0": turn.text})


async def test_a_reader_that_does_not_keep_up_is_cut_and_the_others_go_on(server: Make, redis_url: str) -> None:
    first, second, third = Gate(), Gate(), Gate()
    much = "word " * 500
    here = server(redis_url, [first, much, second, much, third, "end"])
    there = server(redis_url, reader_bytes=4000)
    run = (await here.thread()).stream()
    await first.wait()
    watch = await followed(there)
    slow = there.storage.hub.subscribe(KEY)
    first.open()
    await told(watch, much)
    second.open()
    await told(watch, much + much)
    with pytest.raises(StreamCutError):
        await slow.take(1)
    third.open()
    assert (await run.turn()).text == (await watch.turn()).text


@pytest.mark.parametrize("seed", range(2))
async def test_whoever_joins_whenever_is_told_no_text_twice_and_none_out_of_order(
    server: Make, redis_url: str, seed: int
) -> None:
    watches, texts = await random_joins(server, redis_url, seed, joins=50)
    check_all(watches, texts)
    joined = [watch for watch in watches if any(len(text) > 40 for _, _, text in pieces(watch.seen))]
    assert joined, "nobody joined in the middle of a message"


async def test_what_is_lost_on_the_way_is_asked_for(server: Make, redis_url: str) -> None:
    watches, texts = await random_joins(server, redis_url, 5, joins=10, losing=True)
    check_all(watches, texts)


async def test_a_listener_that_minds_no_gap_is_caught(server: Make, redis_url: str) -> None:
    watches, texts = await random_joins(server, redis_url, 5, joins=10, losing=True, deaf=True)
    with pytest.raises(AssertionError, match="hole"):
        check_all(watches, texts)


async def random_joins(
    server: Make, redis_url: str, seed: int, *, joins: int, losing: bool = False, deaf: bool = False
) -> tuple[list[Reader], dict[str, str]]:
    """A turn of three messages, joined at random moments on another server; the watches at their end, and what the messages say."""
    random_ = random.Random(seed)
    there = server(redis_url)
    await there.storage.open()
    watches: list[Reader] = []
    ends: list[asyncio.Task[object]] = []

    async def join() -> None:
        watches.append((await there.thread()).watch())
        ends.append(asyncio.ensure_future(watches[-1].turn()))

    async def go_on() -> None:
        await asyncio.sleep(random_.random() * 0.02)

    def message() -> list[object]:
        said: list[object] = []
        for _ in range(60):
            said += [random_.choice(["a", "wörd ", "🧶", "a longer piece of text "]) * random_.randint(1, 3), go_on]
        return said

    script = [message() for _ in range(3)]
    for _ in range(joins):
        some = random_.choice(script)
        some.insert(random_.randrange(len(some)), join)
    here = server(redis_url, [*script[0], ask("note")], [*script[1], ask("note")], script[2])
    lost = Losing.every(7, here.storage) if losing else None
    if deaf:
        listen_with(Deaf, there.storage)
    thread = await here.thread()
    turn = await thread.send()
    await asyncio.gather(*ends)
    assert turn.status == "completed"
    assert lost is None or lost.times > 0
    texts = {
        each["id"]: "".join(part["text"] for part in each["content"] if part["type"] == "text")
        for each in await thread.messages()
        if each["role"] == "assistant"
    }
    return watches, texts
