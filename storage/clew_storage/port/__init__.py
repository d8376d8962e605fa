"""The storage port: what a backend promises. A method is one transaction, and what it returns is durable.

Every method may raise `StorageUnavailable` (so does every method of a backend that is not open), `StorageFull` or
`DataCorrupt`; what else it raises is said beside it. A refused write leaves no trace. A method that is cancelled has
either done all or nothing, and never leaves a connection or a transaction behind.
"""

from clew_storage.port.approvals import Approvals
from clew_storage.port.archive import Archive
from clew_storage.port.backend import Backend
from clew_storage.port.cache import Cache
from clew_storage.port.exchange import Exchange
from clew_storage.port.leases import Leases
from clew_storage.port.messages import Messages
from clew_storage.port.retention import Retention
from clew_storage.port.sizes import Sizes
from clew_storage.port.threads import Threads

__all__ = [
    "Approvals",
    "Archive",
    "Backend",
    "Cache",
    "Exchange",
    "Leases",
    "Messages",
    "Retention",
    "Sizes",
    "Threads",
]
