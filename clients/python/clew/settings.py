"""How a client reaches its server, and how long it tries."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clew.errors import ArgumentInvalidError

DEFAULT_TARGET = "localhost:50051"
TARGET_VARIABLE = "CLEW_TARGET"
# The longest that a call may be told to take: 100 years. gRPC counts nanoseconds, and takes a deadline that it cannot hold for one that is over.
LONGEST_S = 3_155_760_000

Token = str | Callable[[], str]


@dataclass(frozen=True, slots=True)
class Tls:
    """Encryption. Everything is PEM; without `root_certificates` the system's are used, and a client's certificate needs its key."""

    root_certificates: bytes | None = None
    client_key: bytes | None = None
    client_certificate: bytes | None = None

    def __post_init__(self) -> None:
        if (self.client_key is None) != (self.client_certificate is None):
            raise ValueError("a client certificate and its key come together")


@dataclass(frozen=True, slots=True)
class Settings:
    """Times are seconds. `timeout` is for calls that answer once; streams have none unless they are given one."""

    target: str
    token: Token | None = None
    tls: Tls | None = None
    timeout: float = 30.0
    connect_timeout: float = 5.0
    rejoin_timeout: float = 60.0
    leave_timeout: float = 15.0
    silence_timeout: float = 60.0
    backoff: tuple[float, float] = (0.1, 2.0)
    options: Sequence[tuple[str, Any]] = ()


def default_target() -> str:
    """The target that the environment names, or the server on this machine."""
    return os.environ.get(TARGET_VARIABLE) or DEFAULT_TARGET


def check_settings(target: Any, token: Any, tls: Any, *, insecure_token: bool) -> None:
    """Raises ArgumentInvalidError, by the argument's name, for what no connection can be made with, or no safe one."""
    if not isinstance(target, str):
        raise _refused("target", f"HOST:PORT is due here, not {type(target).__name__}")
    if not isinstance(tls, bool | Tls):
        raise _refused("tls", f"True, False or a Tls is due here, not {tls!r}")
    if token is not None and not isinstance(token, str) and not callable(token):
        raise _refused("token", f"text or a function is due here, not {type(token).__name__}")
    if token is not None and not tls and not insecure_token and not _is_local(target):
        raise _refused(
            "token",
            f"without encryption anyone on the way to {target} can read it: give `tls=True`, or `insecure_token=True` to send it all the same",
        )


def check_times(**times: Any) -> None:
    """Raises ArgumentInvalidError, by the argument's name, for what is no number of seconds."""
    for name, value in times.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= LONGEST_S:
            raise _refused(name, f"a number of seconds, {LONGEST_S:,} at most, is due here, not {value!r}"[:200])


def _is_local(target: str) -> bool:
    """Whether nothing leaves this machine on the way to the target."""
    if target.startswith(("unix:", "unix-abstract:")):
        return True
    name = target.removeprefix("dns:").lstrip("/")
    host = name[1:].partition("]")[0] if name.startswith("[") else name.rpartition(":")[0] or name
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _refused(field: str, text: str) -> ArgumentInvalidError:
    return ArgumentInvalidError(f"{field}: {text}", metadata={"field": field})
