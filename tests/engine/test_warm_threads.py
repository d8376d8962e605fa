"""Warm threads are kept at one very version, bounded by bytes, and out of it while it is used."""

from __future__ import annotations

from clew_engine.transcripts import Transcript
from clew_engine.warm_threads import Mark, WarmThreads
from clew_storage import ThreadKey


def key(name: str = "t") -> ThreadKey:
    """A thread."""
    return ThreadKey("", name)


def mark(version: int = 1) -> Mark:
    """A content of the thread."""
    return Mark("uid", 7, version)


def kept(warm: WarmThreads, name: str = "t", version: int = 1, size: int = 0) -> Transcript:
    """A thread that was put there."""
    transcript = Transcript((), size)
    warm.put(key(name), mark(version), transcript, {"a": b"1"})
    return transcript


def test_what_is_taken_is_what_was_put_and_is_out_of_it_then() -> None:
    warm = WarmThreads(1 << 20)
    transcript = kept(warm)
    assert warm.take(key(), mark()) == (transcript, {"a": b"1"})
    assert warm.take(key(), mark()) is None
    assert (len(warm), warm.bytes) == (0, 0)


def test_another_version_epoch_or_incarnation_is_dropped() -> None:
    warm = WarmThreads(1 << 20)
    for other in (Mark("uid", 7, 2), Mark("uid", 8, 1), Mark("other", 7, 1)):
        kept(warm)
        assert warm.take(key(), other) is None
        assert (len(warm), warm.bytes) == (0, 0)


def test_the_least_recently_used_go_first() -> None:
    warm = WarmThreads(3 * 2010)
    for name in ("a", "b", "c"):
        kept(warm, name)
    taken = warm.take(key("a"), mark())
    assert taken is not None
    warm.put(key("a"), mark(), *taken)
    kept(warm, "d")
    assert warm.take(key("b"), mark()) is None
    assert warm.take(key("a"), mark()) is not None
    assert warm.take(key("d"), mark()) is not None


def test_a_thread_larger_than_the_cache_is_not_kept() -> None:
    warm = WarmThreads(10_000)
    kept(warm, "small")
    kept(warm, "large", size=1 << 20)
    assert warm.bytes <= 10_000
    assert warm.take(key("large"), mark()) is None


def test_putting_again_counts_once() -> None:
    warm = WarmThreads(1 << 20)
    kept(warm)
    once = warm.bytes
    kept(warm, version=2)
    assert (len(warm), warm.bytes) == (1, once)
    warm.drop(key())
    warm.drop(key())
    assert (len(warm), warm.bytes) == (0, 0)
