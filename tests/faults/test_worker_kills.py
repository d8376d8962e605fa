"""Promises 3 and 4 with tools in processes of their own: no result is lost or taken twice, and what is done once is not done again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.tool_workers import Kill, Shop, kill_a_worker, kill_the_server, stop_a_worker
from tests.golden.languages import LANGUAGES, Language

THREADS = 3
WORKING = [each for each in LANGUAGES if each.works]
languages = pytest.mark.parametrize("language", WORKING, ids=[each.name for each in WORKING])


@languages
async def test_nothing_is_lost_or_done_twice_when_workers_and_servers_are_killed(
    tmp_path: Path, language: Language
) -> None:
    cycles, dice = figures.times(3, 100), random.Random(1)
    killed: dict[str, Kill] = {"worker": kill_a_worker, "server": kill_the_server}
    async with Shop(tmp_path / "shop", language) as shop:
        for victim, kill in killed.items():
            lost = reruns = wedged = other = 0
            problems: list[str] = []
            for number in range(cycles):
                found = await kill(shop, number, dice, threads=THREADS)
                lost, reruns = lost + len(found.lost), reruns + len(found.reruns)
                wedged, other = wedged + len(found.wedged), other + len(found.other)
                problems += found.all
                figures.progress(f"the {victim} of tools in {language.name} is killed", number + 1, cycles)
            variants = ("acknowledged too soon",) if victim == "server" else ("once is given again",)
            what = f"kill -9 of the {victim} of tools in {language.name}"
            row = 3 if victim == "server" else 4
            figures.record(figures.Figure(row, what, cycles, lost, reruns, wedged, other, variants=variants))
            assert problems == []


@languages
async def test_a_worker_that_is_asked_to_stop_finishes_what_it_has(tmp_path: Path, language: Language) -> None:
    dice = random.Random(2)
    async with Shop(tmp_path / "shop", language) as shop:
        for number in range(figures.times(1, 20)):
            found = await stop_a_worker(shop, number, dice, threads=THREADS)
            assert found.all == []


@pytest.mark.parametrize(
    ("variant", "kill"), [("acknowledged too soon", kill_the_server), ("once is given again", kill_a_worker)]
)
async def test_the_judge_sees_what_a_missing_guard_does(tmp_path: Path, variant: str, kill: Kill) -> None:
    dice = random.Random(3)
    async with Shop(tmp_path / "shop", LANGUAGES[0], broken=variant, work_s=0.2) as shop:
        for number in range(20):
            if (await kill(shop, number, dice, threads=THREADS)).all:
                figures.catch(variant)
                return
    raise AssertionError("nothing was seen")
