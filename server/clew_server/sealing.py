"""Snapshots sealed for callers to carry (AES-256-GCM): only this server's keys open them, unaltered and for the same tenant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew_engine.errors import ResumeInvalidError, StateTooLargeError
from clew_server.rpc.wire.scalars import VALUE_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
# A sealed snapshot: this, the length of the app's name, the name, a nonce, and what is sealed with its tag. What stands before the
# nonce is bound to the seal, and so is the tenant, which is not in it.
_MARK = b"clew\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16


class Seals:
    """Seals with the first key, opens with any; without keys with one that lives as long as this object."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self.lasting = bool(keys)
        self._keys = tuple(keys) or (os.urandom(KEY_BYTES),)

    def seal(self, app: str, tenant: str, snapshot: bytes) -> bytes:
        """The snapshot of an app's run, sealed for a tenant. Raises StateTooLargeError over what one value on the wire may weigh."""
        name = app.encode()
        head = _MARK + bytes((len(name),)) + name
        size = len(head) + _NONCE_BYTES + len(snapshot) + _TAG_BYTES
        if size > VALUE_BYTES:
            raise StateTooLargeError("the snapshot", size, VALUE_BYTES, "snapshot")
        nonce = os.urandom(_NONCE_BYTES)
        return head + nonce + _cipher(self._keys[0]).encrypt(nonce, snapshot, _bound(head, tenant))

    def open(self, tenant: str, sealed: bytes) -> tuple[str, bytes]:
        """The app and the snapshot. Raises ResumeInvalidError, which says nothing more, for what these keys did not seal for the tenant."""
        start = len(_MARK) + 1
        if len(sealed) > start and sealed.startswith(_MARK):
            end = start + sealed[start - 1]
            head, nonce, rest = sealed[:end], sealed[end : end + _NONCE_BYTES], sealed[end + _NONCE_BYTES :]
            for key in self._keys if len(rest) >= _TAG_BYTES else ():
                opened = _opened(key, nonce, rest, _bound(head, tenant))
                if opened is not None:
                    return head[start:].decode(), opened
        raise ResumeInvalidError("this server sealed no such snapshot")


def _bound(head: bytes, tenant: str) -> bytes:
    return head + tenant.encode()


def _opened(key: bytes, nonce: bytes, sealed: bytes, bound: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see `_cipher`

    try:
        return _cipher(key).decrypt(nonce, sealed, bound)
    except InvalidTag:
        return None


def _cipher(key: bytes) -> AESGCM:
    # Only runs without a thread need the library: it is loaded with the first.
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    return AESGCM(key)
