"""What brings a thread's state and continuation up to the version of the workflow that goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew_engine import incidents
from clew_engine.calls import GIVEN
from clew_engine.causes import told
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError, StateInvalidError
from clew_engine.json_text import encode, parse_stored
from clew_engine.state import encode_values
from clew_engine.workflows.continuations import ANSWERS, ARRIVED, ASKED, PASSED, SCHEMA, STARTED, nodes_of
from clew_engine.workflows.graph import join_key, join_names
from clew_engine.workflows.inner_places import INSIDE
from clew_storage import StateChange

# What always helps: a state that nothing needs to be made of.
WAYS = (
    "give the thread a state of this version with update_state(…, replace=True) or clear_state(), forced where it waits"
)
ChangeState = Callable[[dict[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Migration:
    """From one version of a workflow to the next.

    `state` is given the state as a dict and returns it as it is to be. `nodes` are new names by old; a node of a workflow inside is named by its old path
    (`{"describe/writer": "author"}`).
    """

    state: ChangeState | None = None
    nodes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Upgrades:
    """The migrations of a workflow, by the version that they begin at."""

    workflow: str
    version: int
    migrations: Mapping[int, Migration]

    def __post_init__(self) -> None:
        given: object = self.version
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise ArgumentInvalidError(
                "workflow.version", f"versions are numbers that count from 1, and not {self.version!r}"
            )
        for known in self.migrations:
            if not 1 <= known < self.version:
                raise ArgumentInvalidError(
                    "workflow.migrate", f"a migration from {known} leads nowhere: this is version {self.version}"
                )
            for new in self.migrations[known].nodes.values():
                if "/" in new:
                    raise ArgumentInvalidError("workflow.migrate", f"{new!r} is a path; a new name is the node's alone")

    def check_names(self, nodes: Container[str]) -> None:
        """Raises ArgumentInvalidError where the newest migration renames a node to one that is not there."""
        newest = self.migrations.get(self.version - 1)
        for old, new in (newest.nodes if newest else {}).items():
            if "/" not in old and new not in nodes:
                raise ArgumentInvalidError(
                    "workflow.migrate", f"{old!r} cannot be renamed to {new!r}: there is no such node"
                )

    def stamped(self, continuation: Mapping[str, Any]) -> dict[str, Any]:
        """A continuation of this version."""
        return {**continuation, SCHEMA: self.version}

    def restated(self, continuation: Mapping[str, Any]) -> dict[str, Any]:
        """The continuation of a thread whose whole state was given in this version's form: with the newer names that are known, and of this version."""
        steps = range(self._version(continuation), self.version)
        return self.continuation([self.migrations[step] for step in steps if step in self.migrations], continuation)

    def pending(self, continuation: Mapping[str, Any], thread_id: str) -> list[Migration]:
        """What is to be done to what a checkpoint left. Raises ResumeInvalidError where there is no way."""
        found = self._version(continuation)
        if found > self.version:
            raise ResumeInvalidError(
                f"the thread is of version {found} of workflow {self.workflow!r}, and this is version {self.version}; serve a newer one, or {WAYS}",
                thread_id=thread_id,
            )
        missing = [step for step in range(found, self.version) if step not in self.migrations]
        if missing:
            raise ResumeInvalidError(
                f"the thread is of version {found} of workflow {self.workflow!r}, and nothing leads from version {missing[0]} to {missing[0] + 1}; "
                f"give `migrate` an entry for {missing[0]}, or {WAYS}",
                thread_id=thread_id,
            )
        return [self.migrations[step] for step in range(found, self.version)]

    def state_change(
        self, migrations: list[Migration], state: Mapping[str, bytes], thread_id: str
    ) -> StateChange | None:
        """What the migrations make of a state; values that they leave alone keep their bytes.

        Raises StateInvalidError; what a migrator raises is logged.
        """
        functions = [migration.state for migration in migrations if migration.state is not None]
        if not functions:
            return None
        before = {key: parse_stored(value) for key, value in state.items()}
        values: Mapping[str, Any] = {key: parse_stored(value) for key, value in state.items()}
        for function in functions:
            values = _migrated(function, values, thread_id)
        after = encode_values(values)
        replaced = {key: value for key, value in after.items() if key not in before or encode(before[key]) != value}
        removed = tuple(key for key in state if key not in after)
        return StateChange(replaced=replaced, removed=removed) if replaced or removed else None

    def continuation(self, migrations: list[Migration], continuation: Mapping[str, Any]) -> dict[str, Any]:
        """The continuation with the nodes' newer names, and of this version."""
        for migration in migrations:
            if migration.nodes:
                continuation = _renamed(continuation, migration.nodes)
        return self.stamped(continuation)

    def node_name(self, continuation: Mapping[str, Any], place: str) -> str:
        """What a node (or something within it) is called now that a checkpoint of this continuation calls `place`."""
        for step in range(self._version(continuation), self.version):
            migration = self.migrations.get(step)
            if migration is not None:
                place = _place(place, migration.nodes)
        return place

    def _version(self, continuation: Mapping[str, Any]) -> int:
        """No workflow has run yet where none is named: what is there was written for this one."""
        return int(continuation.get(SCHEMA, self.version))


def _migrated(function: ChangeState, values: Mapping[str, Any], thread_id: str) -> Mapping[str, Any]:
    name = getattr(function, "__name__", type(function).__name__)
    what = f"the migrator {name!r}"
    try:
        made = function(dict(values))
    except Exception as error:
        incidents.raised(what, error, thread_id)
        raise StateInvalidError("state", f"{what} raised {told(error)}; mend it, or {WAYS}") from error
    if not isinstance(made, Mapping):
        raise StateInvalidError(
            "state", f"{what} returned {type(made).__name__}, and not the state; mend it, or {WAYS}"
        )
    return made


def _renamed(continuation: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    new = dict(continuation)
    if "do" in new:
        new["do"] = [names.get(name, name) for name in nodes_of(continuation)]
    if PASSED in new:
        new[PASSED] = [names.get(name, name) for name in new[PASSED]]
    for answers in (ANSWERS, GIVEN):
        if answers in new:
            new[answers] = {_subject(subject, names): answer for subject, answer in new[answers].items()}
    if ASKED in new:
        # The approvals stay as they were written, and are found by what they were about then.
        new[ASKED] = [{"was": row["subject"], **row, "subject": _subject(row["subject"], names)} for row in new[ASKED]]
    if STARTED in new:
        new[STARTED] = [_place(each, names) for each in new[STARTED]]
    if ARRIVED in new:
        new[ARRIVED] = dict(_joined(key, there, names) for key, there in new[ARRIVED].items())
    return new


def _joined(key: str, there: list[str], names: Mapping[str, str]) -> tuple[str, list[str]]:
    sources, target = join_names(key)
    new = join_key([names.get(name, name) for name in sources], names.get(target, target))
    return new, [names.get(name, name) for name in there]


def _subject(subject: str, names: Mapping[str, str]) -> str:
    for when in ("before ", "after "):
        name = subject.removeprefix(when)
        if name != subject and ":" not in name and "/" not in name:
            return when + names.get(name, name)
    return _place(subject, names)


def _place(place: str, names: Mapping[str, str]) -> str:
    end = min((found for mark in "/:" if (found := place.find(mark)) >= 0), default=len(place))
    path = place[:end]
    made = names.get(path, path)
    while inside := INSIDE.match(place, end):
        number, mark, name = inside.groups()
        path = f"{path}/{name}"
        made += f"/{number}{mark}{names.get(path, name)}"
        end = inside.end()
    return made + place[end:]
