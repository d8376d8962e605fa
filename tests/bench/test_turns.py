"""What `make bench` compares with: the floor on Postgres, and peers that are not there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import asyncpg
import pytest

from bench.peers.environments import PEERS, NotInstalledError, python_of
from bench.peers.processes import PeerFailedError, a_peer
from bench.postgres_floor import PostgresFloor
from tests.support.postgres import a_name


async def test_a_turn_of_the_floor_on_postgres_is_five_rows(postgres_dsn: str) -> None:
    schema = a_name()
    connection = await asyncpg.connect(postgres_dsn)
    await connection.execute(f"CREATE SCHEMA {schema}")
    mark = "&" if "?" in postgres_dsn else "?"
    async with PostgresFloor(f"{postgres_dsn}{mark}search_path={schema}") as floor:
        await asyncio.gather(*(floor.turn(f"t{number}") for number in range(32)))
    rows = await connection.fetch(
        f"SELECT thread, array_agg(version ORDER BY version) FROM {schema}.records GROUP BY thread"
    )
    await connection.close()
    assert [list(versions) for _, versions in rows] == [[1, 2, 3, 4, 5]] * 32


@pytest.mark.parametrize("program", [peer.program for peer in PEERS])
async def test_a_peer_that_cannot_start_says_why(tmp_path: Path, program: str) -> None:
    with pytest.raises(PeerFailedError, match="No module named"):
        async with a_peer(program, sys.executable, f"sqlite://{tmp_path}/peer.db", tmp_path / "log"):
            pass


async def test_a_peer_whose_packages_cannot_be_installed_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEER_PYTHON", sys.executable)
    # Nothing can be made below a file.
    folder = tmp_path / "file"
    folder.touch()
    with pytest.raises(NotInstalledError, match="could not be installed"):
        python_of(PEERS[0], folder)
