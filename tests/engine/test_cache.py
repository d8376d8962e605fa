"""The cache of warm threads: at one very version, bounded by bytes, and out of it while it is used."""

from __future__ import annotations

from clew_engine.cache import ThreadCache
from clew_engine.transcripts import Transcript
from clew_storage import ThreadKey


def key(name: str = "t") -> ThreadKey:
    """A thread."""
    return ThreadKey("", name)


def kept(cache: ThreadCache, name: str = "t", version: int = 1, size: int = 0) -> Transcript:
    """A thread that was put there."""
    transcript = Transcript((), size)
    cache.put(key(name), "uid", version, transcript, {"a": b"1"})
    return transcript


def test_what_is_taken_is_what_was_put_and_is_out_of_it_then() -> None:
    cache = ThreadCache(1 << 20)
    transcript = kept(cache)
    assert cache.take(key(), "uid", 1) == (transcript, {"a": b"1"})
    assert cache.take(key(), "uid", 1) is None
    assert (len(cache), cache.bytes) == (0, 0)


def test_another_version_or_incarnation_is_dropped() -> None:
    cache = ThreadCache(1 << 20)
    for uid, version in (("uid", 2), ("other", 1)):
        kept(cache)
        assert cache.take(key(), uid, version) is None
        assert (len(cache), cache.bytes) == (0, 0)


def test_the_least_recently_used_go_first() -> None:
    cache = ThreadCache(3 * 2010)
    for name in ("a", "b", "c"):
        kept(cache, name)
    taken = cache.take(key("a"), "uid", 1)
    assert taken is not None
    cache.put(key("a"), "uid", 1, *taken)
    kept(cache, "d")
    assert cache.take(key("b"), "uid", 1) is None
    assert cache.take(key("a"), "uid", 1) is not None
    assert cache.take(key("d"), "uid", 1) is not None


def test_a_thread_larger_than_the_cache_is_not_kept() -> None:
    cache = ThreadCache(10_000)
    kept(cache, "small")
    kept(cache, "large", size=1 << 20)
    assert cache.bytes <= 10_000
    assert cache.take(key("large"), "uid", 1) is None


def test_putting_again_counts_once() -> None:
    cache = ThreadCache(1 << 20)
    kept(cache)
    once = cache.bytes
    kept(cache, version=2)
    assert (len(cache), cache.bytes) == (1, once)
    cache.drop(key())
    cache.drop(key())
    assert (len(cache), cache.bytes) == (0, 0)
