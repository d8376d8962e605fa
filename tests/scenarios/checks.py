"""What holds of every thread, whatever was done to it."""

from __future__ import annotations

from itertools import pairwise

from tests.scenarios.world import Handle


async def outcomes(thread: Handle) -> list[str]:
    """The outcome of every call in the transcript. Fails where one has none, or several, or a result has no call."""
    calls: list[str] = []
    results: dict[str, list[str]] = {}
    for message in await thread.messages():
        for part in message["content"]:
            if part["type"] == "tool_call":
                calls.append(part["id"])
            if part["type"] == "tool_result":
                results.setdefault(part["tool_call_id"], []).append(part["outcome"])
    assert sorted(results) == sorted(calls), "every call has a result, and nothing else has"
    assert all(len(found) == 1 for found in results.values())
    return [results[call][0] for call in calls]


async def check_line(thread: Handle) -> None:
    """Versions are gapless in the log, and each checkpoint of the line continues the one below it."""
    history = await thread.history()
    for newer, older in pairwise(history):
        assert newer["parent_id"] == older["id"]
        assert newer["version"] > older["version"]
    assert history[-1]["parent_id"] is None
    replay = await thread.watch().turn()
    written = [event.version for event in replay.of("checkpoint_written")]
    assert written == list(range(1, history[0]["version"] + 1))
    positions = [message["position"] for message in await thread.messages()]
    assert positions == sorted(set(positions))


async def check_not_wedged(thread: Handle) -> None:
    """Whatever its head, the thread comes to the end of another turn, and every call has its one outcome then."""
    info = await thread.info()
    if info["status"] == "suspended":
        await thread.cancel()
    if info["status"] == "in_progress":
        await thread.retry()
    turn = await thread.send("and now?")
    if turn.status == "suspended":
        turn = await thread.decide(dict.fromkeys(turn.approvals, True))
    assert turn.status == "completed"
    await outcomes(thread)
    await check_line(thread)
