"""What was done within the step under way: outcomes of nodes and of their inner steps, each a write of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_engine.checkpoints import decode_body
from clew_storage import Source

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.storage import Storage

_PAGE = 200
# The inner steps' keys are names of the author's; this one is not among them.
RETURNED = "\x00returned"


@dataclass
class Memos:
    """By node and key, the JSON of what was recorded."""

    _found: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _started: set[tuple[str, str]] = field(default_factory=set)

    def get(self, node: str, key: str) -> bytes | None:
        """What was recorded, or None."""
        return self._found.get((node, key))

    def put(self, node: str, key: str, value: bytes) -> None:
        """Remember what is being recorded."""
        self._found.setdefault((node, key), value)

    def start(self, node: str, key: str) -> None:
        """Remember that the intent to do something once is recorded."""
        self._started.add((node, key))

    def has_started(self, node: str, key: str) -> bool:
        """Whether something was started that has no record."""
        return (node, key) in self._started

    def returned(self) -> Mapping[str, bytes]:
        """What the nodes that are done returned."""
        return {node: value for (node, key), value in self._found.items() if key == RETURNED}


async def read_memos(storage: Storage, thread: OpenThread) -> Memos:
    """The memos of the head's step: the head's line is read back to where the step began."""
    memos = Memos()
    assert thread.head is not None
    before = thread.head.version + 1
    while True:
        records = await storage.backend.threads.list_checkpoints(thread.key, before_version=before, limit=_PAGE)
        for record in records:
            if record.step != thread.head.step:
                return memos
            body = decode_body(record.body)
            for node, key, text in body.memos:
                if record.source is Source.INTENT:
                    memos.start(node, key)
                else:
                    memos.put(node, key, text.encode())
            before = record.version
        if len(records) < _PAGE:
            return memos
