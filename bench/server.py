"""A server in a process of its own, as `clew serve` starts it, and what the system says of that process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2

_CLEW = (str(Path(sys.executable).with_name("clew")),)
_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """A running server. `ready_s` is the time from its start to the first SERVING of its health service."""

    target: str
    pid: int
    ready_s: float

    @property
    def cpu_s(self) -> float:
        """CPU time so far, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def threads_cpu_s(self) -> dict[int, float]:
        """CPU time so far by thread; the event loop's has the number of the process."""
        tasks = Path(f"/proc/{self.pid}/task")
        return {int(task.name): int((task / "schedstat").read_text().split()[0]) / 1e9 for task in tasks.iterdir()}

    @property
    def resident_mb(self) -> float:
        """Resident memory in MB."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="utf-8").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(folder: Path, storage: str, *, profile: Path | None = None) -> Iterator[Served]:
    """A server on the storage of this URL, with its log in the folder; it is stopped at the end.

    `profile`: it runs under the profiler, and leaves this file.
    """
    port_file = folder / "port"
    port_file.unlink(missing_ok=True)
    program = _CLEW if profile is None else (sys.executable, "-m", "bench.profiled", str(profile))
    options = ("--storage", storage, "--port", "0", "--port-file", str(port_file))
    command = [*program, "serve", "bench.served", *options]
    begin = time.perf_counter()
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        target = _ready(process, port_file, folder / "server.log")
        yield Served(target, process.pid, time.perf_counter() - begin)
    finally:
        process.terminate()
        process.wait(_PATIENCE_S)


def _ready(process: subprocess.Popen[bytes], port_file: Path, log: Path) -> str:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        if port_file.exists() and (port := port_file.read_text(encoding="utf-8").strip()):
            target = f"127.0.0.1:{port}"
            if _serves(target):
                return target
        time.sleep(0.005)
    raise RuntimeError(f"the server did not come up: {log.read_text(encoding='utf-8')}")


def _serves(target: str) -> bool:
    with grpc.insecure_channel(target) as channel:
        try:
            check = channel.unary_unary(
                "/grpc.health.v1.Health/Check",
                request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
                response_deserializer=health_pb2.HealthCheckResponse.FromString,
            )
            answer = check(health_pb2.HealthCheckRequest(), timeout=1)
        except grpc.RpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
