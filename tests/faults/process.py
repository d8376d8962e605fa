"""A process under test from its client's side: started, spoken to, killed."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from tests.faults import plans, stored, worker
from tests.faults.stored import Stored
from tests.scenarios.sights import Reader, Seen, Turn
from tests.scenarios.world import Handle

ROOT = Path(__file__).parents[2]


class Gone(Exception):  # noqa: N818 - what was to be expected
    """The process died before it answered."""


class Refused(Exception):  # noqa: N818 - as the engine's errors are named by their codes
    """The process refused the call."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


# Every process that was started and not seen to end; what a failed test leaves behind is ended after it.
RUNNING: set[asyncio.subprocess.Process] = set()


class UnderTest(Protocol):
    """What serves threads and may be killed, however it is spoken to. `survives`: it serves on when a part of it dies; the runs of that part are known to be dead when their leases have run out, and not before."""

    ledger_path: Path
    survives: bool

    async def start(self, **environment: str) -> None: ...
    async def kill(self) -> Any: ...
    async def stored(self) -> Stored: ...
    async def hang_up(self) -> None: ...
    def dead(self, error: Exception) -> bool: ...
    def thread(self, thread_id: str) -> Handle: ...


class Process:
    """One process on one SQLite file in a folder. Its ledger and what it complains about lie there too, or at its `home`."""

    survives = False

    def __init__(self, folder: Path, home: Path | None = None, /, **environment: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = home or folder
        self.database = folder / "clew.db"
        self.ledger_path = self.folder / "ledger"
        self._environment = environment
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._child: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()

    async def start(self, **environment: str) -> None:
        """Start it, and wait until it has opened the file. Raises Gone when it could not."""
        whole = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
            worker.URL: f"sqlite://{self.database}",
            plans.LEDGER: str(self.ledger_path),
            **self._environment,
            **environment,
        }
        self._answers, self.gone = {}, asyncio.Event()
        with (self.folder / "errors").open("ab") as errors:
            self._child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.faults.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                limit=1 << 24,
                env=whole,
            )
        RUNNING.add(self._child)
        hello = self._expect(0)
        self._listening = asyncio.create_task(self._listen())
        if await hello.get() is None:
            await self.ended()
            raise Gone((self.folder / "errors").read_text())

    @property
    def pid(self) -> int:
        """The child's."""
        assert self._child is not None
        return self._child.pid

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        assert self._child is not None
        with suppress(ProcessLookupError):
            self._child.send_signal(number)

    async def kill(self) -> None:
        """`kill -9`, and wait until all that it had written is read."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def ended(self) -> None:
        """Wait until it is dead and its last words are read."""
        assert self._child is not None
        assert self._listening is not None
        await self._listening
        await self._child.wait()
        RUNNING.discard(self._child)

    async def stored(self) -> Stored:
        """What its file holds while nobody serves it."""
        return stored.read(self.database)

    async def hang_up(self) -> None:
        """Nothing is left open when it is dead."""

    def dead(self, error: Exception) -> bool:
        """Whether the error is what its death looks like."""
        return isinstance(error, Gone)

    def thread(self, thread_id: str) -> Handle:
        """A handle on a thread."""
        return PipeThread(self, thread_id)

    async def call(self, verb: str, thread: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """A call with one reply."""
        async for answer in self.answers(verb, thread, args, options):
            return answer["r"]
        raise AssertionError

    async def answers(
        self, verb: str, thread: str, args: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """What comes back for a call. Raises Refused, or Gone when the process died first."""
        if self.gone.is_set():
            raise Gone
        assert self._child is not None
        assert self._child.stdin is not None
        number = next(self._numbers)
        queue = self._expect(number)
        line = {"n": number, "verb": verb, "thread": thread, "args": args, "options": options}
        self._child.stdin.write(json.dumps(line).encode() + b"\n")
        try:
            while (answer := await queue.get()) is not None:
                if "x" in answer:
                    raise Refused(answer["x"], answer["m"])
                yield answer
                if "r" in answer:
                    return
            raise Gone
        finally:
            self._answers.pop(number, None)

    def _expect(self, number: int) -> asyncio.Queue[dict[str, Any] | None]:
        return self._answers.setdefault(number, asyncio.Queue())

    async def _listen(self) -> None:
        assert self._child is not None
        assert self._child.stdout is not None
        while line := await self._child.stdout.readline():
            if not line.endswith(b"\n"):
                break  # cut off in the middle: it was never said
            answer = json.loads(line)
            if answer["n"] in self._answers:
                self._answers[answer["n"]].put_nowait(answer)
        self.gone.set()
        for queue in tuple(self._answers.values()):
            queue.put_nowait(None)


class PipeThread:
    """A thread in the process under test, with the verbs of every other handle."""

    def __init__(self, process: Process, thread_id: str) -> None:
        self._process = process
        self.id = thread_id

    def stream(self, text: Any = "hello", **options: Any) -> Reader:
        return self._stream("send", text, **options)

    async def send(self, text: Any = "hello", **options: Any) -> Turn:
        return await self.stream(text, **options).turn()

    def stream_decide(self, answers: Mapping[str, Any], **options: Any) -> Reader:
        return self._stream("decide", dict(answers), **options)

    async def decide(self, answers: Mapping[str, Any], **options: Any) -> Turn:
        return await self.stream_decide(answers, **options).turn()

    def stream_retry(self, **options: Any) -> Reader:
        return self._stream("retry", **options)

    async def resume(self, value: Any, **options: Any) -> Turn:
        return await self._stream("resume", value, **options).turn()

    async def retry(self, **options: Any) -> Turn:
        return await self.stream_retry(**options).turn()

    def watch(self, after_version: int = 0, **options: Any) -> Reader:
        return self._stream("watch", after_version, **options)

    async def cancel(self, run_id: str = "", **options: Any) -> dict[str, Any]:
        return await self._one("cancel", run_id, **options)  # type: ignore[no-any-return]

    async def rewind(self, checkpoint_id: str, **options: Any) -> dict[str, Any]:
        return await self._one("rewind", checkpoint_id, **options)  # type: ignore[no-any-return]

    async def copy(self, target_id: str, checkpoint_id: str = "", **options: Any) -> Handle:
        await self._one("copy", target_id, checkpoint_id, **options)
        return PipeThread(self._process, target_id)

    async def update(self, **changes: Any) -> dict[str, Any]:
        return await self._one("update", **changes)  # type: ignore[no-any-return]

    async def delete(self, **options: Any) -> bool:
        return await self._one("delete", **options)  # type: ignore[no-any-return]

    async def info(self) -> dict[str, Any]:
        return await self._one("info")  # type: ignore[no-any-return]

    async def update_state(self, values: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        return await self._one("update_state", values, **options)  # type: ignore[no-any-return]

    async def clear_state(self, **options: Any) -> dict[str, Any]:
        return await self._one("clear_state", **options)  # type: ignore[no-any-return]

    async def append_messages(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> list[str]:
        return await self._one("append_messages", messages, **options)  # type: ignore[no-any-return]

    async def update_message(self, message_id: str, content: Any = None, **options: Any) -> dict[str, Any]:
        return await self._one("update_message", message_id, content, **options)  # type: ignore[no-any-return]

    async def delete_message(self, message_id: str, **options: Any) -> list[str]:
        return await self._one("delete_message", message_id, **options)  # type: ignore[no-any-return]

    async def message(self, message_id: str) -> dict[str, Any]:
        return await self._one("message", message_id)  # type: ignore[no-any-return]

    async def messages(self, **options: Any) -> list[dict[str, Any]]:
        return await self._one("messages", **options)  # type: ignore[no-any-return]

    async def state(self, checkpoint_id: str = "") -> dict[str, Any]:
        return await self._one("state", checkpoint_id)  # type: ignore[no-any-return]

    async def history(self, limit: int = 1000) -> list[dict[str, Any]]:
        return await self._one("history", limit)  # type: ignore[no-any-return]

    async def approvals(self) -> list[dict[str, Any]]:
        return await self._one("approvals")  # type: ignore[no-any-return]

    async def _one(self, verb: str, *args: Any, **options: Any) -> Any:
        return await self._process.call(verb, self.id, args, options)

    def _stream(self, verb: str, *args: Any, **options: Any) -> Reader:
        async def events() -> AsyncIterator[Seen]:
            async for answer in self._process.answers(verb, self.id, args, options):
                if "e" in answer:
                    yield Seen(*answer["e"])

        return Reader(events)
