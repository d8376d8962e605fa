"""How a client reaches its server, and how long it tries."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

DEFAULT_TARGET = "localhost:50051"
TARGET_VARIABLE = "CLEW_TARGET"

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
