"""Metadata is matched as JSON has it, however a value is written."""

from __future__ import annotations

import json
from itertools import product

import pytest

from clew_storage.thread_filters import metadata_has

NUMBERS = (
    *("0", "-0", "0.0", "0e5", "5", "5.0", "0.5e1", "50e-1", "-5", "15", "2500", "2.5e3", "25E2", "2500.00"),
    *(
        "9007199254740993",
        "9007199254740992",
        "9007199254740992.0",
        "1e400",
        "-1e400",
        "1e22",
        "10000000000000000000000",
        "0.1",
    ),
)


@pytest.mark.parametrize(("held", "wanted"), list(product(NUMBERS, NUMBERS)))
def test_numbers_are_equal_by_their_value(held: str, wanted: str) -> None:
    found = metadata_has(f'{{"other": "x", "n": {held}}}'.encode(), f'{{"n":{wanted}}}'.encode())
    assert found is (json.loads(held) == json.loads(wanted))


def test_a_number_is_neither_its_text_nor_a_boolean() -> None:
    assert not metadata_has(b'{"n":"1"}', b'{"n":1}')
    assert not metadata_has(b'{"n":true}', b'{"n":1}')
    assert not metadata_has(b'{"n":1}', b'{"n":true}')
