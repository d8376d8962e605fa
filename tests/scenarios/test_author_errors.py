"""What an app's own code raises is told to its caller, and logged with where it was raised."""

from __future__ import annotations

import pytest

from tests.scenarios.world import World, refused


class Hook:
    """Raises before each step."""

    def before_step(self, _: object) -> None:
        raise RuntimeError("the hook is broken")


@pytest.mark.parametrize("what", ["hook", "model"])
async def test_it_is_in_the_log_with_its_traceback(here: World, caplog: pytest.LogCaptureFixture, what: str) -> None:
    if what == "hook":
        here.agent("ok", hooks=[Hook()])
    else:
        here.agent(RuntimeError("the model is broken"))
    turn = await (await here.thread()).send()
    assert turn.failure in ("tool_failed", "model_rejected")
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "Traceback (most recent call last)" in record.getMessage()
    assert f"the {what} is broken" in record.getMessage()


async def test_a_rewind_of_a_thread_that_is_not_there_names_the_checkpoint_that_was_asked_for(world: World) -> None:
    thread = await world.thread("none")
    with refused("checkpoint_not_found", checkpoint_id="0000000000000000.1"):
        await thread.rewind("0000000000000000.1")
