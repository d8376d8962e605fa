"""What was done within the step under way: outcomes of nodes and of their inner steps, each a write of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clew_engine.approvals import ApprovalKind, Question
from clew_engine.checkpoints import Memo, decode_body
from clew_engine.json_text import encode, parse_stored
from clew_engine.workflows.step_failures import FAILED, UNKNOWN
from clew_storage import CheckpointRecord, Source, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 200
# The inner steps' keys are names of the author's; this one is not among them.
RETURNED = "\x00returned"
# What a node is called now, by what a checkpoint of this continuation calls it.
Renamed = Callable[[Mapping[str, Any], str], str]


@dataclass
class Memos:
    """By node and key, the JSON of what was recorded; and the question about what was started and has no record."""

    _found: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _started: dict[tuple[str, str], Question] = field(default_factory=dict)
    _begun: set[tuple[str, str]] = field(default_factory=set)

    def __iter__(self) -> Iterator[tuple[str, str, bytes]]:
        """Node, key and JSON of each record."""
        for (node, key), value in self._found.items():
            yield node, key, value

    def get(self, node: str, key: str) -> bytes | None:
        """What was recorded, or None."""
        return self._found.get((node, key))

    def put(self, node: str, key: str, value: bytes) -> None:
        """Remember what is being recorded."""
        self._found[node, key] = value

    def is_settled(self, node: str, key: str) -> bool:
        """Whether what became of a step is known: it has a result, or it failed (also where it is to be tried again)."""
        return (node, key) in self._found or self._found.get((node, key + FAILED), UNKNOWN) != UNKNOWN

    def start(self, node: str, key: str, question: Question) -> str:
        """Remember that something is begun that is done once; gives the text to record of it."""
        self._found.pop((node, key + FAILED), None)
        self._started[node, key] = question
        self._begun.add((node, key))
        return encode([question.tool, question.arguments]).decode()

    def has_started(self, node: str, key: str) -> bool:
        """Whether something was started that has no record."""
        return (node, key) in self._started

    def unknown(self) -> list[Question]:
        """What is to be asked about that this attempt began and has no record of."""
        return [self._started[each] for each in self._started if each in self._begun and not self.is_settled(*each)]

    def unrecorded(self) -> list[tuple[str, str]]:
        """What was started once and has no record."""
        return sorted(each for each in self._started if not self.is_settled(*each))

    def rows(self) -> tuple[Memo, ...]:
        """All that was recorded, as a checkpoint keeps it."""
        return tuple((node, key, value.decode()) for (node, key), value in self._found.items())

    def places(self) -> set[str]:
        """The nodes that anything was recorded or begun of."""
        return {node for node, _ in (*self._found, *self._started)}

    def returned(self) -> Mapping[str, bytes]:
        """What the nodes that are done returned."""
        return {node: value for (node, key), value in self._found.items() if key == RETURNED}

    def read(self, node: str, key: str, text: str, source: Source) -> None:
        """Take in a memo of a stored checkpoint; the newest come first."""
        if source is not Source.INTENT:
            self._found.setdefault((node, key), text.encode())
        elif not self.is_settled(node, key):
            tool, arguments = parse_stored(text) if text else ("", "")
            question = Question(ApprovalKind.TOOL_OUTCOME, f"{node}/{key}", tool=tool, arguments=arguments)
            self._started.setdefault((node, key), question)


async def read_memos(storage: Storage, key: ThreadKey, head: CheckpointRecord, renamed: Renamed) -> Memos:
    """The memos of the head's step: the head's line is read back to where the step, or its run, began."""
    memos = Memos()
    before = head.version + 1
    while True:
        records = await storage.backend.threads.list_checkpoints(key, before_version=before, limit=_PAGE)
        for record in records:
            if record.step != head.step or record.source is Source.INPUT:
                return memos
            body = decode_body(record.body)
            for node, name, text in body.memos:
                memos.read(renamed(body.next, node), name, text, record.source)
            before = record.version
        if len(records) < _PAGE:
            return memos
