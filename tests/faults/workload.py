"""What clients do while the process may die at any moment: every verb, on a few threads at once, with all that was acknowledged journaled."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.faults.journal import Journal
from tests.faults.recovery import answers_to, states_of
from tests.faults.stored import COPY
from tests.scenarios.sights import Turn
from tests.scenarios.world import Handle

PLANS = (
    "",
    "|fetch",
    "|fetch fetch",
    "|charge",
    "|fetch charge|fetch",
    "|refund",
    "|fetch refund|charge",
    "|pay",
    "|pay refund fetch",
)
# What a call may run into without anything being wrong: another driver was there first, or the table refuses it.
EXPECTED = frozenset(
    {
        "thread_suspended", "thread_busy", "thread_not_found", "thread_interrupted", "resume_invalid", "version_conflict",
        "checkpoint_not_found", "approval_not_found", "approval_already_decided", "target_exists", "cancelled",
        "run_not_found",
    }
)  # fmt: skip


class Workload:
    """Drivers on a few threads. `dead` says whether an error is what they end with, such as the death of the process; where others go on
    serving (`survives`), they meet such errors now and then and end when they are told to.
    """

    def __init__(
        self,
        thread: Callable[[str], Handle],
        journal: Journal,
        dice: random.Random,
        *,
        dead: Callable[[Exception], bool],
        survives: bool = False,
    ) -> None:
        self._thread = thread
        self._journal = journal
        self._dice = dice
        self._dead = dead
        self._survives = survives
        self._over = False
        self._numbers = itertools.count(dice.getrandbits(40))
        self.done = 0

    def stop(self) -> None:
        """Nothing new is begun."""
        self._over = True

    async def run(self, thread_ids: Sequence[str]) -> None:
        """Go on until every driver has met what `dead` looks for, or is told to stop."""
        async with asyncio.TaskGroup() as everyone:
            everyone.create_task(self._disturb(thread_ids))
            async with asyncio.TaskGroup() as drivers:
                for thread_id in thread_ids:
                    drivers.create_task(self._drive(thread_id))
            self.stop()

    async def _drive(self, thread_id: str) -> None:
        verbs = (self._turn, self._turn, self._turn, self._retry, self._rewind, self._rename, self._copy, self._delete)
        while not self._over and await self._try(self._dice.choice(verbs), thread_id):
            self.done += 1

    async def _disturb(self, thread_ids: Sequence[str]) -> None:
        """Cancels and deletes come from someone else, in the middle of whatever is going on."""
        verbs = (self._cancel, self._cancel, self._delete)
        while True:
            if self._over or not await self._try(self._dice.choice(verbs), self._dice.choice(thread_ids)):
                return
            # As often as a person would: not tied to anything that the drivers do.
            await asyncio.sleep(self._dice.uniform(0, 0.1))

    async def _try(self, verb: Callable[[Handle], Awaitable[None]], thread_id: str) -> bool:
        try:
            await verb(self._thread(thread_id))
        except Exception as error:
            if self._dead(error):
                return self._survives
            if getattr(error, "code", "") not in EXPECTED:
                raise
        return True

    def _fresh(self, what: str) -> str:
        return f"{what}-{next(self._numbers):x}"

    async def _turn(self, thread: Handle) -> None:
        text = self._fresh("turn") + self._dice.choice(PLANS)
        request = self._fresh("send")
        self._journal.sent[text] = thread.id
        self._journal.unanswered[request] = (thread.id, text)
        turn = await self._journal.follow(thread.id, thread.stream(text, request_id=request)).turn()
        self._journal.unanswered.pop(request, None)
        while turn.status == "suspended" and (approvals := await thread.approvals()):
            turn = await self._answer(thread, answers_to(approvals))

    async def _answer(self, thread: Handle, answers: dict[str, Any]) -> Turn:
        for approval, answer in answers.items():
            if answer is True and self._dice.random() < 0.3:
                answers[approval] = {"reject": "not today"}
            elif answer is not True and self._dice.random() < 0.3:
                answers[approval] = {"run_again": True}
                self._journal.run_again += 1
        states = states_of(answers) | {
            each: "rejected" for each, answer in answers.items() if answer == {"reject": "not today"}
        }
        stream = thread.stream_decide(answers, request_id=self._fresh("decide"))
        return await self._journal.follow(thread.id, stream, states).turn()

    async def _retry(self, thread: Handle) -> None:
        await self._journal.follow(thread.id, thread.stream_retry(request_id=self._fresh("retry"))).turn()

    async def _rewind(self, thread: Handle) -> None:
        history = await thread.history(10)
        if history:
            target, deletes = self._dice.choice(history)["id"], self._journal.deletes[thread.id]
            written = await thread.rewind(target, request_id=self._fresh("rewind"))
            self._journal.checkpoint(thread.id, written, deletes)

    async def _rename(self, thread: Handle) -> None:
        name = self._fresh("name")
        for uid in self._journal.uids(thread.id) & self._journal.names.keys():
            self._journal.names[uid].add(name)
        renamed = await thread.update(name=name, request_id=self._fresh("update"))
        # A thread that is made under the id after a delete is another one, and has no name.
        self._journal.rename(thread.id, renamed["thread_uid"], name)

    async def _copy(self, thread: Handle) -> None:
        await thread.copy(f"{COPY}{next(self._numbers):x}", request_id=self._fresh("copying"))

    async def _cancel(self, thread: Handle) -> None:
        deletes = self._journal.deletes[thread.id]
        self._journal.checkpoint(thread.id, await thread.cancel(), deletes)

    async def _delete(self, thread: Handle) -> None:
        if self._dice.random() < 0.5:
            return
        heard = self._journal.uids(thread.id)
        self._journal.deleting[thread.id] += 1
        existed = await thread.delete(request_id=self._fresh("delete"))
        # Those who were heard of before are gone. One that was made on the way may have been met by the delete, or have come after it.
        self._journal.perhaps_deleted |= self._journal.uids(thread.id)
        self._journal.deleting[thread.id] -= 1
        self._journal.deletes[thread.id] += 1
        if existed:
            self._journal.deleted |= heard
