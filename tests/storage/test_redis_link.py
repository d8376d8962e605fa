"""How Redis is reached: what may be given for it, who closes it, and what is said when it is away."""

from __future__ import annotations

import logging
from pathlib import Path
from uuid import uuid4

import pytest
import trustme
from redis.asyncio import ConnectionPool, Redis

from clew_engine import Storage
from clew_engine.errors import ArgumentInvalidError, StorageFullError, StorageUnavailableError
from clew_storage import RedisSettings, StorageRefused, open_redis
from tests.support.redis import KeptRedis, a_redis
from tests.support.waiting import until


async def use(redis: object) -> Storage:
    """A storage that has put a value into Redis, and is closed."""
    storage = Storage("memory://", redis=redis)
    async with storage:
        await storage.cache.put("n", "k", {"a": 1})
        assert await storage.cache.get("n", "k") == {"a": 1}
    return storage


async def fill(storage: Storage) -> None:
    """Put 10 MB into the cache."""
    for number in range(20):
        await storage.cache.put("n", f"{number}", "x" * 500_000)


@pytest.mark.parametrize("settings", [False, True], ids=["as it is", "in settings"])
async def test_a_url_a_client_and_a_pool_all_do(redis_url: str, *, settings: bool) -> None:
    client, pool = Redis.from_url(redis_url), ConnectionPool.from_url(redis_url)
    for given in (redis_url, client, pool):
        await use(RedisSettings(given, prefix=uuid4().hex) if settings else given)
    await client.aclose()
    await pool.aclose()


async def test_what_was_given_stays_open_for_its_owner(redis_url: str) -> None:
    client, pool = Redis.from_url(redis_url), ConnectionPool.from_url(redis_url)
    for given, owned in ((client, client.connection_pool), (pool, pool)):
        await use(RedisSettings(given, prefix=uuid4().hex))
        assert any(connection.is_connected for connection in owned._available_connections)
    await client.aclose()
    await pool.aclose()


async def test_what_was_given_is_closed_where_the_storage_is_to_release_it(redis_url: str) -> None:
    client, pool = Redis.from_url(redis_url), ConnectionPool.from_url(redis_url)
    for given, owned in ((client, client.connection_pool), (pool, pool)):
        await use(RedisSettings(given, prefix=uuid4().hex, release_resources=True))
        assert not any(connection.is_connected for connection in owned._available_connections)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (5, "a URL"),
        ("http://127.0.0.1", "redis://HOST:PORT"),
        ("127.0.0.1", "redis://HOST:PORT"),
        (Redis(decode_responses=True), "without decode_responses"),
    ],
)
def test_what_is_no_redis_is_refused_at_once(given: object, why: str) -> None:
    with pytest.raises(ArgumentInvalidError, match=why):
        Storage("memory://", redis=given)


@pytest.mark.parametrize("password", ["geh/eim", "geh?eim", "geh#eim", "12/geheim", "geh[eim"])
def test_a_password_that_is_not_escaped_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(StorageRefused, match="write / as %2F") as refused:
        open_redis(f"redis://:{password}@127.0.0.1/0")
    assert "geh" not in str(refused.value)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(RedisSettings("redis://:secret@127.0.0.1/0"))


async def test_a_redis_that_cannot_be_reached_is_no_reason_not_to_open(
    kept_redis: KeptRedis, caplog: pytest.LogCaptureFixture
) -> None:
    kept_redis.kill()
    url = kept_redis.url.replace("redis://", "redis://:secret@")
    with caplog.at_level(logging.WARNING):
        async with Storage("memory://", redis=url) as storage:
            assert storage.beside is not None
            assert not storage.beside.is_up
            with pytest.raises(
                StorageUnavailableError, match=rf"Redis at 127.0.0.1:{kept_redis.port}.*start it"
            ) as away:
                await storage.cache.put("n", "k", 1)
    assert "secret" not in caplog.text + str(away.value)
    assert [record.message.partition(" (")[0] for record in caplog.records] == [
        f"Redis at 127.0.0.1:{kept_redis.port} is away"
    ]


async def test_the_cache_works_again_when_redis_is_back(
    kept_redis: KeptRedis, caplog: pytest.LogCaptureFixture
) -> None:
    async with Storage("memory://", redis=kept_redis.url) as storage:
        beside = storage.beside
        assert beside is not None
        await storage.cache.put("n", "k", 1)
        kept_redis.kill()
        for _ in range(2):
            with pytest.raises(StorageUnavailableError):
                await storage.cache.get("n", "k")
        kept_redis.start()
        await until(lambda: beside.is_up)
        assert await storage.cache.get("n", "k") is None
        await storage.cache.put("n", "k", 2)
        assert await storage.cache.get("n", "k") == 2
    assert [word for record in caplog.records for word in ("away", "back") if f" is {word}" in record.message] == [
        "away",
        "back",
    ]


async def test_a_redis_that_is_known_to_be_away_holds_no_call_up(
    kept_redis: KeptRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_storage.redis.link._ASK_EVERY_S", 3600)
    async with Storage("memory://", redis=kept_redis.url) as storage:
        kept_redis.kill()
        with pytest.raises(StorageUnavailableError):
            await storage.cache.get("n", "k")
        kept_redis.start()
        # It is back, and nobody has asked since: so this call does not ask, where a silent one would have let it wait.
        with pytest.raises(StorageUnavailableError, match="does not answer"):
            await storage.cache.get("n", "k")


async def test_a_full_redis_is_said_to_be_full() -> None:
    with a_redis("--maxmemory", "3mb") as full:
        async with Storage("memory://", redis=full.url) as storage:
            with pytest.raises(StorageFullError, match="is full; free some room"):
                await fill(storage)


def open_to_all(folder: Path) -> None:
    """Redis runs as another user."""
    for path in (folder, *folder.iterdir(), *folder.parents[:3]):
        path.chmod(path.stat().st_mode | 0o055)


async def test_tls_a_password_and_another_database_are_in_the_url(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    open_to_all(tmp_path)
    with a_redis() as redis, redis.client() as client:
        client.config_set("tls-cert-file", str(tmp_path / "cert.pem"))
        client.config_set("tls-key-file", str(tmp_path / "key.pem"))
        client.config_set("tls-ca-cert-file", str(tmp_path / "ca.pem"))
        client.config_set("tls-auth-clients", "no")
        client.config_set("tls-port", str(redis.port + 1))
        client.config_set("requirepass", "secret")
        place = f"localhost:{redis.port + 1}/3?ssl_ca_certs={tmp_path}/ca.pem"
        await use(f"rediss://:secret@{place}")
        client.auth("secret")
        assert client.info("keyspace").keys() == {"db3"}
        with pytest.raises(StorageUnavailableError, match="does not answer"):
            await use(f"rediss://:wrong@{place}")
