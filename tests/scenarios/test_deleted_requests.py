"""A rewind to where people were asked about calls, when the message that asked for the calls is gone: nobody is asked, and no call runs."""

from __future__ import annotations

import pytest

from tests.scenarios.checks import check_not_wedged, outcomes
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle, World, head_of, refused


class Asked:
    """A thread whose message that asked for two gated calls was deleted after they were decided, or given up."""

    def __init__(self) -> None:
        self.ran = 0

    def refund(self, amount: int) -> str:
        """Refund."""
        self.ran += 1
        return f"refunded {amount}"

    async def thread(self, world: World, end: str) -> tuple[Handle, str, list[str]]:
        """The thread, the checkpoint that asked, and its approvals."""

        def refund(amount: int) -> str:
            return self.refund(amount)

        calls = [ask("refund", amount=1), ask("refund", amount=2)]
        self.model = world.agent(calls, "ok", tools=[refund], approve=["refund"])
        thread = await world.thread()
        approvals = (await thread.send("hello")).approvals
        checkpoint = (await head_of(thread))["id"]
        if end == "approved":
            await thread.decide(dict.fromkeys(approvals, True))
        elif end == "half decided":
            await thread.decide({approvals[0]: True})
            checkpoint = (await head_of(thread))["id"]
            await thread.cancel()
        else:
            await thread.cancel()
        request = next(each["id"] for each in await thread.messages() if each["content"][0]["type"] == "tool_call")
        await thread.delete_message(request)
        return thread, checkpoint, approvals


ENDS = pytest.mark.parametrize("end", ["approved", "half decided", "cancelled"])


@ENDS
async def test_a_rewind_asks_nobody_and_a_retry_asks_the_model(world: World, end: str) -> None:
    asked = Asked()
    thread, checkpoint, approvals = await asked.thread(world, end)
    ran = asked.ran
    await thread.rewind(checkpoint)
    head = await head_of(thread)
    assert (head["status"], head["failure_code"]) == ("failed", "rewound")
    assert await thread.approvals() == []
    with pytest.raises(Exception, match=r"void|before") as refusal:
        await thread.decide({approvals[1]: True})
    assert refusal.value.code in ("resume_invalid", "approval_already_decided")  # type: ignore[attr-defined]
    assert (await thread.retry()).text == "ok"
    assert asked.model.heard() == [("user", "hello")]
    assert asked.ran == ran
    assert await outcomes(thread) == []


@ENDS
async def test_a_copy_of_that_checkpoint_asks_nobody_either(world: World, end: str) -> None:
    asked = Asked()
    thread, checkpoint, _ = await asked.thread(world, end)
    ran = asked.ran
    copy = await thread.copy("other", checkpoint)
    assert await copy.approvals() == []
    assert (await copy.info())["status"] == "failed"
    await check_not_wedged(copy)
    assert asked.ran == ran


async def test_a_new_turn_after_such_a_rewind_is_a_turn(world: World) -> None:
    thread, checkpoint, _ = await Asked().thread(world, "approved")
    await thread.rewind(checkpoint)
    with refused("resume_invalid"):
        await thread.resume("yes")
    assert (await thread.send("again")).status == "completed"
    await outcomes(thread)


async def test_another_message_that_is_deleted_takes_no_question_away(world: World) -> None:
    ran: list[int] = []

    def refund(amount: int) -> str:
        ran.append(amount)
        return "refunded"

    world.agent(ask("refund", amount=1), "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    (approval,) = (await thread.send("hello")).approvals
    checkpoint = (await head_of(thread))["id"]
    await thread.decide({approval: {"reject": "no"}})
    await thread.delete_message((await thread.messages())[0]["id"])
    await thread.rewind(checkpoint)
    (anew,) = await thread.approvals()
    assert (await thread.decide({anew["id"]: True})).status == "completed"
    assert ran == [1]
