"""Whose call it is."""

from __future__ import annotations

from typing import Any


def tenant_of(context: Any) -> str:
    """The tenant that the call's credential belongs to; empty where the server asks for none."""
    return ""
