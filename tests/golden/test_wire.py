"""Every client against a server that breaks, refuses and cuts as it is told, and one that refuses with every code there is."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from clew.v1 import error_pb2, event_pb2
from tests.client.scripted import ScriptedServer, refuses, streams
from tests.client.test_position import ANSWER, a_run, replayed, whole
from tests.golden.drivers import Driver, driving
from tests.golden.languages import LANGUAGES, Language
from tests.golden.matching import differences
from tests.golden.player import Player
from tests.golden.stream_rules import LOGGED, broken_rules
from tests.golden.wire import a_scripted_server, requests

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "wire").glob("*.json"))
}
_LONGEST_S = 120
_BREAKS = 12
# The status of each code, by the numbers of the contract: a block of twenty has one.
_STATUSES = (
    grpc.StatusCode.ABORTED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL,
)  # fmt: skip
_DENIED = error_pb2.ERROR_REASON_PERMISSION_DENIED
REASONS = sorted(number for number in error_pb2.ErrorReason.values() if number)

every_language = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)


@asynccontextmanager
async def a_driver(language: Language) -> AsyncIterator[Driver]:
    """The language's driver. Lists the test as not run where the toolchain is missing."""
    if not language.is_here:
        pytest.skip(f"needs {' and '.join(language.programs)}")
    async with asyncio.timeout(_LONGEST_S), driving((*language.command, "127.0.0.1:1")) as driver:
        yield driver


@pytest.mark.parametrize("case", CASES)
@every_language
async def test_a_client_makes_the_best_of_what_the_server_says(language: Language, case: str) -> None:
    async with a_driver(language) as driver:
        for script in CASES[case]["scripts"]:
            async with a_scripted_server(script["server"]) as server:
                await driver.do("connect", target=server.target, times=script.get("times", {}))
                try:
                    await Player(driver, "support", scripted=server).play(script["steps"])
                    wrong = differences(script["asked"], requests(server), "asked") if "asked" in script else []
                    assert not wrong, "\n".join(wrong)
                except AssertionError as error:
                    raise AssertionError(f"{script['about']}: {error}") from error


@every_language
async def test_every_code_of_the_contract_is_an_error_of_its_own(language: Language) -> None:
    async with a_driver(language) as driver, a_scripted_server({}) as server:
        await driver.do("connect", target=server.target, times={"connect_timeout": 0, "rejoin_timeout": 0})
        for number in REASONS:
            reason = error_pb2.ErrorReason.Name(number).removeprefix("ERROR_REASON_")
            status = grpc.StatusCode.PERMISSION_DENIED if number == _DENIED else _STATUSES[number // 20]
            server.on("Send", streams(refuses(status, reason, text="so it is", thread_id="t-1")))
            outcome = await driver.do("send", app="support", thread="t-1", text="hi")
            expected = {"code": reason.lower(), "message": "so it is", "metadata": {"thread_id": "t-1"}}
            assert not differences(expected, outcome.get("error"), reason)


@every_language
async def test_wherever_connections_break_every_event_comes_once_and_the_text_is_whole(language: Language) -> None:
    """As the test of the same name of the Python client's positions, over real connections."""
    chance = random.Random(7)
    run = a_run()
    logged = [event for event in run if event.WhichOneof("payload") not in ("text_delta", "heartbeat")]
    async with a_driver(language) as driver:
        for _ in range(_BREAKS):
            breaks = [(chance.randint(1, 24), chance.randint(0, 24)) for _ in range(chance.randint(1, 4))]
            async with a_scripted_server({}) as server:
                _breaking(server, run, breaks)
                await driver.do("connect", target=server.target, times={})
                call = await driver.begin("send", app="support", thread="t-1", text="hi")
                outcome = await driver.finish(call)
                assert outcome.get("reply", {}).get("text") == ANSWER, (breaks, outcome)
                assert not broken_rules(call.events, attempt=True, whole=True), breaks
                told = [(event["type"], event["version"]) for event in call.events if event["type"] in LOGGED]
                assert told == [(each.WhichOneof("payload"), each.version) for each in logged], breaks


def _breaking(server: ScriptedServer, run: list[event_pb2.Event], breaks: list[tuple[int, int]]) -> None:
    """Each connection gives so many events and breaks, and so much happens until the next."""
    left = list(breaks)
    at = 0

    async def answer(request: Any, context: Any) -> AsyncIterator[Any]:
        nonlocal at
        before = replayed(run, getattr(request, "after_version", 0), at)
        read, meanwhile = left.pop(0) if left else (len(before) + len(run), 0)
        told = [*before, *run[at:]][:read]
        at = whole(run, min(len(run), at + max(0, len(told) - len(before)) + meanwhile))
        async for response in streams(*([event] for event in told), refuses(grpc.StatusCode.UNAVAILABLE))(
            request, context
        ):
            yield response

    server.on("Send", answer)
    server.on("Watch", answer)
