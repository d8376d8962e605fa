"""An agent as a node: its model's replies and its tools' outcomes are recorded in the step of the node that it is."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clew_engine.agent_program import minted
from clew_engine.calls import DECIDED, Ready, Settled, plan_calls, result_message
from clew_engine.causes import told
from clew_engine.errors import StateTooLargeError
from clew_engine.hooks import hooked, instructed
from clew_engine.json_text import join_object, parse_stored, split_object
from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import Message, Outcome, TextPart, Usage, user_message
from clew_engine.model_streams import answered
from clew_engine.models import ModelRequest, ModelResponse
from clew_engine.runs import RunStopped, over_limit
from clew_engine.state import LazySequence, StateView
from clew_engine.tools import ToolArgumentError, ToolOutput, ToolResultError
from clew_engine.workflows.memos import Memos
from clew_engine.workflows.node_context import NodeContext, Paused, StepFailedError, current
from clew_engine.workflows.timed_calls import ToolTimedOutError, in_time

if TYPE_CHECKING:
    from clew_engine.agents import Agent

Ask = str | Callable[[StateView], Any]
Keep = str | Callable[[Message], Any]
# What a reply and the changes of its hooks are recorded under, with its number; an author's own steps have a `#` in their keys.
_REPLY, _CHANGES = "reply", "changes"


class AgentNode:
    """Asks the agent what `ask` names or makes, and keeps its reply's text under `keep`, or what `keep` makes of the reply."""

    def __init__(self, agent: Agent, ask: Ask, keep: Keep) -> None:
        self.agent = agent
        self.tools = agent.tools
        self.gated = agent.gated
        self._ask = ask
        self._keep = keep

    async def __call__(self, state: StateView) -> Mapping[str, Any]:
        """Talk until the agent only speaks."""
        question = state[self._ask] if isinstance(self._ask, str) else await _awaited(self._ask(state))
        talk = _Talk(self.agent, current(), state, user_message(str(question)))
        reply = await talk.execute()
        kept = {self._keep: reply.text} if isinstance(self._keep, str) else await _awaited(self._keep(reply))
        return {**talk.changes(), **kept}

    async def close(self) -> None:
        """Close the model's connections."""
        await self.agent.program.close()


def usage_in(memos: Memos) -> Usage:
    """What the models of a step's agents used, as far as it is recorded."""
    total = Usage()
    for _, key, value in memos:
        if _is_reply(key):
            total = total + (decode_message(value, message_id=key, created_at_ms=0).usage or Usage())
    return total


def _is_reply(key: str) -> bool:
    kind, _, number = key.partition(" ")
    return kind == _REPLY and number.isdigit()


