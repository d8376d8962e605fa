"""Deaths at named points between a request and its reply: `place:number`, put into a process under test by its environment.

`step:n` dies before the n-th callback of the event loop, which is every await there is. The others die at the n-th of their kind:
`append-before`, `append-after` (the port's append), `commit-before`, `commit-inside`, `commit-after` (the transaction on its own thread).
Each process counts from its first request.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from clew_storage import Write, Written
from clew_storage.sqlite import group_commit
from clew_storage.sqlite.threads import SqliteThreads

DIE = "CLEW_FAULTS_DIE"
PLACES = ("append-before", "append-after", "commit-before", "commit-inside", "commit-after")


def die() -> None:
    """End now, as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


class _Counted:
    def __init__(self, spec: str) -> None:
        self._place, _, number = spec.partition(":")
        self._number = int(number)
        self._seen: Counter[str] = Counter()
        self.armed = False

    def at(self, place: str) -> None:
        if self.armed and place == self._place:
            self._seen[place] += 1
            if self._seen[place] == self._number:
                die()

    def count(self) -> int:
        return self._seen[self._place]


_counted = _Counted("never:0")


def arm() -> None:
    """The first request is here: count from now."""
    _counted.armed = True


def steps() -> int:
    """How often the place that the environment names was passed."""
    return _counted.count()


def install() -> None:
    """Put the death that the environment names into this process."""
    global _counted  # noqa: PLW0603 - one death a process
    spec = os.environ.get(DIE, "")
    if not spec:
        return
    _counted = _Counted(spec)
    if spec.startswith("step:"):
        _die_in_the_loop()
    elif spec.startswith("append-"):
        _die_at_appends()
    else:
        _die_in_commits()


def _die_in_the_loop() -> None:
    run: Callable[[Any], None] = asyncio.Handle._run

    def counted(self: Any) -> None:
        _counted.at("step")
        run(self)

    asyncio.Handle._run = counted  # type: ignore[method-assign]
    asyncio.TimerHandle._run = counted  # type: ignore[method-assign]


def _die_at_appends() -> None:
    append = SqliteThreads.append

    async def counted(self: SqliteThreads, write: Write) -> Written:
        _counted.at("append-before")
        written = await append(self, write)
        _counted.at("append-after")
        return written

    SqliteThreads.append = counted  # type: ignore[method-assign]


def _die_in_commits() -> None:
    commit = group_commit._commit_together

    def inside(connection: Any) -> None:
        _counted.at("commit-inside")

    def counted(connection: Any, steps: Sequence[group_commit.Step[Any]]) -> list[Any]:
        _counted.at("commit-before")
        outcomes = commit(connection, [*steps, inside])
        _counted.at("commit-after")
        return outcomes[:-1]

    group_commit._commit_together = counted
