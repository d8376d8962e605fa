"""Ids: which ones callers may choose, and how the engine's own are derived from versions (docs/decisions.md)."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any

from clew_engine.errors import IdInvalidError

MAX_ID_LENGTH = 128
# RFC 3986 pchar without "%": unreserved, sub-delims, ":" and "@".
_SEGMENT = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@]{1,128}")
_CHECKPOINT = re.compile(r"([0-9a-z]{16})\.([1-9][0-9]{0,17})")
_RUN = re.compile(r"([0-9a-z]{16})\.r([1-9][0-9]{0,17})")
_MESSAGE = re.compile(r"m([0-9]+)\.([0-9]+)", re.ASCII)
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def check_id(value: Any, field: str) -> str:
    """The id itself, when it is one URL path segment that needs no escaping."""
    if not isinstance(value, str):
        raise IdInvalidError(field, f"an id is text, not {type(value).__name__}")
    if not value:
        raise IdInvalidError(field, "an id is needed: 1 to 128 characters")
    if len(value) > MAX_ID_LENGTH:
        raise IdInvalidError(field, f"an id has at most {MAX_ID_LENGTH} characters, this one has {len(value)}")
    if value in (".", ".."):
        raise IdInvalidError(field, "an id is neither `.` nor `..`, which URLs and folders take for a place")
    if _SEGMENT.fullmatch(value) is None:
        raise IdInvalidError(
            field, "an id is one URL path segment that needs no escaping: letters, digits and -._~!$&'()*+,;=:@"
        )
    return value


def check_new_message_id(value: str, field: str) -> str:
    """The id itself, when a caller may give it to a message."""
    if _MESSAGE.fullmatch(value):
        raise IdInvalidError(
            field, "ids of the form m<digits>.<digits> are the engine's own; choose another, or leave it out"
        )
    return check_id(value, field)


def new_uid() -> str:
    """80 random bits as 16 characters: what tells one incarnation of a thread from another."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(16))


def checkpoint_id(uid: str, version: int) -> str:
    """The id of a thread's checkpoint; empty for version 0, which is none."""
    return f"{uid}.{version}" if version else ""


def checkpoint_version(uid: str, value: str) -> int | None:
    """The version that a checkpoint id names, or None when it is not one of this thread."""
    match = _CHECKPOINT.fullmatch(value)
    return int(match[2]) if match and match[1] == uid else None


def run_id(uid: str, run_version: int) -> str:
    """The id of the run whose first checkpoint has that version."""
    return f"{uid}.r{run_version}"


def run_version(uid: str, value: str) -> int | None:
    """The version that a run id names, or None when it is not one of this thread."""
    match = _RUN.fullmatch(value)
    return int(match[2]) if match and match[1] == uid else None


def approval_id(uid: str, version: int, number: int) -> str:
    """The id of the approval `number` (from 0) that checkpoint `version` asks for."""
    return f"{uid}.a{version}.{number}"


def message_id(version: int, number: int) -> str:
    """The id of message `number` (from 0) that checkpoint `version` writes; unique in its thread."""
    return f"m{version}.{number}"


def message_version(value: str) -> int | None:
    """The version that gave a message its id, or None for an id that its caller chose."""
    match = _MESSAGE.fullmatch(value)
    return int(match[1]) if match else None


def call_id(version: int, number: int) -> str:
    """The id of tool call `number` (from 0) that checkpoint `version` asks for; unique in its thread."""
    return f"call_{version}_{number}"


def request_hash(request_id: str) -> bytes:
    """What is stored of a request id: 16 bytes that say nothing of it."""
    return hashlib.blake2b(request_id.encode(), digest_size=16, person=b"clew-request").digest()


def idempotency_key(tenant: str, uid: str, run: str, call: str) -> str:
    """The key that every try of one tool call hands to the tool: the same after a crash, another one after a rewind."""
    joined = "\x00".join((tenant, uid, run, call)).encode()
    return hashlib.blake2b(joined, digest_size=16, person=b"clew-call").hexdigest()
