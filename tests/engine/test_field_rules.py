"""Rules of the fields that callers fill in hold in process as they do over gRPC."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clew_engine import Choice, ClewError, Decision, RunOptions
from clew_engine.commands.decide import check_decisions
from clew_engine.errors import InvalidError, StateInvalidError
from clew_engine.field_rules import check_metadata, check_text_size
from clew_engine.options import Mutation, NewThread

BROKEN: dict[str, tuple[str, Callable[[], object]]] = {
    "a user id over 256 bytes": ("user_id", lambda: NewThread(user_id="é" * 129)),
    "a user id with NUL": ("user_id", lambda: NewThread(user_id="a\0b")),
    "a user id with half a surrogate": ("user_id", lambda: NewThread(user_id="\ud800")),
    "a name over 1 KiB": ("name", lambda: NewThread(name="n" * 1025)),
    "metadata that is no object": ("metadata_json", lambda: NewThread(metadata=b"[]")),
    "metadata over 64 KiB": ("metadata_json", lambda: check_metadata(b'{"a":"' + b"x" * (64 << 10) + b'"}')),
    "an actor over 256 bytes": ("actor", lambda: RunOptions(actor="a" * 257)),
    "a negative wait": ("busy_timeout", lambda: RunOptions(busy_timeout_s=-1)),
    "a wait that is no number": ("busy_timeout", lambda: RunOptions(busy_timeout_s=float("nan"))),
    "a wait over an hour": ("busy_timeout", lambda: RunOptions(busy_timeout_s=3601)),
    "a negative version": ("expected_version", lambda: Mutation(expected_version=-1)),
    "a reason over 4 KiB": (
        "decisions.reason",
        lambda: check_decisions([Decision("a", Choice.REJECT, reason="r" * 4097)]),
    ),
    "arguments that are no object": (
        "decisions.approve.arguments_json",
        lambda: check_decisions([Decision("a", Choice.APPROVE, arguments="[1]")]),
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_field_that_breaks_its_rule_is_refused_by_its_name(rule: str) -> None:
    field, make = BROKEN[rule]
    with pytest.raises(InvalidError) as refused:
        make()
    assert refused.value.field == field


def test_what_is_just_within_the_limits_is_taken() -> None:
    NewThread(user_id="é" * 128, name="n" * 1024, metadata=b"{}")
    RunOptions(actor="a" * 256, busy_timeout_s=3600)
    Mutation(expected_version=0)
    check_text_size("", "field", 0)


def test_metadata_that_is_no_json_is_refused_as_state_is() -> None:
    with pytest.raises(StateInvalidError):
        check_metadata(b'{"a": NaN}')


def test_every_broken_rule_is_one_of_the_product_s_errors() -> None:
    assert issubclass(InvalidError, ClewError)
