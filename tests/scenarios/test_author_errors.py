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


@pytest.mark.parametrize("error", [RuntimeError("it is broken"), ClewError("it is broken")], ids=["any", "Clew's"])
async def test_what_a_hook_raises_is_in_the_log_with_its_traceback(
    here: World, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    here.agent("ok", hooks=[Hook(error)])
    assert (await (await here.thread()).send()).failure == "tool_failed"
    expect_traceback(caplog)


async def test_what_a_model_raises_is_in_the_log_with_its_traceback(
    here: World, caplog: pytest.LogCaptureFixture
) -> None:
    here.agent(RuntimeError("it is broken"))
    assert (await (await here.thread()).send()).failure == "model_rejected"
    expect_traceback(caplog)


def expect_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """One error, with where it was raised."""
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "Traceback (most recent call last)" in record.getMessage()
    assert "it is broken" in record.getMessage()


async def test_a_rewind_of_a_thread_that_is_not_there_names_the_checkpoint_that_was_asked_for(world: World) -> None:
    thread = await world.thread("none")
    with refused("checkpoint_not_found", checkpoint_id="0000000000000000.1"):
        await thread.rewind("0000000000000000.1")
