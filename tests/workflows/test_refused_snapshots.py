"""Snapshots that are refused: of another app, format or graph, spoilt, or answered wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clew_engine import ClewError, Workflow, append, pause
from tests.workflows.snapshot_apps import asking, failed, failing, travelled


async def test_a_value_that_does_not_fit_is_refused_and_the_snapshot_is_good_for_another() -> None:
    app = asking("a")
    snapshot = travelled((await app.run()).snapshot)
    for wrong in ("seven", 1.5):
        with pytest.raises(ClewError) as refusal:
            await app.resume(snapshot, wrong)
        assert refusal.value.code == "argument_invalid"
    with pytest.raises(ClewError, match="waits for an answer"):
        await app.resume(snapshot)
    assert (await app.resume(snapshot, 7)).state == {"log": [["a", 7]]}


async def test_a_failed_run_takes_no_answer() -> None:
    app = failing(1, [])
    snapshot = await failed(app.run())
    for call in (app.resume(snapshot, 1), app.decide(snapshot, {"a": True})):
        with pytest.raises(ClewError, match="without one") as refusal:
            await call
        assert refusal.value.code == "resume_invalid"


async def test_a_newer_version_goes_on_where_it_still_has_the_node() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    newer = Workflow("asking", reducers={"log": append})
    newer.node(lambda _: {"log": [["newer", pause("?")]]}, name="a")
    newer.node(lambda _: {"log": ["more"]}, name="b")
    newer.node(lambda _: {"log": ["last"]}, name="z")
    newer.start("b")
    newer.edge("b", "a")
    newer.edge("a", "z")
    assert (await newer.compile().resume(snapshot, 1)).state == {"log": [["newer", 1], "last"]}


async def test_a_node_that_a_newer_version_no_longer_has_is_named() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    with pytest.raises(ClewError, match="'a'") as refusal:
        await asking("b").resume(snapshot, 1)
    assert (refusal.value.code, refusal.value.metadata["nodes"]) == ("resume_invalid", "a")
    broken = await failed(failing(1, []).run())
    with pytest.raises(ClewError, match="'second'") as refusal:
        await asking("b", name="failing").resume(broken)
    assert refusal.value.code == "resume_invalid"


async def test_a_snapshot_of_another_app_or_of_a_newer_format_is_refused() -> None:
    snapshot = travelled((await asking("a").run()).snapshot)
    with pytest.raises(ClewError, match="'asking'") as refusal:
        await asking("a", name="other").resume(snapshot, 1)
    assert refusal.value.code == "resume_invalid"
    with pytest.raises(ClewError, match="format 2") as refusal:
        await asking("a").resume({**snapshot, "format": 2, "new": True}, 1)
    assert refusal.value.code == "resume_invalid"


SPOILT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no dict": lambda _: [1],
    "text": json.dumps,
    "None": lambda _: None,
    "empty": lambda _: {},
    "anything": lambda _: {"state": {}},
    "an odd format": lambda each: {**each, "format": "1"},
    "no JSON": lambda each: {**each, "state": float("nan")},
    "a key is missing": lambda each: {name: value for name, value in each.items() if name != "uid"},
    "an unknown status": lambda each: {**each, "status": "perhaps"},
    "a status that needs no snapshot": lambda each: {**each, "status": "completed"},
    "a run of another": lambda each: {**each, "run_id": "0123456789abcdef.r1"},
    "nothing to go on with": lambda each: {**each, "next": {}},
    "odd nodes": lambda each: {**each, "next": {"do": "a"}},
    "odd answers": lambda each: {**each, "next": {**each["next"], "answers": {"a": 1}}},
    "odd memos": lambda each: {**each, "memos": [["a"]]},
    "nothing asked": lambda each: {**each, "approvals": []},
    "an unknown kind": lambda each: {**each, "approvals": [{**each["approvals"][0], "kind": "perhaps"}]},
    "a state that is no object": lambda each: {**each, "state": "[1]"},
    "a state that is no JSON": lambda each: {**each, "state": '{"a":1,"a":2}'},
    "a thread id that is none": lambda each: {**each, "thread_id": "a/b"},
}


@pytest.mark.parametrize("spoilt", SPOILT)
async def test_what_is_no_snapshot_is_refused_and_nothing_runs(spoilt: str) -> None:
    app = asking("a")
    snapshot = SPOILT[spoilt](travelled((await app.run()).snapshot))
    with pytest.raises(ClewError, match="snapshot") as refusal:
        await app.resume(snapshot, 1)
    assert refusal.value.code in ("argument_invalid", "state_invalid", "id_invalid")
    assert not app.storage.scratches
