"""Threads in every state that a deploy may find them in, and all that is told of them."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from tests.faults.recovery import answers_to
from tests.faults.served_process import ServedProcess
from tests.scenarios.world import Handle, refused

THREADS = ("completed", "suspended", "interrupted", "cancelled", "rewound", "copied", "written")


async def live(server: ServedProcess) -> None:
    """Make them; the server is killed in the middle of the interrupted one. Tools that are held stay so."""
    done = server.thread("completed")
    await done.send("turn|fetch fetch|charge")
    await done.update(name="a name", metadata={"color": "blue"})
    await done.update_state({"big": 2**53 + 1, "text": "\u0000ü", "kept": [1.0, None]})
    await done.send("another|fetch")
    await server.thread("suspended").send("ask|fetch refund|fetch")
    rewound = server.thread("rewound")
    await rewound.send("one|fetch")
    await rewound.send("two")
    await rewound.rewind((await rewound.history())[2]["id"])
    await done.copy("copied")
    written = server.thread("written")
    await written.append_messages([{"role": "user", "content": "from elsewhere"}])
    cancelled = server.thread("cancelled").stream("stop|held")
    await cancelled.until("tool_call_started")
    await server.thread("cancelled").cancel()
    await cancelled.turn()
    interrupted = server.thread("interrupted").stream("cut|fetch|held charge")
    await interrupted.until("tool_call_started", 3)
    await server.kill()
    await interrupted.gone()


async def tell(thread: Handle) -> dict[str, Any]:
    """All that can be read of a thread."""
    interrupted = (await thread.info())["status"] == "in_progress"
    if interrupted:
        # Until the lease of its server is over.
        with refused("thread_interrupted"):
            await thread.watch().turn()
    told: dict[str, Any] = {
        "info": await thread.info(),
        "history": await thread.history(),
        "messages": await thread.messages(),
        "state": await thread.state(),
        "approvals": await thread.approvals(),
    }
    if not interrupted:
        told["events"] = [astuple(event) for event in (await thread.watch().turn()).events]
    return told


async def go_on(thread: Handle, status: str) -> str:
    """Do what the thread waits for; how its run ends."""
    if status == "in_progress":
        with refused("thread_interrupted"):
            await thread.send("not now")
        turn = await thread.retry()
    elif status == "suspended":
        turn = await thread.decide(answers_to(await thread.approvals()))
    else:
        turn = await thread.send("next|fetch")
    if turn.status == "suspended":
        # Of a call that nobody knows the outcome of a person is asked.
        turn = await thread.decide(answers_to(await thread.approvals()))
    return turn.status or ""
