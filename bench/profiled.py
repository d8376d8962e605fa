"""The measured server under Python's profiler, from one SIGUSR1 to the next: `python -m bench.profiled PROFILE serve …`."""

from __future__ import annotations

import cProfile
import signal
import sys
import time

from clew_server.cli import main as clew


def main() -> None:
    """Serve until it is told to stop, then leave the profile in the file."""
    path, *arguments = sys.argv[1:]
    sys.argv = ["clew", *arguments]
    # CPU time, so that waiting for the disk or for clients counts for nothing.
    profile = cProfile.Profile(time.thread_time)
    turns = iter((profile.enable, profile.disable))
    signal.signal(signal.SIGUSR1, lambda *_: next(turns)())
    try:
        clew()
    finally:
        profile.dump_stats(path)


if __name__ == "__main__":
    main()
