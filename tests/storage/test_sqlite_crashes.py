"""A process killed in the middle of writing, and a disk that fills up."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew_storage import Backend, Grant, StorageFull, open_storage
from clew_storage.conformance.examples import KEY, UID, a_grant, a_message, a_request, a_write

CYCLES = 100 if os.environ.get("CLEW_FAULTS") == "full" else 6

PROCESS = Path(__file__).parent / "writing_process.py"


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    acknowledged = 0
    for _ in range(CYCLES):
        acknowledged = max(acknowledged, _write_and_kill(path, random.randint(1, 60)))
        backend = open_storage(f"sqlite://{path}")
        await backend.open()
        head = await backend.threads.get_head(KEY)
        assert head is not None
        last = head.thread.head_version
        # One more may be there: committed, and killed before it could be told.
        assert acknowledged <= last
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=1 << 30, max_bytes=1 << 40)
        assert [entry.checkpoint.version for entry in log] == list(range(1, last + 1))
        assert [len(entry.messages) for entry in log] == [1] * last
        state = await backend.threads.get_state(KEY, version=None)
        assert state == {"all": b"[" + b",".join(b"%d" % version for version in range(1, last + 1)) + b"]"}
        assert await backend.threads.find_request(KEY, a_request(last).request_hash) is not None
        await backend.close()
    assert acknowledged > CYCLES


def _write_and_kill(path: Path, after: int) -> int:
    """Let a process write until it has told of so many versions; the last it told."""
    told = 0
    command = [sys.executable, str(PROCESS), str(path), "FULL"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(after):
            told = int(writer.stdout.readline().split()[0])
        writer.send_signal(signal.SIGKILL)
        # Whatever it told before it died counts too.
        for line in writer.stdout:
            told = int(line.split()[0]) if line.endswith("\n") else told
    return told


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "clew-test", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_disk_refuses_honestly_and_all_goes_on_when_there_is_space_again(small_disk: Path) -> None:
    backend = open_storage(f"sqlite://{small_disk}/clew.db")
    await backend.open()
    grant = await a_grant(backend)
    version = 0
    ballast = small_disk / "ballast"
    for _ in range(3):
        _fill(ballast, spare=150_000)
        version = await _write_until_full(backend, grant, version)
        assert len(await backend.messages.list_messages(KEY)) == version
        with pytest.raises(StorageFull):
            await backend.check()
        assert len(await backend.messages.list_messages(KEY)) == version
        ballast.unlink()
        await backend.check()
        await backend.threads.append(a_write(grant, version + 1, messages=(a_message(version + 1),)))
        version += 1
    await backend.close()
    again = open_storage(f"sqlite://{small_disk}/clew.db")
    await again.open()
    head = await again.threads.get_head(KEY)
    assert head is not None
    assert head.thread.head_version == version
    assert len(await again.messages.list_messages(KEY)) == version
    await again.close()


async def _write_until_full(backend: Backend, grant: Grant, version: int) -> int:
    """Append until the disk is full; the last version that was acknowledged."""
    while True:
        write = a_write(grant, version + 1, messages=(a_message(version + 1, body=os.urandom(5000)),))
        try:
            await backend.threads.append(write)
        except StorageFull:
            return version
        version += 1


def _fill(ballast: Path, *, spare: int) -> None:
    """Take the free space but for so many bytes."""
    disk = os.statvfs(ballast.parent)
    with ballast.open("ab") as file:
        file.write(bytes(max(disk.f_bavail * disk.f_frsize - spare, 0)))
