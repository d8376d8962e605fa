"""How services are added to gRPC's server: by their names alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import grpc


class ByName:
    """Stands for the server where generated code adds a service, which it does twice: by name, and method by method.

    For methods that are registered one by one grpc.aio keeps a task each, and awaits all of them anew at every call: with forty methods that
    is about a tenth of what a small call costs.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Add a service by its name."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """They are found by name."""
