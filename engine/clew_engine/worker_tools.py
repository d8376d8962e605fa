"""What workers say of the tools that they offer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from clew_engine.amounts import is_time
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import JsonError, parse_strict, split_object
from clew_engine.schemas import check_schema
from clew_engine.tools import check_tool_name
from clew_storage import WorkerRecord

MOST_CALLS = 1000
MOST_TRIES = 100
MOST_TOOLS = 200
MOST_PROGRESS = 64 << 10
_MOST_DESCRIPTION = 4096
_MOST_SCHEMA = 64 << 10
_MOST_TOGETHER = 1 << 20


class WorkerTool(Struct, frozen=True, omit_defaults=True):
    """A tool as a worker offers it; see the contract. `max_calls` 0: as many as the worker takes at all. `timeout_s` None: no limit of its own."""

    name: str
    description: str = ""
    schema_json: str = ""
    once: bool = False
    timeout_s: float | None = None
    max_calls: int = 0
    max_tries: int = 1


_TOOLS = msgspec.json.Decoder(list[WorkerTool])


def record_of(
    tenant: str, worker_id: str, tools: Sequence[WorkerTool], *, max_calls: int, thread_id: str, now_ms: int
) -> WorkerRecord:
    """A worker as it is registered. Raises ArgumentInvalidError."""
    if not 1 <= len(tools) <= MOST_TOOLS:
        raise ArgumentInvalidError("tools", f"a worker offers 1 to {MOST_TOOLS} tools, and these are {len(tools)}")
    for tool in tools:
        _check(tool)
    names = tuple(tool.name for tool in tools)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ArgumentInvalidError("tools.name", f"tool {twice!r} is offered twice")
    body = msgspec.json.encode(tools)
    if len(body) > _MOST_TOGETHER:
        raise ArgumentInvalidError("tools", f"what is said of them all is at most {_MOST_TOGETHER} bytes as JSON")
    return WorkerRecord(
        tenant=tenant,
        worker_id=worker_id,
        tools=names,
        body=body,
        once=tuple(tool.name for tool in tools if tool.once),
        thread_id=thread_id,
        max_calls=max_calls or 10,
        created_at_ms=now_ms,
    )


def tools_of(worker: WorkerRecord) -> list[WorkerTool]:
    """What a worker offers."""
    return _TOOLS.decode(worker.body)


def limits_of(worker: WorkerRecord) -> dict[str, int]:
    """How many calls of each tool a worker takes at a time."""
    return {tool.name: tool.max_calls or worker.max_calls for tool in tools_of(worker)}


def offered(workers: Iterable[WorkerRecord]) -> dict[str, WorkerTool]:
    """What all of them together say of each tool: the first description and schema that there is, and the most careful of the rest."""
    found: dict[str, WorkerTool] = {}
    for worker in workers:
        for tool in tools_of(worker):
            found[tool.name] = _both(found[tool.name], tool) if tool.name in found else tool
    return found


def _both(one: WorkerTool, other: WorkerTool) -> WorkerTool:
    return WorkerTool(
        one.name,
        one.description or other.description,
        one.schema_json or other.schema_json,
        one.once or other.once,
        min((each for each in (one.timeout_s, other.timeout_s) if each is not None), default=None),
        0,
        max(one.max_tries, other.max_tries),
    )


def _check(tool: WorkerTool) -> None:
    check_tool_name("tools.name", tool.name)
    if len(tool.description.encode()) > _MOST_DESCRIPTION:
        raise ArgumentInvalidError("tools.description", f"at most {_MOST_DESCRIPTION} bytes")
    if len(tool.schema_json.encode()) > _MOST_SCHEMA:
        raise ArgumentInvalidError("tools.parameters_schema_json", f"at most {_MOST_SCHEMA} bytes")
    if tool.schema_json:
        try:
            split_object(tool.schema_json)
            check_schema(parse_strict(tool.schema_json))
        except (JsonError, ValueError) as error:
            raise ArgumentInvalidError("tools.parameters_schema_json", str(error)) from None
    if tool.timeout_s is not None and not is_time(tool.timeout_s):
        raise ArgumentInvalidError("tools.timeout", "a time over 0 is due here; leave it out for none")
    if not 0 <= tool.max_calls <= MOST_CALLS:
        raise ArgumentInvalidError("tools.max_calls", f"0 to {MOST_CALLS}")
    if not 0 <= tool.max_tries <= MOST_TRIES:
        raise ArgumentInvalidError("tools.max_tries", f"0 to {MOST_TRIES}")
