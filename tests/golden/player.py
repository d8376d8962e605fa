"""Plays a case: tells a driver what to do, step by step, and holds what comes of it to what the case says."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.client.scripted import ScriptedServer
from tests.golden.drivers import Call, Driver
from tests.golden.gates import Gates
from tests.golden.matching import differences
from tests.golden.servers import GoldenServer
from tests.golden.stream_rules import broken_rules, merged
from tests.golden.views import view

ATTEMPTS = frozenset({"send", "run", "decide", "approve", "reject", "resume", "retry"})
# What a driver gives as messages of the contract, by what it was told to do.
_KINDS = {
    "messages": "message",
    "history": "checkpoint",
    "rewind": "checkpoint",
    "cancel": "checkpoint",
    "update_state": "checkpoint",
    "info": "thread",
    "approvals": "approval",
}
# What travels as text of JSON, so that no number is changed on the way.
_JSON = ("values", "state", "value", "arguments")
_ABOUT_OUTCOME = ("gives", "fails", "events", "keep", "left")
_VARIABLE = re.compile(r"\$\{([^}]+)\}")


@dataclass
class Player:
    """One case in one language. Threads have names of their own in each."""

    driver: Driver
    app: str
    prefix: str = ""
    gates: Gates | None = None
    own_server: GoldenServer | None = None
    scripted: ScriptedServer | None = None
    begun: dict[str, tuple[str, Call]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    async def play(self, steps: list[dict[str, Any]]) -> None:
        """All steps. Raises AssertionError for the first that is not as the case says."""
        for number, step in enumerate(steps, 1):
            wrong = await self._step(step)
            assert not wrong, f"step {number}, {json.dumps(step)[:300]}:\n  " + "\n  ".join(wrong)

    async def _step(self, step: dict[str, Any]) -> list[str]:
        match step:
            case {"do": op}:
                call = await self._begin(op, step)
                return await self._judge(op, call, step)
            case {"begin": op, "as": name}:
                self.begun[name] = op, await self._begin(op, step)
            case {"await": name}:
                return await self._judge(*self.begun[name], step)
            case {"until": name, "event": kind}:
                await self.begun[name][1].until(kind, step.get("times", 1))
            case {"leave": name} | {"hold": name} | {"read_on": name}:
                op = next(each for each in ("leave", "hold", "read_on") if each in step)
                return _unexpected(await self.driver.do(op, of=self.begun[name][1].number))
            case {"kill": True}:
                await asyncio.to_thread(self._own().kill)
            case {"start": True}:
                await asyncio.to_thread(self._own().start)
            case {"arrived": rpc}:
                assert self.scripted is not None
                await self.scripted.arrived[rpc].wait()
            case {"thread": thread}:
                return await self._at_gate(self._thread(thread), step)
            case _:
                raise ValueError(f"no step: {step}")
        return []

    async def _begin(self, op: str, step: Mapping[str, Any]) -> Call:
        args = {key: value for key, value in step.items() if key not in ("do", "begin", "as", *_ABOUT_OUTCOME)}
        args = self._filled(args)
        if "thread" in args:
            args["thread"] = self._thread(args["thread"])
        if "to" in args:
            args["to"] = self._thread(args["to"])
        args |= {key: json.dumps(args[key]) for key in _JSON if key in args}
        if "text_size" in args:
            args["text"] = "y" * args.pop("text_size")
        for decision in args.get("decisions", ()):
            decision |= {key: json.dumps(decision[key]) for key in ("arguments", "value", "result") if key in decision}
        return await self.driver.begin(op, **{"app": self.app, **args})

    async def _judge(self, op: str, call: Call, step: Mapping[str, Any]) -> list[str]:
        outcome = await self.driver.finish(call)
        found = _plain(op, outcome)
        if "keep" in step:
            self.kept |= {name: _at(found, path) for name, path in step["keep"].items()}
        wrong = [] if "left" in outcome and "left" in step else _against(self._filled(step), outcome, found)
        if op in ATTEMPTS or op == "watch":
            whole = "error" not in outcome and "left" not in outcome
            wrong += broken_rules(call.events, attempt=op in ATTEMPTS, whole=whole)
        if "events" in step:
            wrong += differences(_events(self._filled(step["events"])), merged(call.events), "events")
        return wrong

    async def _at_gate(self, thread: str, step: Mapping[str, Any]) -> list[str]:
        assert self.gates is not None
        match step:
            case {"close": tool}:
                self.gates.close(thread, tool)
            case {"open": tool}:
                self.gates.open(thread, tool)
            case {"entered": tool}:
                await self.gates.entered(thread, tool, step.get("times", 1))
            case {"ran": tool, "times": times}:
                return differences(times, self.gates.runs[thread, tool], f"runs of {tool}")
            case _:
                raise ValueError(f"no step: {step}")
        return []

    def _own(self) -> GoldenServer:
        assert self.own_server is not None, "a case that kills its server says `own_server`"
        return self.own_server

    def _thread(self, name: str) -> str:
        return name if name in ("", "/") or name.startswith("raw:") else self.prefix + name

    def _filled(self, value: Any) -> Any:
        """With what was kept in the place of `$name`, and names of threads in that of `$thread.name`."""
        if isinstance(value, Mapping):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if not isinstance(value, str):
            return value
        if value.startswith("$") and not value.startswith("${"):
            return self._named(value[1:])
        return _VARIABLE.sub(lambda found: str(self._named(found[1])), value)

    def _named(self, name: str) -> Any:
        return self.prefix + name[7:] if name.startswith("thread.") else self.kept[name]


def _plain(op: str, outcome: Mapping[str, Any]) -> Any:
    if "reply" in outcome:
        reply = dict(outcome["reply"])
        reply["approvals"] = view("approval", reply.get("approvals", []))
        reply["message"] = view("message", reply.get("message"))
        if isinstance(reply.get("state"), str):
            reply["state"] = json.loads(reply["state"])
        return reply
    result = outcome.get("error", outcome.get("result"))
    if "error" in outcome:
        return result
    if op == "state":
        return json.loads(result)
    return view(_KINDS[op], result) if op in _KINDS else result


def _against(step: Mapping[str, Any], outcome: Mapping[str, Any], found: Any) -> list[str]:
    if "fails" in step:
        return (
            differences(step["fails"], found, "error") if "error" in outcome else [f"it did not fail: {found!r:.600}"]
        )
    if "error" in outcome:
        return [f"it failed: {found!r:.1500}"]
    return differences(step["gives"], found, "result") if "gives" in step else []


def _unexpected(outcome: Mapping[str, Any]) -> list[str]:
    return [f"it failed: {outcome['error']!r:.1500}"] if "error" in outcome else []


def _events(expected: Any) -> Any:
    if isinstance(expected, Mapping):
        return {key: _events(each) for key, each in expected.items()}
    return [{"type": each} if isinstance(each, str) else each for each in expected]


def _at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found
