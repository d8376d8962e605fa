"""Clew: durable threads for agents and workflows, called over gRPC."""
