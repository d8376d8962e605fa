"""A real PgBouncer before a Postgres, as Debian has it: in transaction mode, with few connections to the database."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.privileges import without_root

# As many to the database, for however many come.
POOL = 4
_CONFIGURATION = """
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = 1000
# Each test has a schema of its own, and a connection to the database never forgets what it has seen of them.
server_lifetime = 30
# As docs/postgres.md has it: a database that was away is served through it as soon as without it.
server_login_retry = 1
log_connections = 0
log_disconnections = 0
log_stats = 0
"""


@contextmanager
def pooled(dsn: str, pool: int = POOL) -> Iterator[str]:
    """The DSN of the same database through a PgBouncer. Whoever asks is skipped, and listed as not run, where there is none."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed (apt-get install pgbouncer)")
    server = urlsplit(dsn)
    with tempfile.TemporaryDirectory(prefix="clew-pgbouncer-") as home:
        folder, port = Path(home), _free_port()
        folder.chmod(0o755)
        (folder / "users").write_text(f'"{server.username}" "{server.password or ""}"\n')
        configuration = folder / "pgbouncer.ini"
        configuration.write_text(
            _CONFIGURATION.format(
                host=server.hostname, port=server.port or 5432, own_port=port, folder=folder, pool=pool
            )
        )
        with _running(program, configuration):
            yield f"postgresql://{server.username}@127.0.0.1:{port}{server.path}"


@contextmanager
def _running(program: str, configuration: Path) -> Iterator[None]:
    # It refuses to run as root, and ends with the tests should they be killed.
    command = without_root("setpriv", "--pdeathsig", "TERM", program, str(configuration))
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = ""
        while "process up" not in said:
            line = process.stderr.readline()
            assert line, f"PgBouncer did not start: {said}"
            said += line
        yield
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
