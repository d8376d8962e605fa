"""Every client replays every case against a real server."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.golden.drivers import driving
from tests.golden.gates import Gates
from tests.golden.languages import LANGUAGES, Language
from tests.golden.player import Player
from tests.golden.servers import GoldenServer, a_server

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
}
# A case that takes longer has something that does not end.
_LONGEST_S = 120


@pytest.fixture(scope="module")
def shared_server() -> Iterator[GoldenServer]:
    """For cases that do not kill theirs. The name of its folder is short, as that of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder, a_server(Path(folder)) as server:
        yield server


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
async def test_a_client_replays_the_case(language: Language, case: str, shared_server: GoldenServer) -> None:
    """A case is a file; its name is that of its app."""
    if not language.is_here:
        pytest.skip(f"needs {' and '.join(language.programs)}")
    told: dict[str, Any] = CASES[case]
    with ExitStack() as stack:
        server, own = shared_server, None
        if told.get("own_server"):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="golden-"))
            server = own = stack.enter_context(a_server(Path(folder)))
        async with (
            asyncio.timeout(_LONGEST_S),
            Gates(server.gates) as gates,
            driving((*language.command, server.target)) as driver,
        ):
            app = told.get("app", case.replace("_", "-"))
            await Player(driver, app, f"{case}.{language.name}.", gates, own).play(told["steps"])
