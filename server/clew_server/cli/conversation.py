"""A conversation on one thread: turns, approvals, and the commands that begin with a slash."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterable, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from clew import ClewError, Event, ThreadNotFoundError, ThreadSuspendedError
from clew_server.cli import decisions
from clew_server.cli.following import DONE, FAILED, WAITING, exit_code
from clew_server.cli.lines import Lines
from clew_server.cli.output import console, one_line, print_error
from clew_server.cli.run_view import RunView
from clew_server.cli.thread_view import at_checkpoint, print_history, print_messages

if TYPE_CHECKING:
    from clew import Approval, Client, Thread

_HELP = """\
/retry         continue the run that failed, was cancelled or interrupted
/approvals     answer what waits for a person
/history [N]   the newest checkpoints
/rewind V      go back to version V of the history
/messages      the conversation so far
/quit          leave; the thread stays
"""


class Conversation:
    """Reads lines, runs turns, and remembers how the last one ended."""

    def __init__(self, runner: asyncio.Runner, client: Client, thread: Thread) -> None:
        self._runner = runner
        self._client = client
        self._thread = thread
        self._lines = Lines()
        self._console = console()
        self._view = RunView(self._console)
        self._outcome = DONE
        self._commands: dict[str, Callable[[str], None]] = {
            "/retry": lambda _: self._turn(self._thread.stream_retry()),
            "/approvals": lambda _: self._ask_for_what_waits(),
            "/history": self._history,
            "/rewind": self._rewind,
            "/messages": lambda _: print_messages(self._runner.run(self._thread.messages())),
            "/help": lambda _: self._console.print(_HELP, end="", markup=False),
        }

    def greet(self, app: str) -> None:
        """Say where this is, and how the thread stands."""
        if self._lines.interactive:
            self._view.note(f"{app} on thread {self._thread.id}; /help lists the commands, /quit leaves")
        with contextlib.suppress(ThreadNotFoundError):
            info = self._runner.run(self._thread.info())
            if info.run is not None and info.run.state == "interrupted":
                self._view.note("the last run was interrupted; /retry continues it")
            elif info.status == "failed":
                self._view.note("the last run failed or was cancelled; /retry continues it")
            elif info.status == "suspended":
                self._ask_for_what_waits()

    def run(self) -> int:
        """Until the input ends; gives the exit code."""
        while True:
            try:
                line = self._lines.ask("> ")
            except KeyboardInterrupt:
                line = None
            if line is None or line.strip() in ("/quit", "/exit"):
                return DONE if self._lines.interactive else self._outcome
            if line.strip():
                self._do(line.strip())
                if self._outcome == FAILED and not self._lines.interactive:
                    return FAILED

    def _do(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        try:
            if not line.startswith("/"):
                self._turn(self._thread.stream(line))
            elif word in self._commands:
                self._commands[word](rest.strip())
            else:
                self._view.note(f"there is no {word}; /help lists the commands")
        except ThreadSuspendedError as error:
            self._refused(error)
            self._ask_for_what_waits()
        except ClewError as error:
            self._refused(error)

    def _refused(self, error: ClewError) -> None:
        self._outcome = FAILED
        self._view.end_line()
        print_error(error)
        if error.code == "thread_interrupted":
            self._view.note("/retry continues it")

    def _turn(self, stream: AsyncIterable[Event]) -> None:
        """One attempt, and what it asks of people, until it ends or is put off."""
        last = self._runner.run(self._follow(stream))
        if last is None:
            return
        self._outcome = exit_code(last)
        if self._outcome == FAILED:
            self._view.note("/retry continues it")
        if self._outcome == WAITING:
            says: Any = last.payload
            self._ask(says.approvals)

    def _ask_for_what_waits(self) -> None:
        waiting = self._runner.run(self._client.approvals.list(thread_id=self._thread.id))
        if waiting:
            self._outcome = WAITING
            self._ask(waiting)
        else:
            self._view.note("nothing waits")

    def _ask(self, approvals: Sequence[Approval]) -> None:
        self._view.end_line()
        try:
            answers, put_off = decisions.ask_all(approvals, self._lines, self._console)
        except KeyboardInterrupt:
            answers, put_off = {}, True
        if put_off:
            self._view.note("it waits; /approvals asks again, and `clew approvals list` shows it to everyone")
        if not answers:
            return
        if put_off:
            self._runner.run(self._follow(self._thread.stream_decide(answers)))
        else:
            self._decided(answers)

    def _decided(self, answers: dict[str, Any]) -> None:
        try:
            self._turn(self._thread.stream_decide(answers))
        except ClewError as error:
            self._refused(error)
            if error.code in ("state_invalid", "argument_invalid"):  # edited arguments that the tool does not take
                self._ask_for_what_waits()

    async def _follow(self, stream: AsyncIterable[Event]) -> Event | None:
        """Show an attempt to its end. Ctrl-C cancels its run, and the end that comes then is shown too."""
        last: Event | None = None
        with self._cancelling():
            async for event in stream:
                self._view.show(event)
                if event.payload.terminal:
                    last = event
        return last

    @contextlib.contextmanager
    def _cancelling(self) -> Generator[None, None, None]:
        loop, current, tasks = asyncio.get_running_loop(), asyncio.current_task(), list[asyncio.Task[None]]()

        def interrupted() -> None:
            if not tasks:
                tasks.append(loop.create_task(self._cancel()))
            elif current is not None:  # asked twice: do not wait for the end
                current.cancel()

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _cancel(self) -> None:
        self._view.note("stopping; Ctrl-C again leaves at once")
        try:
            await self._thread.cancel()
        except ClewError as error:
            self._refused(error)

    def _history(self, count: str) -> None:
        limit = int(count) if count.isdecimal() else 20
        print_history(self._runner.run(self._thread.history(limit)))

    def _rewind(self, place: str) -> None:
        if not place:
            self._view.note("say to which version: /history lists them")
            return
        written = self._runner.run(self._rewound(place))
        self._view.note(
            f"back at {one_line(place, 80)}; version {written['version']} continues it ({written['status']})"
        )

    async def _rewound(self, place: str) -> Any:
        return await at_checkpoint(self._thread, place, self._thread.rewind)
