"""A process that writes versions to a file as fast as it can, and tells each one once it was acknowledged, and when.

`python writing_process.py PATH FULL|NORMAL`
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import cast

from clew_storage import StateChange, StorageUnavailable
from clew_storage.conformance.examples import KEY, a_grant, a_message, a_request, a_write
from clew_storage.sqlite import SqliteBackend
from clew_storage.sqlite.connections import Synchronous


async def write(path: Path, synchronous: Synchronous) -> None:
    backend = SqliteBackend(path, url=f"sqlite://{path}", synchronous=synchronous)
    await backend.open()
    grant = await a_grant(backend)
    head = await backend.threads.get_head(KEY)
    version = head.thread.head_version if head else 0
    try:
        while True:
            version += 1
            await backend.threads.append(
                a_write(
                    grant,
                    version,
                    messages=(a_message(version),),
                    request=a_request(version, version=version),
                    state=StateChange(appended={"all": (b"%d" % version,)}),
                )
            )
            print(version, time.monotonic_ns(), flush=True)
    except StorageUnavailable:
        await backend.close()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), cast("Synchronous", sys.argv[2])))
