"""Tools that workers run: processes of their own, in any language, that bring what came of a call."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from clew_engine.amounts import LONGEST_S, is_time
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import JsonError, parse_strict
from clew_engine.models import ToolSpec
from clew_engine.schemas import check_schema, misfit
from clew_engine.tools import ApprovalRule, Tool, ToolArgumentError, ToolContext, ToolOutput
from clew_engine.worker_tools import WorkerTool

# What the calls of a tool are handed on with.
ARGUMENTS = "arguments_json"
_ANYTHING: Mapping[str, Any] = {"type": "object"}


class RemoteTool(Tool):
    """A tool by its name; made by `remote`. `wait_s` is how long a call waits for a worker to take it, `limit_s` how long it may take from then on.

    What workers say of it holds as far as the app says nothing. That it is `once` is believed from the first worker that says so.
    """

    def __init__(
        self,
        name: str,
        *,
        description: str = "",
        parameters: Mapping[str, Any] | None = None,
        once: bool = False,
        approve: ApprovalRule = False,
        timeout: float | None = None,
        wait: float = 60.0,
    ) -> None:
        super().__init__(_elsewhere, name=name, description=description, once=once, approve=approve)
        for field, value in (("timeout", timeout), ("wait", wait)):
            if value is not None and not is_time(value):
                message = f"seconds over 0 (and at most {LONGEST_S:,}) are due here, not {value!r}"
                raise ArgumentInvalidError(f"tool.{field}", message[:200])
        if parameters is not None:
            try:
                check_schema(parameters)
            except ValueError as error:
                raise ArgumentInvalidError("tool.parameters", str(error)) from None
        self.declared = parameters
        self.parameters = dict(_ANYTHING if parameters is None else parameters)
        self.wait_s, self.limit_s, self.tries = wait, timeout, 1
        self._as_said: dict[str, RemoteTool] = {}

    def is_known(self, tenant: str) -> bool:
        """Whether it is clear how its calls may be run: the app says so, or a worker has."""
        return self.once or tenant in self._as_said

    def as_said(self, tenant: str, said: WorkerTool | None) -> RemoteTool:
        """The tool with what a tenant's workers say of it; None: nobody offers it now, and what was said last holds."""
        if said is None:
            return self._as_said.get(tenant, self)
        self.once = self.once or said.once
        other = copy(self)
        other.description = self.description or said.description
        if self.declared is None and said.schema_json:
            other.parameters = parse_strict(said.schema_json)
        limits = (each for each in (self.limit_s, said.timeout_s) if each is not None)
        other.limit_s, other.tries = min(limits, default=None), said.max_tries
        self._as_said[tenant] = other
        return other

    @property
    def spec(self) -> ToolSpec:
        """See Tool."""
        return ToolSpec(self.name, self.description, self.parameters)

    def check(self, args: str) -> dict[str, Any]:
        """The arguments as they are, in one piece: what was asked for is what is run. Raises ToolArgumentError."""
        text = args or "{}"
        try:
            value = parse_strict(text)
        except JsonError as error:
            raise ToolArgumentError(f"the arguments are not a JSON object: {error}") from None
        if not isinstance(value, dict):
            raise ToolArgumentError("the arguments are not a JSON object")
        if wrong := misfit(self.parameters, value):
            raise ToolArgumentError(f"invalid arguments for {self.name}: {wrong}")
        return {ARGUMENTS: text}

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Hand the call to a worker. Raises what became of it otherwise."""
        if context.desk is None:
            raise RuntimeError(f"{self.name} is run by workers, which a run without a storage has none of")
        return await context.desk.call(self, str(arguments[ARGUMENTS]), context)


def remote(
    name: str,
    *,
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    once: bool = False,
    approve: ApprovalRule = False,
    timeout: float | None = None,
    wait: float = 60.0,
) -> RemoteTool:
    """A tool that workers run, by its name; an agent has it among its tools like its own.

    `description` and `parameters` (the JSON schema of its arguments) are the workers' unless they are given. It is `once` where the app or a worker
    says so, and `timeout` (seconds, from when a worker takes a call) is the shorter of both; `approve` as with `tool`. A call that no worker
    takes for `wait` seconds fails the run, which can be retried. Raises ArgumentInvalidError.
    """
    return RemoteTool(
        name,
        description=description,
        parameters=parameters,
        once=once,
        approve=approve,
        timeout=timeout,
        wait=wait,
    )


async def _elsewhere() -> None:
    """Runs in a worker."""
