"""What a client was told, kept on its side: everything in it must be there after any crash."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.scenarios.sights import LOGGED, Reader, Seen

Version = tuple[str, int]


@dataclass
class Journal:
    """Acknowledged writes by what they are; what was asked for and not acknowledged may have happened, or not.

    A version is named by the thread's uid and its number. `decided` is the state of each approval that was decided, `names` the names
    that a thread may have by its last acknowledged change and those after it, `sent` the thread of each text that was sent, `unanswered` thread
    and text of each send whose stream did not come to its end, by its request id, `deleting` how many deletes of a thread are on their way, `deletes` how many
    came back.
    """

    checkpoints: dict[Version, tuple[str, str]] = field(default_factory=dict)
    versions: dict[Version, list[Seen]] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    unanswered: dict[str, tuple[str, str]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    perhaps_deleted: set[str] = field(default_factory=set)
    deleting: Counter[str] = field(default_factory=Counter)
    deletes: Counter[str] = field(default_factory=Counter)
    run_again: int = 0
    _uids: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _readers: list[tuple[str, Reader, dict[str, str], int]] = field(default_factory=list)

    def follow(self, thread_id: str, reader: Reader, deciding: dict[str, str] | None = None) -> Reader:
        """Keep what this stream says, from now to its end. `deciding` are the states that its decisions lead to."""
        self._readers.append((thread_id, reader, deciding or {}, self.deletes[thread_id]))
        return reader

    def gather(self) -> None:
        """Enter what the streams have said so far, and let those go that are over."""
        for thread_id, reader, deciding, deletes in self._readers:
            self._enter(thread_id, reader.seen, deciding)
            if self.deletes[thread_id] != deletes:
                # Of several servers one may tell of a delete before another tells of what was deleted.
                self.perhaps_deleted |= {event.run_id.partition(".")[0] for event in reader.seen if event.run_id}
        self._readers = [each for each in self._readers if not each[1].over]

    def end(self) -> None:
        """The process is dead: what it was told to delete it may have deleted, or not."""
        for thread_id in +self.deleting:
            self.perhaps_deleted |= self.uids(thread_id)
        self.deleting.clear()

    def checkpoint(self, thread_id: str, written: dict[str, Any], deletes: int | None = None) -> None:
        """A reply said that this checkpoint was written. `deletes` is how many had come back when it was asked for."""
        uid, _, version = written["id"].partition(".")
        if deletes is not None and self.deletes[thread_id] != deletes:
            self.perhaps_deleted.add(uid)
        self._uids[thread_id].add(uid)
        self.checkpoints[uid, int(version)] = (written["status"], written["source"])

    def rename(self, thread_id: str, uid: str, name: str) -> None:
        """A reply said that the thread has this name, which may have made it."""
        self._uids[thread_id].add(uid)
        self.names[uid] = {name}

    def uids(self, thread_id: str) -> set[str]:
        """The incarnations of a thread that were heard of."""
        self.gather()
        return set(self._uids[thread_id])

    def finished(self) -> set[tuple[str, str]]:
        """Run and call of every tool result that was told of."""
        self.gather()
        return {
            (event.run_id, event.data["call_id"])
            for events in self.versions.values()
            for event in events
            if event.type == "tool_call_finished" and event.data["outcome"] in ("done", "failed")
        }

    def _enter(self, thread_id: str, seen: list[Seen], deciding: dict[str, str]) -> None:
        collected: defaultdict[Version, list[Seen]] = defaultdict(list)
        for event in seen:
            if event.type not in LOGGED:
                continue
            uid = event.run_id.partition(".")[0]
            at = (uid, event.version)
            self._uids[thread_id].add(uid)
            collected[at].append(event)
            if event.type == "checkpoint_written":
                self.checkpoints[at] = (event.data["status"], event.data["source"])
                if event.data["source"] == "decision":
                    self.decided |= deciding
            if event.last and len(collected[at]) >= len(self.versions.get(at, ())):
                self.versions[at] = collected[at]
