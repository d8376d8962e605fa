"""What the port speaks: frozen records and JSON bytes, independent of any wire version.

Times are milliseconds since 1970 (UTC), given by the caller. Versions count a thread's checkpoints from 1; 0 is none.
"""

from clew_storage.records.approvals import ApprovalDecision, ApprovalRecord, ApprovalRedaction, ApprovalState
from clew_storage.records.cache import CachedValue, CacheKey
from clew_storage.records.checkpoints import CheckpointRecord, CheckpointRedaction, Source, Status
from clew_storage.records.databases import Amount, FormatChange, Kind, StorageStats, ThreadSize
from clew_storage.records.exchange import CallName, CallSight, CallState, GivenCall, OfferedCall, WorkerRecord
from clew_storage.records.heads import Glance, Head
from clew_storage.records.leases import Grant
from clew_storage.records.log import LogEntry, MessageRecord, StateChange
from clew_storage.records.requests import RequestRecord
from clew_storage.records.retention import IdleFilter, Trim
from clew_storage.records.threads import InfoChange, ThreadFilter, ThreadInfo, ThreadKey, ThreadRecord
from clew_storage.records.writes import Write, Written

__all__ = [
    "Amount",
    "ApprovalDecision",
    "ApprovalRecord",
    "ApprovalRedaction",
    "ApprovalState",
    "CacheKey",
    "CachedValue",
    "CallName",
    "CallSight",
    "CallState",
    "CheckpointRecord",
    "CheckpointRedaction",
    "FormatChange",
    "GivenCall",
    "Glance",
    "Grant",
    "Head",
    "IdleFilter",
    "InfoChange",
    "Kind",
    "LogEntry",
    "MessageRecord",
    "OfferedCall",
    "RequestRecord",
    "Source",
    "StateChange",
    "Status",
    "StorageStats",
    "ThreadFilter",
    "ThreadInfo",
    "ThreadKey",
    "ThreadRecord",
    "ThreadSize",
    "Trim",
    "WorkerRecord",
    "Write",
    "Written",
]
