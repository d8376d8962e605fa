"""Requests: what is remembered of a mutation, so that it is done once."""

from __future__ import annotations

from msgspec import Struct


class RequestRecord(Struct, frozen=True):
    """A committed mutation, kept for 24 h so that the same request finds its first outcome.

    `request_hash` and `body_digest` are 16 bytes each. `version` is the first checkpoint that the mutation wrote (0:
    none), `uid` the incarnation it was written to; `reply` is the engine's JSON for mutations whose outcome is not in
    the log.
    """

    request_hash: bytes
    body_digest: bytes
    verb: str
    uid: str
    version: int
    created_at_ms: int
    reply: bytes = b""
