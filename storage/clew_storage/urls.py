"""URLs of databases on the network, as people paste them."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import SplitResult, parse_qsl, urlsplit

from clew_storage.errors import StorageRefused


def parts_of(url: str, place: str) -> SplitResult:
    """The parts of a URL. Raises `StorageRefused`, which tells none of it, where a password is not escaped.

    Such a password would end up in the port, the path or an option, which are shown.
    """
    with suppress(ValueError):
        parts = urlsplit(url)
        options = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
        if not parts.fragment and not any("@" in text for text in (parts.path, *options)):
            return parts
    raise StorageRefused(
        f"the URL of {place} cannot be read: in its user, its password and the name of a database write / as %2F, ? as %3F, "
        "# as %23, @ as %40, [ as %5B, ] as %5D, : as %3A and % as %25"
    )
