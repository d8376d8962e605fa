"""Redis beside a database: text across servers, states that are read often, and the values of the cache."""

from clew_storage.redis.beside import RedisBeside

__all__ = ["RedisBeside"]
