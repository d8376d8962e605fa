"""What an app's own code raises is told to its caller, and logged with where it was raised."""

from __future__ import annotations

import pytest

from clew_engine import ClewError
from tests.scenarios.world import World, refused


class Hook:
    """Raises before each step."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def before_step(self, _: object) -> None:
        raise self._error


@pytest.mark.parametrize("what", ["hook", "hook with an error of Clew's", "model"])
async def test_it_is_in_the_log_with_its_traceback(here: World, caplog: pytest.LogCaptureFixture, what: str) -> None:
    if what == "hook":
        here.agent("ok", hooks=[Hook(RuntimeError("the hook is broken"))])
    elif what.startswith("hook"):
        here.agent("ok", hooks=[Hook(ClewError("the hook is broken"))])
    else:
        here.agent(RuntimeError("the model is broken"))
    turn = await (await here.thread()).send()
    assert turn.failure in ("tool_failed", "model_rejected")
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "Traceback (most recent call last)" in record.getMessage()
    assert f"the {what.partition(' ')[0]} is broken" in record.getMessage()


async def test_a_rewind_of_a_thread_that_is_not_there_names_the_checkpoint_that_was_asked_for(world: World) -> None:
    thread = await world.thread("none")
    with refused("checkpoint_not_found", checkpoint_id="0000000000000000.1"):
        await thread.rewind("0000000000000000.1")
