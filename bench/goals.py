"""The goals of the design's performance page that the figures here are held to, by the figure's name."""

from __future__ import annotations

from bench.figures import Goal

CONTROLLED, REAL = "1 ms disk", "real disk"

GOALS = {
    f"fsyncs a turn, 1 thread, {CONTROLLED}": Goal("<=", 4),
    f"fsyncs a turn, 32 threads, {CONTROLLED}": Goal("<=", 0.6),
    "bytes per byte of new text, 1,000 turns": Goal("<=", 2.5),
    "bytes(1,000) / bytes(100)": Goal("<=", 11),
    f"in process against the floor, 1 thread, {CONTROLLED}": Goal(">=", 0.6),
    f"in process against the floor, 32 threads, {CONTROLLED}": Goal(">=", 0.5),
    f"CPU a turn over gRPC, server, 32 threads, {CONTROLLED}": Goal("<=", 3),
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
    "resident memory, idle": Goal("<=", 100),
    "start to ready": Goal("<=", 1.5),
}
