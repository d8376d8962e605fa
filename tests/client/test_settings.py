"""What a client is made with: nonsense is refused at once, and a token does not travel in clear unless that is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from clew import ArgumentInvalidError, Client


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"tls": "yes"}, "tls"),
        ({"target": 5}, "target"),
        ({"timeout": "x"}, "timeout"),
        ({"connect_timeout": -1}, "connect_timeout"),
        ({"rejoin_timeout": None}, "rejoin_timeout"),
        ({"token": 5}, "token"),
        ({"target": "example.org:443", "token": "t"}, "token"),
        ({"target": "dns:///example.org:443", "token": lambda: "t"}, "token"),
        ({"target": "[2001:db8::1]:443", "token": "t"}, "token"),
    ],
)
def test_nonsense_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    with pytest.raises(ArgumentInvalidError) as raised:
        Client(**given)
    assert raised.value.field == field


@pytest.mark.parametrize("target", ["localhost:1", "127.0.0.1:1", "[::1]:1", "unix:/tmp/clew.sock"])
def test_a_token_needs_no_encryption_on_this_machine(target: str) -> None:
    Client(target, token="t")


def test_a_token_goes_unencrypted_where_that_is_wanted() -> None:
    Client("example.org:443", token="t", insecure_token=True)
    Client("example.org:443", token="t", tls=True)
