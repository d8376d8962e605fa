"""The goals of the design's performance page that the figures here are held to, by the figure's name."""

from __future__ import annotations

from bench.figures import Goal

CONTROLLED, REAL = "1 ms disk", "real disk"
SQLITE, POSTGRES = "SQLite", "Postgres"

# Against what, then the least ratio in process and over gRPC, at 1 thread and at 32. None of them goes through an RPC of its own.
_RATIOS = {
    "the floor": ((0.6, None), (0.5, None)),
    "LangGraph": ((4, 2.5), (20, 10)),
    "DBOS": ((None, 4), (None, 15)),
    "10xgraph": ((None, 4), (None, 15)),
}


def _ratios(where: str, at: int) -> dict[str, Goal]:
    return {
        f"{ours} against {other}, {where}": Goal(">=", bound)
        for other, bounds in _RATIOS.items()
        for ours, bound in zip(("in process", "over gRPC"), bounds[at], strict=True)
        if bound is not None
    }


# Those that every run of the turns has, on each database.
TURN_GOALS = {
    name: goal
    for database in (SQLITE, POSTGRES)
    for at, threads in enumerate(("1 thread", "32 threads"))
    for name, goal in _ratios(f"{database}, {threads}, {CONTROLLED}", at).items()
} | {f"CPU a turn, over gRPC, {database}, 32 threads, {CONTROLLED}": Goal("<=", 3) for database in (SQLITE, POSTGRES)}

GOALS = TURN_GOALS | {
    f"fsyncs a turn, in process, {SQLITE}, 1 thread, {CONTROLLED}": Goal("<=", 4),
    f"fsyncs a turn, in process, {SQLITE}, 32 threads, {CONTROLLED}": Goal("<=", 0.6),
    "bytes per byte of new text, 1,000 turns": Goal("<=", 2.5),
    "bytes(1,000) / bytes(100)": Goal("<=", 11),
    "CPU of turn 1,000 / turn 100, warm": Goal("<=", 1.2),
    "bytes per byte of new state, 1,000 steps": Goal("<=", 3),
    "bytes(1,000) / bytes(100), steps": Goal("<=", 11),
    "CPU of step 900 / step 100": Goal("<=", 1.2),
    "list 20 checkpoints at 1,000 turns": Goal("<=", 2),
    "newest state at 1,000 turns": Goal("<=", 5),
    "copy a thread of 1,000 turns": Goal("<=", 100),
    "copy a thread of 1,000 turns, up to turn 10": Goal("<=", 100),
    "copy a thread of 1,000 turns, up to turn 500": Goal("<=", 100),
    f"model to client, a text delta, p50, {CONTROLLED}": Goal("<=", 1),
    **{
        f"event loop's lag beside {what}, p99, {CONTROLLED}": Goal("<=", 20)
        for what in ("32 threads", "tools that block", "messages of 3 MiB")
    },
    **{f"event loop's lag beside listing {threads} threads, p99": Goal("<=", 20) for threads in ("5,000", "100,000")},
    "clew --help": Goal("<=", 0.3),
    "resident memory, idle": Goal("<=", 100),
    **{f"memory of an open watch, {watches} open watches": Goal("<=", 60) for watches in ("500", "5,000")},
    "start to ready": Goal("<=", 1.5),
}