class _Talk:
    """A conversation within a node. It lives in memory, and is told again from the memos when the node is entered again."""

    def __init__(self, agent: Agent, context: NodeContext, state: StateView, said: Message) -> None:
        self._agent = agent
        self._context = context
        self._state = state
        self._messages = [said]
        self._changed: dict[str, bytes] = {}
        self._steps = 0
        self._tokens = 0

    def changes(self) -> dict[str, Any]:
        """What the agent's hooks changed in the state."""
        return {name: parse_stored(value) for name, value in self._changed.items()}

    async def execute(self) -> Message:
        """The message that the agent ends with."""
        for number in itertools.count():
            reply = await self._reply(number)
            self._messages.append(reply)
            if not reply.tool_calls:
                return reply
            self._messages += await self._outcomes(reply)
        raise AssertionError

    async def _reply(self, number: int) -> Message:
        key = f"{_REPLY} {number}"
        known = self._context.known(key)
        if known is None:
            known = await self._asked(number, key)
        changes = self._context.known(f"{_CHANGES} {number}")
        self._changed |= split_object(changes) if changes else {}
        return decode_message(known, message_id=key, created_at_ms=0)

    async def _asked(self, number: int, key: str) -> bytes:
        agent, run = self._agent, self._context.run
        self._count()
        changes = await hooked(run, agent.hooks, "before_step", self._view)
        request = ModelRequest(
            instructions=await instructed(run, agent.instructions, self._view(changes)),
            messages=tuple(self._messages),
            tools=tuple(tool.spec for tool in agent.tools.values()),
            settings=agent.settings,
        )
        response, _ = await answered(run, agent.model, request, f"{self._context.node}/{key}")
        run.count_usage(response.usage)
        run.used_apart = run.used_apart + response.usage
        self._tokens += response.usage.total_tokens
        message = _message(key, response, number)
        changes |= await hooked(run, agent.hooks, "after_step", lambda: self._view(changes, message))
        record = {key: encode_message(message)}
        if changes:
            record[f"{_CHANGES} {number}"] = join_object(changes)
        await self._context.record(record)
        return record[key]

    def _count(self) -> None:
        """Count a request of the model in this attempt, against the limits of the agent and of the run."""
        self._context.run.check_tokens()
        limits, name = self._agent.limits, self._agent.name
        if limits.steps is not None and self._steps >= limits.steps:
            raise RunStopped(over_limit("steps", f"{limits.steps} steps of agent {name!r}"))
        if limits.tokens is not None and self._tokens >= limits.tokens:
            raise RunStopped(over_limit("tokens", f"{limits.tokens} tokens of agent {name!r}"))
        self._steps += 1

    def _view(self, changes: Mapping[str, bytes] | None = None, said: Message | None = None) -> StateView:
        messages = (*self._messages, said) if said else tuple(self._messages)
        return self._state.over(
            {**self._changed, **(changes or {})}, LazySequence(messages, lambda message: message.as_dict())
        )

    async def _outcomes(self, reply: Message) -> list[Message]:
        """The results of a reply's calls, in its order. Raises Paused when the ungated ones are done and people are to be asked."""
        keys = {call.id: self._context.key_of(call.id) for call in reply.tool_calls}
        found = {call.id: self._context.known(keys[call.id]) for call in reply.tool_calls}
        results = {
            call_id: decode_message(value, message_id=f"result {call_id}", created_at_ms=0)
            for call_id, value in found.items()
            if value is not None
        }
        left = [(place, call) for place, call in enumerate(reply.tool_calls) if call.id not in results]
        plan = plan_calls(left, {DECIDED: self._decided(reply)}, self._agent.tools, self._agent.gated)
        results |= {settled.call.id: _settled(settled) for settled in plan.settled}
        tasks = {ready.call.id: asyncio.create_task(self._call(ready, keys[ready.call.id])) for ready in plan.ready}
        outcomes = await asyncio.gather(*tasks.values(), return_exceptions=True)
        paused = [question for each in outcomes if isinstance(each, Paused) for question in each.questions]
        for call_id, outcome in zip(tasks, outcomes, strict=True):
            if isinstance(outcome, Message):
                results[call_id] = outcome
            elif not isinstance(outcome, Paused):
                raise outcome
        node = self._context.node
        questions = [*(replace(each, subject=f"{node}/{each.subject}") for each in plan.questions), *paused]
        if questions:
            raise Paused(*questions)
        return [results[call.id] for call in reply.tool_calls]

    def _decided(self, reply: Message) -> dict[str, Any]:
        found = {call.id: self._context.answer(f"{self._context.node}/{call.id}") for call in reply.tool_calls}
        return {call_id: dict(answer) for call_id, answer in found.items() if answer is not None}

    async def _call(self, ready: Ready, key: str) -> Message:
        outcome, output = await self._run(ready, key)
        message = _result(ready.call.id, ready.call.name, outcome, output)
        try:
            await self._context.record({key: encode_message(message)})
        except (StateTooLargeError, ValueError) as error:
            refused = ToolOutput((TextPart(f"the result of {ready.call.name} cannot be kept: {error}"),))
            message = _result(ready.call.id, ready.call.name, "failed", refused)
            await self._context.record({key: encode_message(message)})
        return message

    async def _run(self, ready: Ready, key: str) -> tuple[Outcome, ToolOutput]:
        context, tool = self._context, ready.tool
        question = context.outcome_question(key, tool.name, ready.call.args)
        try:
            said = await context.begin_once(key, question) if tool.once else None
        except StepFailedError as error:
            return "failed", ToolOutput((TextPart(str(error)),))
        if said is not None:
            return "done", ToolOutput((TextPart(said.decode()),), said)
        context.check()
        call = tool.call(ready.values, context.tool_context(key))
        try:
            return "done", await in_time(context.run, tool, call, question, self._agent.limits.tool_seconds)
        except (ToolArgumentError, ToolResultError, ToolTimedOutError) as error:
            return "failed", ToolOutput((TextPart(str(error)),))
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - a raise is an ordinary outcome, which the model is told
            return "failed", ToolOutput((TextPart(told(error)),))


def _message(key: str, response: ModelResponse, number: int) -> Message:
    return Message(
        key,
        "assistant",
        minted(response.content, f"call_{number}", response),
        0,
        model=response.model,
        usage=response.usage,
        finish_reason=response.finish_reason,
        provider=response.provider,
    )


def _settled(settled: Settled) -> Message:
    output = ToolOutput((TextPart(settled.content),), settled.structured)
    return _result(settled.call.id, settled.call.name, settled.outcome, output)


def _result(call_id: str, name: str, outcome: Outcome, output: ToolOutput) -> Message:
    drafted = result_message(0, call_id, name, outcome, output)
    return Message(f"result {call_id}", drafted.role, drafted.content, 0)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
