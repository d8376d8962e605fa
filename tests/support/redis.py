"""A real Redis for the tests: the machine's `redis-server`, started when first asked for, or the one that CLEW_TEST_REDIS names."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from clew_storage import Backend, open_storage
from tests.support.privileges import without_root

_BINARY = shutil.which("redis-server")
_STARTED_S = 20


class KeptRedis:
    """A server of the tests' own, which may be killed, paused and started again. It keeps nothing on disk."""

    def __init__(self, *options: str) -> None:
        if _BINARY is None:
            pytest.skip("there is no redis-server on this machine")
        self._options = options
        self._folder = Path(tempfile.mkdtemp(prefix="clew-redis-"))
        self._folder.chmod(0o777)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._child: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, empty, and wait until it answers."""
        assert _BINARY is not None
        self._child = subprocess.Popen(
            without_root(
                *(_BINARY, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)),
                *("--save", "", "--appendonly", "no", "--loglevel", "warning", *self._options),
            ),
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        with self.client() as client:
            until = time.monotonic() + _STARTED_S
            while True:
                try:
                    client.ping()
                except RedisError:
                    assert time.monotonic() < until, "the test's Redis did not start"
                    time.sleep(0.01)
                else:
                    return

    @contextmanager
    def client(self) -> Iterator[Redis]:
        """A client for the test itself."""
        with Redis(port=self.port, socket_timeout=5) as client:
            yield client

    def kill(self) -> None:
        """`kill -9`, and wait until it is dead."""
        assert self._child is not None
        self._child.send_signal(signal.SIGCONT)
        self._child.kill()
        self._child.wait(timeout=30)

    def pause(self) -> None:
        """It answers nothing any more, and its connections stay."""
        assert self._child is not None
        self._child.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """After a pause."""
        assert self._child is not None
        self._child.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, with everything that it had."""
        self.kill()
        shutil.rmtree(self._folder)


def as_shared(url: str) -> Backend:
    """A database that counts as one of several servers, whose large states are kept in Redis."""
    backend = open_storage(url)
    backend.shared = True
    return backend


@contextmanager
def a_redis(*options: str) -> Iterator[KeptRedis]:
    """A server of one's own; options as on the command line of `redis-server`."""
    server = KeptRedis(*options)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def some_redis() -> Iterator[str]:
    """The URL of a server that is shared with other tests: each takes a prefix of its own."""
    if named := os.environ.get("CLEW_TEST_REDIS"):
        yield named
        return
    with a_redis() as server:
        yield server.url
