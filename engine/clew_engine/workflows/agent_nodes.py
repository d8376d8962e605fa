"""An agent as a node: its model's replies and its tools' outcomes are recorded in the step of the node that it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clew_engine.agent_program import minted
from clew_engine.approvals import Question
from clew_engine.calls import DECIDED, Plan, Ready, Settled, plan_calls
from clew_engine.events import ReasoningDelta, TextDelta
from clew_engine.message_codec import decode_message, encode_message
from clew_engine.messages import Message, TextPart, ToolCallPart, ToolResultPart, user_message
from clew_engine.models import ModelError, ModelRequest, ModelResponse, TextChunk
from clew_engine.state import StateView
from clew_engine.tools import ToolOutput, ToolResultError
from clew_engine.workflows.node_context import NodeContext, Paused, StepFailedError, current

if TYPE_CHECKING:
    from clew_engine.agents import Agent

Ask = str | Callable[[StateView], str]
Keep = str | Callable[[Message], Mapping[str, Any]]


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
        context = current()
        question = state[self._ask] if isinstance(self._ask, str) else self._ask(state)
        talk = _Talk(self.agent, context, state, user_message(str(question)))
        reply = await talk.execute()
        return {self._keep: reply.text} if isinstance(self._keep, str) else self._keep(reply)


class _Talk:
    """A conversation within a node. It lives in memory, and is told again from the memos when the node is entered again."""

    def __init__(self, agent: Agent, context: NodeContext, state: StateView, said: Message) -> None:
        self._agent = agent
        self._context = context
        self._state = state
        self._messages = [said]

    async def execute(self) -> Message:
        for number in range(self._agent.limits.steps or 1000):
            reply = await self._reply(number)
            self._messages.append(reply)
            if not reply.tool_calls:
                return reply
            self._messages += await self._outcomes(reply)
        raise StepFailedError(f"agent {self._agent.name!r} used up its {self._agent.limits.steps} steps")

    async def _reply(self, number: int) -> Message:
        key = f"reply {number}"
        known = self._context.memos.get(self._context.node, key)
        if known is None:
            known = encode_message(await self._asked(key, number))
            await self._context.record(key, known)
        return decode_message(known, message_id=key, created_at_ms=0)

    async def _asked(self, key: str, number: int) -> Message:
        instructions = self._agent.instructions
        told = instructions if isinstance(instructions, str | None) else await _awaited(instructions(self._state))
        request = ModelRequest(
            instructions=told,
            messages=tuple(self._messages),
            tools=tuple(tool.spec for tool in self._agent.tools.values()),
            settings=self._agent.settings,
        )
        response = await self._streamed(f"{self._context.node}/{key}", request)
        content = minted(response.content, f"call_{number}", response)
        return Message(
            key,
            "assistant",
            content,
            0,
            model=response.model,
            usage=response.usage,
            finish_reason=response.finish_reason,
            provider=response.provider,
        )

    async def _streamed(self, message_id: str, request: ModelRequest) -> ModelResponse:
        offsets: dict[tuple[type, int], int] = {}
        async with aclosing(self._agent.model.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, ModelResponse):
                    return item
                kind = TextDelta if isinstance(item, TextChunk) else ReasoningDelta
                part = (kind, item.part_index)
                offset = offsets.get(part, 0)
                offsets[part] = offset + len(item.text.encode())
                self._context.run.thread.emit(kind(message_id, item.part_index, offset, item.text))
        raise ModelError("model_incomplete", "the model's stream ended before its reply did", retryable=True)

    async def _outcomes(self, reply: Message) -> list[Message]:
        """The results of a reply's calls, in its order. Raises Paused when the ungated ones are done and people are to be asked."""
        calls = list(enumerate(reply.tool_calls))
        plan = plan_calls(calls, {DECIDED: self._decided(reply)}, self._agent.tools, self._agent.gated)
        results = {settled.position: _settled(settled) for settled in plan.settled}
        tasks = {ready.position: asyncio.create_task(self._call(ready)) for ready in plan.ready}
        outcomes = await asyncio.gather(*tasks.values(), return_exceptions=True)
        paused = [question for each in outcomes if isinstance(each, Paused) for question in each.questions]
        for position, outcome in zip(tasks, outcomes, strict=True):
            if isinstance(outcome, ToolResultPart):
                results[position] = outcome
            elif not isinstance(outcome, Paused):
                raise outcome
        questions = [*self._questions(plan), *paused]
        if questions:
            raise Paused(*questions)
        return [Message(f"result {part.tool_call_id}", "tool", (part,), 0) for _, part in sorted(results.items())]

    def _decided(self, reply: Message) -> dict[str, Any]:
        found = {call.id: self._context.answer(f"{self._context.node}/{call.id}") for call in reply.tool_calls}
        return {call_id: dict(answer) for call_id, answer in found.items() if answer is not None}

    def _questions(self, plan: Plan) -> list[Question]:
        node = self._context.node
        return [replace(question, subject=f"{node}/{question.subject}") for question in plan.questions]

    async def _call(self, ready: Ready) -> ToolResultPart:
        async def run() -> Any:
            context = self._context.tool_context(ready.call.id)
            try:
                return _plain(await ready.tool.call(ready.values, context))
            except ToolResultError as error:
                return {"error": str(error)}
            except Exception as error:  # noqa: BLE001 - a raise is an ordinary outcome, which the model is told
                return {"error": f"{type(error).__name__}: {error}"}

        try:
            kept = await self._context.step(ready.call.id, run, ready.tool.once, (), {})
        except StepFailedError as error:
            kept = {"error": str(error)}
        failed = isinstance(kept, dict) and set(kept) == {"error"}
        text = kept["error"] if failed else kept.get("text", "") if isinstance(kept, dict) else str(kept)
        return ToolResultPart(
            ready.call.id,
            ready.call.name,
            (TextPart(text),),
            is_error=failed,
            outcome="failed" if failed else "done",
        )


def _plain(output: ToolOutput) -> dict[str, str]:
    return {"text": "".join(part.text for part in output.content if isinstance(part, TextPart))}


def _settled(settled: Settled) -> ToolResultPart:
    call: ToolCallPart = settled.call
    return ToolResultPart(
        call.id, call.name, (TextPart(settled.content),), is_error=settled.outcome != "done", outcome=settled.outcome
    )


async def _awaited(value: Any) -> Any:
    return await value if asyncio.iscoroutine(value) else value
