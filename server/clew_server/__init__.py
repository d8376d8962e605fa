"""Serves the contract over gRPC, and the `clew` command."""
