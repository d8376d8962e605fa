"""The Python of the page about Redis runs, and its table has the defaults as they are."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from clew_engine import Storage
from clew_storage import RedisSettings
from tests.docs.snippets import ROOT, snippets

PAGE = (ROOT / "docs/redis.md").read_text(encoding="utf-8")


async def test_every_way_to_give_redis_is_taken() -> None:
    (code,) = snippets("docs/redis.md", "python")
    made: list[Storage] = []

    def storage(*arguments: Any, **options: Any) -> None:
        made.append(Storage(*arguments, **options))

    imports, _, calls = code.replace("postgresql://…", "postgresql://ada@localhost/shop").partition("\n\n")
    names: dict[str, Any] = {"client": Redis()}
    exec(imports, names)
    assert names["Storage"] is Storage
    exec(calls, {**names, "Storage": storage})
    assert [each.exchange is not None for each in made] == [True] * 3
    for each in made:
        await each.close()


def test_the_table_has_the_defaults() -> None:
    settings = RedisSettings("redis://")
    for name in ("prefix", "cache_ttl", "large_state", "patience"):
        (row,) = [
            line for line in PAGE.splitlines() if line.startswith("| `") and f"`{name}`" in line.partition(" | ")[0]
        ]
        value = getattr(settings, name)
        told = f"`{value}`" if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else f"{value}"
        assert row.endswith(f"| {told} |"), row
