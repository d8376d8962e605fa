"""An agent as a node: its model's replies and its tools' outcomes are recorded in the step of the node that it is."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew_engine.agent_program import minted
from clew_engine.calls import DECIDED, Ready, known_output, known_tools, plan_calls, planned, result_message
from clew_engine.causes import told
from clew_engine.checkpoints import Call
from clew_engine.errors import StateTooLargeError
from clew_engine.hooks import hooked, instructed
from clew_engine.json_text import join_object, parse_stored, split_object
from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import Message, Outcome, TextPart, ToolCallPart, Usage, user_message
from clew_engine.model_streams import answered
from clew_engine.models import ModelRequest, ModelResponse
from clew_engine.node_talks import (
    announced,
    changes_key,
    decode_reply,
    encode_reply,
    is_reply,
    reply_key,
    result_key,
    told_call,
)
from clew_engine.runs import RunStopped, over_limit
from clew_engine.state import LazySequence, StateView
from clew_engine.tools import ToolArgumentError, ToolOutput, ToolResultError
from clew_engine.workflows.memos import Memos
from clew_engine.workflows.node_context import NodeContext, Paused, current
from clew_engine.workflows.step_failures import StepFailedError
from clew_engine.workflows.timed_calls import ToolTimedOutError, in_time
from clew_storage import LeaseLost

if TYPE_CHECKING:
    from clew_engine.agents import Agent

Ask = str | Callable[[StateView], Any]
Keep = str | Callable[[Message], Any]


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
        if is_reply(key):
            total = total + (decode_reply(value).usage or Usage())
    return total


class _Talk:
    """A conversation within a node. It lives in memory, and is told again from the memos when the node is entered again."""

    def __init__(self, agent: Agent, context: NodeContext, state: StateView, said: Message) -> None:
        self._agent = agent
        self._context = context
        self._state = state
        self._messages = [said]
        self._changed: dict[str, bytes] = {}
        self._announced: set[str] = set()
        self._fresh: set[str] = set()
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
        known = self._context.known(reply_key(number))
        reply = decode_reply(known) if known is not None else await self._asked(number)
        changes = self._context.known(changes_key(number))
        self._changed |= split_object(changes) if changes else {}
        return reply

    async def _asked(self, number: int) -> Message:
        agent, run = self._agent, self._context.run
        self._count()
        changes = await hooked(run, agent.hooks, "before_step", self._view)
        request = ModelRequest(
            instructions=await instructed(run, agent.instructions, self._view(changes)),
            messages=tuple(self._messages),
            tools=tuple(tool.spec for tool in (await known_tools(run, agent.tools)).values()),
            settings=agent.settings,
        )
        # No version is used twice and a node has one request at a time, so these ids are unique in the thread.
        version = run.thread.version + 1
        said_as = f"{self._context.node}/m{version}"
        response, tried = await answered(run, agent.model, request, said_as)
        run.count_usage(response.usage)
        run.used_apart = run.used_apart + response.usage
        self._tokens += response.usage.total_tokens
        message = _message(f"{said_as}.{tried}", response, version)
        changes |= await hooked(run, agent.hooks, "after_step", lambda: self._view(changes, message))
        record = {reply_key(number): encode_reply(message)}
        if changes:
            record[changes_key(number)] = join_object(changes)
        self._fresh |= {call.id for call in message.tool_calls}
        ready = plan_calls([*enumerate(message.tool_calls)], {}, agent.tools, agent.gated).ready
        begun = [each.call.id for each in ready if not each.tool.once]
        await self._context.record(record, *(announced(self._context.node, call_id) for call_id in begun))
        self._announced |= set(begun)
        return message

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
        found = {call.id: self._context.known(result_key(call.id)) for call in reply.tool_calls}
        results = {
            call_id: decode_message(value, message_id=f"result {call_id}", created_at_ms=0)
            for call_id, value in found.items()
            if value is not None
        }
        left = [(place, call) for place, call in enumerate(reply.tool_calls) if call.id not in results]
        decided = {DECIDED: self._decided(reply)}
        plan = await planned(self._context.run, left, decided, self._agent.tools, self._agent.gated)
        for settled in plan.settled:
            results[settled.call.id] = await self._recorded(settled.call, settled.outcome, settled.output)
        await self._announce(plan.ready)
        tasks = {ready.call.id: asyncio.create_task(self._call(ready)) for ready in plan.ready}
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

    async def _announce(self, ready: Sequence[Ready]) -> None:
        """Tell of the calls that begin now because the node was entered again. What is done once is told by its own intent."""
        calls = [self._told(each) for each in ready if not each.tool.once and each.call.id not in self._announced]
        if calls:
            await self._context.announce(*calls)

    def _told(self, ready: Ready) -> Call:
        return replace(ready.call, id=told_call(self._context.node, ready.call.id))

    async def _call(self, ready: Ready) -> Message:
        outcome, output = await self._run(ready)
        message = await self._recorded(ready.call, outcome, output)
        self._context.acknowledge(ready.tool, told_call(self._context.node, ready.call.id))
        return message

    async def _recorded(self, call: Call | ToolCallPart, outcome: Outcome, output: ToolOutput) -> Message:
        message, key = _result(call.id, call.name, outcome, output), result_key(call.id)
        try:
            await self._context.record({key: encode_message(message)})
        except (StateTooLargeError, ValueError) as error:
            refused = ToolOutput((TextPart(f"the result of {call.name} cannot be kept: {error}"),))
            message = _result(call.id, call.name, "failed", refused)
            await self._context.record({key: encode_message(message)})
        return message

    async def _run(self, ready: Ready) -> tuple[Outcome, ToolOutput]:
        context, tool, key = self._context, ready.tool, result_key(ready.call.id)
        question = context.outcome_question(key, tool.name, ready.call.args)
        try:
            said = await context.begin_once(key, question, self._told(ready)) if tool.once else None
        except StepFailedError as error:
            return "failed", ToolOutput((TextPart(error.message),))
        if said is not None:
            return "done", known_output({"value": said.decode(), **(context.answer(question.subject) or {})})
        context.check()
        given = context.tool_context(
            told_call(context.node, ready.call.id), tool.name, fresh=ready.call.id in self._fresh
        )
        limit = self._agent.limits.tool_seconds
        try:
            return "done", await in_time(context.run, tool, lambda: tool.call(ready.values, given), question, limit)
        except LeaseLost:
            raise
        except (ToolArgumentError, ToolResultError, ToolTimedOutError) as error:
            return "failed", ToolOutput((TextPart(str(error)),))
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - a raise is an ordinary outcome, which the model is told
            return "failed", ToolOutput((TextPart(told(error)),))


def _message(message_id: str, response: ModelResponse, version: int) -> Message:
    return Message(
        message_id,
        "assistant",
        minted(response.content, f"call_{version}", response),
        0,
        model=response.model,
        usage=response.usage,
        finish_reason=response.finish_reason,
        provider=response.provider,
    )


def _result(call_id: str, name: str, outcome: Outcome, output: ToolOutput) -> Message:
    drafted = result_message(0, call_id, name, outcome, output)
    return Message(f"result {call_id}", drafted.role, drafted.content, 0)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
