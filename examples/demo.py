"""What `make run` plays: a refund that survives `kill -9`.

A server on a SQLite file serves the support agent. A customer asks for a refund, the order is looked up, a person approves, the money is paid
back, and in the middle of the answer the server is killed. A new one goes on with `retry`, and pays nothing twice: the tools write down what
they really did in a ledger outside the database, and the demonstration reads it. With --once it ends there, with 0 only if all of this held.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from clew import ClewError, Client, Event, TextDelta, Thread

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("CLEW_DEMO_DATA") or ROOT / "build" / "demo")
LEDGER = DATA / "ledger.jsonl"
LOG = DATA / "server.log"
THREAD = "ticket-7"
out = Console(highlight=False, soft_wrap=True)


class Server:
    """`clew serve` as a process of its own, on a port that is free."""

    def __init__(self, *, hold: bool) -> None:
        command = [str(Path(sys.executable).with_name("clew")), "serve", "examples/support.py", "--port", "0", "--json"]
        storage = f"sqlite://{os.path.relpath(DATA / 'support.db', ROOT)}"
        command += ["--storage", storage]
        environment = os.environ | {"CLEW_LEDGER": str(LEDGER), "CLEW_HOLD": "1" if hold else ""}
        say(f"$ clew serve examples/support.py --port 0 --storage {storage}")
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=LOG.open("a"), text=True
        )
        self.target = self._ready()
        say(f"  ready at {self.target}, process {self._process.pid}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self.wait()

    def kill(self) -> None:
        """End it with no word in, as a power cut would."""
        self._process.kill()
        self.wait()

    def wait(self) -> None:
        """Until it has ended."""
        self._process.wait()

    def _ready(self) -> str:
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return str(json.loads(line)["address"])
        raise SystemExit(f"the server did not start, and says why:\n{LOG.read_text()}")


def say(text: str, style: str = "dim") -> None:
    """A line of the demonstration's own."""
    out.print(Text(text, style=style))


def title(text: str) -> None:
    """What comes next."""
    out.print()
    out.print(Text(text, style="bold"))


class Timeline:
    """Prints every event as it streams: its version, its kind, and what it says. Text is written as it comes."""

    def __init__(self) -> None:
        self._writing = False

    def show(self, event: Event) -> None:
        """One event."""
        says: Any = event.payload
        if event.type in ("text_delta", "reasoning_delta"):
            if not self._writing:
                out.print(Text(f"{event.version:>5}  text_delta  ", style="dim"), end="")
            self._writing = True
            out.print(Text(says.text, style="green"), end="")
            return
        self.end()
        out.print(
            Text(f"{event.version:>5}  {event.type:<20}", style="dim"),
            Text(_WORDS[event.type](says) if event.type in _WORDS else ""),
        )

    def end(self) -> None:
        """End a line of text."""
        if self._writing:
            out.print()
        self._writing = False


def _result(says: Any) -> str:
    (result,) = says.message["content"]
    return f"{says.name} {says.outcome}: {result['content'][0]['text']}"


# What an event says, by its kind. The kinds that are not here say nothing but that they happened.
_WORDS: dict[str, Callable[[Any], str]] = {
    "run_started": lambda says: f"attempt {says.attempt}",
    "checkpoint_written": lambda says: f"{says.checkpoint['source']}, {says.checkpoint['status']}",
    "tool_call_started": lambda says: f"{says.tool_call['name']} {json.dumps(says.tool_call['args'])}",
    "tool_call_finished": _result,
    "approval_requested": lambda says: f"may {says.approval.tool} run with {says.approval.arguments_json}?",
    "run_suspended": lambda says: f"waits for {len(says.approvals)} answer",
    "run_completed": lambda says: says.reply.text,
    "run_failed": lambda says: f"{says.code}: {says.message}",
}


async def follow(events: AsyncIterable[Event]) -> Event:
    """Show a stream to its end; gives the last event."""
    timeline = Timeline()
    last: Event | None = None
    async for event in events:
        timeline.show(event)
        last = event
    assert last is not None
    return last


async def play_until_killed(server: Server) -> None:
    """From the customer's question to the end of the server."""
    async with Client(server.target, rejoin_timeout=0.5) as client:
        thread = client.app("support").thread(THREAD, actor="demo")
        last: Any = await follow(thread.stream("Please refund order A-1001"))
        title("2. A person approves; the money is paid back; kill -9 in the middle of the answer")
        await until_killed(thread, {last.payload.approvals[0].id: True}, server)


async def play_on(server: Server) -> bool:
    """What a new server makes of it. Gives whether the run was completed and nothing ran twice."""
    async with Client(server.target) as client:
        thread = client.app("support").thread(THREAD, actor="demo")
        try:
            await thread.send("Is it done?")
        except ClewError as error:
            say(f"  send is refused with {error.code}: {error.message}")
        title("4. retry goes on where it stopped")
        last = await follow(thread.stream_retry())
    return last.type == "run_completed" and check_ledger()


async def until_killed(thread: Thread, answers: dict[str, Any], server: Server) -> None:
    """Follow the run until the refund is recorded and the answer is under way; then the server dies."""
    timeline, paid, answer = Timeline(), False, ""
    try:
        async for event in thread.stream_decide(answers):
            timeline.show(event)
            paid = paid or event.type == "tool_call_finished"
            answer += event.payload.text if paid and isinstance(event.payload, TextDelta) else ""
            if "for order" in answer:
                timeline.end()
                say("  kill -9", "bold red")
                server.kill()
    except ClewError as error:
        timeline.end()
        say(f"  the stream breaks: {error.code}")


def check_ledger() -> bool:
    """Whether each tool really ran once."""
    title("5. What the tools really did, in the ledger outside the database")
    lines = [json.loads(line) for line in LEDGER.read_text().splitlines()]
    for line in lines:
        say(f"  process {line['pid']}  {line['tool']}  {line['order_id']}  {line['amount'] or ''}", "")
    ran = Counter(line["tool"] for line in lines)
    held = ran == {"look_up_order": 1, "refund": 1}
    verdict = "each tool ran exactly once" if held else f"expected one look-up and one refund, and found {dict(ran)}"
    say(f"  {verdict}", "bold green" if held else "bold red")
    return held


def stay_up(server: Server) -> None:
    """Leave the server to whoever wants to talk to it, until Ctrl-C."""
    title("The server stays up. From another terminal:")
    out.print(f"""
  export CLEW_TARGET={server.target}
  .venv/bin/clew chat support                     # try: Please refund order A-1002
  .venv/bin/clew approvals watch                  # the inbox: what waits for a person
  .venv/bin/clew approvals approve ID
  .venv/bin/clew threads history {THREAD}
  .venv/bin/clew threads messages {THREAD}

  Ctrl-C stops it.""")
    with contextlib.suppress(KeyboardInterrupt):
        server.wait()


def main(*, once: bool) -> int:
    """Play it; gives the exit code."""
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    title("1. A customer asks for a refund")
    with Server(hold=True) as server:
        asyncio.run(play_until_killed(server))
    title("3. A new server on the same file")
    with Server(hold=False) as server:
        held = asyncio.run(play_on(server))
        if held and not once:
            stay_up(server)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(once="--once" in sys.argv[1:]))
