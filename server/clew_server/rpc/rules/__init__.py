"""What every field of every request must be: one table, walked before a handler is called."""

from clew_server.rpc.rules.checking import check
from clew_server.rpc.rules.tables import ANY, FIELDS

__all__ = ["ANY", "FIELDS", "check"]
