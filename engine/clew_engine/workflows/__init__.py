"""Workflows: functions over a declared state, joined by edges, stepped and checkpointed by the same engine as agents."""
