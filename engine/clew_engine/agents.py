"""Agents: a model with instructions and tools, run in process or served."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from clew_engine.agent_program import AgentProgram
from clew_engine.amounts import LONG_ENOUGH, LONGEST_TTL_S, is_time
from clew_engine.apps import AppInfo
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking
from clew_engine.errors import ArgumentInvalidError, ThreadNeededError
from clew_engine.ids import check_id
from clew_engine.message_input import Input
from clew_engine.models import Model, ModelSettings, open_model
from clew_engine.options import Limits, OnBusy
from clew_engine.replies import Reply
from clew_engine.state import StateView
from clew_engine.storage import Storage
from clew_engine.threads import Thread
from clew_engine.tools import Tool, as_tool
from clew_engine.typed_state import DeclaredState
from clew_storage import Status, ThreadKey

Instructions = str | None | Callable[[StateView], str | None | Awaitable[str | None]]
_MODEL_SPEC = "offline"


class Hook(Protocol):
    """Sees the state before and after each model step; what a method returns is merged into the state.

    Either method may be missing, plain or async. After a crash a step that was not recorded is hooked again.
    """

    def before_step(self, state: StateView) -> Mapping[str, Any] | None | Awaitable[Mapping[str, Any] | None]:
        """Before the model is asked."""

    def after_step(self, state: StateView) -> Mapping[str, Any] | None | Awaitable[Mapping[str, Any] | None]:
        """After it answered; `state["messages"]` ends with its message."""


class Agent:
    """A model that speaks and calls tools.

    `model` is a Model or a name for `open_model` (default: the offline one). `approve` names tools whose calls wait for a person, or is True for all.
    `state` declares the state's type (TypedDict, dataclass or pydantic model). `approval_ttl` in seconds lets approvals expire, as rejected.
    """

    def __init__(
        self,
        name: str,
        *,
        model: Model | str = _MODEL_SPEC,
        instructions: Instructions = None,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        approve: Sequence[str] | bool = (),
        hooks: Sequence[object] = (),
        limits: Limits | None = None,
        state: type[Any] | None = None,
        approval_ttl: float | None = None,
        settings: ModelSettings | None = None,
        description: str = "",
        storage: Storage | None = None,
    ) -> None:
        _check_words(name=name, description=description, instructions=instructions, settings=settings)
        _check_lists(tools=tools, approve=() if isinstance(approve, bool) else approve, hooks=hooks)
        _check_kinds(limits=limits, approval_ttl=approval_ttl, model=model, storage=storage)
        self.name = check_id(name, "agent.name")
        self.model = open_model(model) if isinstance(model, str) else model
        self.instructions = instructions
        self.tools = _by_name(map(_tool_of, tools))
        self.gated = _gated(self.tools, approve)
        self.hooks = tuple(hooks)
        self.limits = limits or Limits()
        self.declared_state = DeclaredState(state) if state else None
        self.approval_ttl = approval_ttl
        self.settings = settings
        self.description = description
        self._storage = storage

    @cached_property
    def storage(self) -> Storage:
        """The storage that was given, or one of the agent's own in memory."""
        return self._storage or Storage("memory://")

    @cached_property
    def program(self) -> AgentProgram:
        """The agent as the engine steps it."""
        return AgentProgram(
            name=self.name,
            model=self.model,
            instructions=self.instructions,
            tools=self.tools,
            gated=self.gated,
            limits=self.limits,
            hooks=self.hooks,
            declared=self.declared_state,
            approval_ttl_s=self.approval_ttl,
            settings=self.settings,
        )

    @property
    def info(self) -> AppInfo:
        """What the agent is to those who call it."""
        schema = self.declared_state.schema if self.declared_state else {"type": "object"}
        return AppInfo(
            name=self.name,
            kind="agent",
            description=self.description,
            model=self.model.name,
            tools=tuple(self.tools.values()),
            gated=self.gated,
            input_schema={"type": "string"},
            state_schema=schema,
        )

    @checked
    def thread(
        self,
        thread_id: str,
        actor: str | None = None,
        *,
        tenant: str = "",
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Thread:
        """A handle on a conversation; its first send makes the thread. Two handles on one id are the same conversation."""
        return Thread(
            self.storage,
            ThreadKey(tenant, check_id(thread_id, "thread_id")),
            self.program,
            actor=actor or "",
            on_busy=on_busy,
            busy_timeout=busy_timeout,
            limits=limits,
        )

    async def run(self, text: Input, /, **state: Any) -> Reply:
        """One answer, with nothing kept. Raises ThreadSuspendedError when a call needs a person: an agent waits for one on a thread alone."""
        thread = Thread(self._scratch, ThreadKey("", f"run-{secrets.token_hex(8)}"), self.program)
        try:
            reply = await thread.send(text, **state)
        finally:
            await thread.delete()
        if reply.status is Status.SUSPENDED:
            raise ThreadNeededError(self.name, tuple(approval.tool for approval in reply.approvals))
        return reply

    run_sync = blocking(run)

    @cached_property
    def _scratch(self) -> Storage:
        scratch = Storage("memory://", tuning=self._storage.tuning if self._storage else None)
        if self._storage is not None:
            scratch.share_desk(self._storage)
        return scratch


def _check_words(*, name: Any, description: Any, instructions: Any, settings: Any) -> None:
    """Raises ArgumentInvalidError, by the argument's name, as the two below do."""
    for argument, given in (("name", name), ("description", description)):
        if not isinstance(given, str):
            raise _not_due(argument, "text", given)
    if instructions is not None and not isinstance(instructions, str) and not callable(instructions):
        raise _not_due("instructions", "text or a function", instructions)
    if settings is not None and not isinstance(settings, ModelSettings):
        raise _not_due("settings", "a ModelSettings", settings)


def _check_lists(**lists: Any) -> None:
    for argument, given in lists.items():
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise _not_due(argument, "a list", given)
    for hook in lists["hooks"]:
        if not (hasattr(hook, "before_step") or hasattr(hook, "after_step")):
            raise _not_due("hooks", "what has a method before_step or after_step", hook)


def _check_kinds(*, limits: Any, approval_ttl: Any, model: Any, storage: Any) -> None:
    if limits is not None and not isinstance(limits, Limits):
        raise _not_due("limits", "a Limits", limits)
    if approval_ttl is not None and not is_time(approval_ttl, LONGEST_TTL_S):
        raise _not_due("approval_ttl", LONG_ENOUGH, approval_ttl)
    if not isinstance(model, str) and not (hasattr(model, "name") and hasattr(model, "stream")):
        raise _not_due("model", "a Model or a name for open_model", model)
    if storage is not None and not isinstance(storage, Storage):
        raise _not_due("storage", "a Storage", storage)


def _not_due(name: str, due: str, given: Any) -> ArgumentInvalidError:
    shown = repr(given) if isinstance(given, int | float | str) else type(given).__name__
    return ArgumentInvalidError(f"agent.{name}", f"{due} is due here, not {shown[:100]}")


def _tool_of(given: Any) -> Tool:
    if not isinstance(given, Tool) and not callable(given):
        raise _not_due("tools", "a tool or a function", given)
    return as_tool(given)


def _by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    named: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in named:
            raise ArgumentInvalidError("agent.tools", f"two tools are named {tool.name!r}")
        named[tool.name] = tool
    return named


def _gated(tools: Mapping[str, Tool], approve: Sequence[str] | bool) -> frozenset[str]:
    if isinstance(approve, bool):
        return frozenset(tools) if approve else frozenset()
    for name in approve:
        if name not in tools:
            raise ArgumentInvalidError(
                "agent.approve", f"there is no tool {name!r}; tools: {', '.join(tools) or 'none'}"
            )
    return frozenset(approve)
