"""Promise 7: every backend and every surface equals one simple model of a thread, whatever commands come in whatever order."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from clew_engine import attempts
from clew_engine.models import ModelEvent, ModelRequest
from clew_engine.open_threads import OpenThread
from tests.faults import figures
from tests.faults.plans import PlanModel
from tests.faults.thread_model import ModelThread, Refusal
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.scripts import rejected
from tests.scenarios.sights import Turn
from tests.scenarios.world import ERRORS, Handle, InProcess, Surface, World
from tests.support.postgres import a_name, in_schema

URLS = {"memory": "memory://", "sqlite": "sqlite://{folder}/clew.db"}
IDS = ("one", "two")
PLANS = ("", "|fetch", "|guarded", "|fetch guarded", "|guarded guarded|fetch", "|fetch fetch")
names = st.sampled_from(IDS)
# Mostly what is right, sometimes nothing, sometimes what is wrong.
expectations = st.sampled_from((None, None, 0, 0, 0, 1, -1))
keys = st.sets(st.sampled_from("abc"))
states = st.dictionaries(st.sampled_from("abc"), st.integers(0, 9))


class BreakableModel(PlanModel):
    """Refuses every request while it is broken."""

    broken = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See PlanModel."""
        if self.broken:
            raise rejected()
        async for event in super().stream(request):
            yield event


async def fetch() -> str:
    """Runs at once."""
    return "fetch done"


async def guarded() -> str:
    """Waits for a person."""
    return "guarded done"


class Threads(RuleBasedStateMachine):
    """Two threads, and the commands that anyone may give."""

    url = "memory://"
    surface: Surface = InProcess

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._folder = Path(tempfile.mkdtemp(prefix="clew-machine-"))
        url = self.url.format(folder=self._folder, schema=a_name("machine_"))
        self._world = World(url, self.surface)
        self._model = BreakableModel()
        self._world.agent(model=self._model, tools=[fetch, guarded], approve=["guarded"])
        self._threads: dict[str, Handle] = {name: self._do(self._world.thread(name)) for name in IDS}
        self._models = {name: ModelThread() for name in IDS}
        self._numbers = 0
        self._sent: list[tuple[str, str, str, list[Any]]] = []
        self._written: list[tuple[str, dict[str, int], str, Any]] = []

    def teardown(self) -> None:
        self._do(self._world.close())
        self._runner.close()
        shutil.rmtree(self._folder)

    def _do(self, work: Awaitable[Any]) -> Any:
        async def done() -> Any:
            return await work

        return self._runner.run(done())

    def _fresh(self, what: str) -> str:
        self._numbers += 1
        return f"{what}{self._numbers}"

    def _expected(self, name: str, off: int | None) -> int | None:
        return None if off is None else max(0, self._models[name].head + off)

    def _both(self, name: str, work: Awaitable[Any], told: Callable[[], Any]) -> Any:
        """Give a command to the product and to the model: both refuse, or both do the same."""
        reply, code = self._try(work)
        expected: Any = None
        codes: tuple[str, ...] = ("",)
        try:
            expected = told()
        except Refusal as refusal:
            codes = refusal.codes
        assert code in codes, f"{code or reply} where the model says {codes}"
        if isinstance(expected, bool):
            assert reply is expected
        elif isinstance(expected, int):
            assert len(reply) == expected
        self._compare(name)
        return reply

    def _try(self, work: Awaitable[Any]) -> tuple[Any, str]:
        """What a command gives, or the code that it is refused with."""
        try:
            return self._do(work), ""
        except ERRORS as error:
            return None, str(getattr(error, "code", error))

    def _compare(self, name: str) -> None:
        thread, model = self._threads[name], self._models[name]
        history = self._do(thread.history())
        assert [_shape(each) for each in history] == [
            (mark.version, mark.parent, mark.status, mark.source, mark.run, mark.attempt) for mark in model.line()
        ]
        messages = [_heard(message) for message in self._do(thread.messages())]
        top = model.top
        assert messages == [(each.role, each.text, each.outcome) for each in (top.said if top else ())]
        if top is not None:
            assert self._do(thread.state()) == top.state
        waiting = [each for each in self._do(thread.approvals()) if each["state"] == "pending"]
        assert len(waiting) == (len(top.waiting) if top and top.status == "suspended" else 0)
        if model.there:
            info = self._do(thread.info())
            assert (info["name"], info["version"], info["status"]) == (
                model.name,
                model.head,
                top.status if top else None,
            )

    @rule(name=names, plan=st.sampled_from(PLANS), off=expectations)
    def send(self, name: str, plan: str, off: int | None) -> None:
        text, request, expected = self._fresh("turn") + plan, self._fresh("request"), self._expected(name, off)
        work = self._threads[name].send(text, request_id=request, expected_version=expected)
        turn = self._both(name, work, lambda: self._models[name].send(text, expected, broken=self._model.broken))
        if isinstance(turn, Turn) and expected is None:
            self._sent.append((name, text, request, turn.logged))

    @precondition(lambda self: self._sent)
    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        name, text, request, logged = data.draw(st.sampled_from(self._sent))
        turn = self._both(name, self._threads[name].send(text, request_id=request), lambda: None)
        assert turn.logged == logged

    @precondition(lambda self: self._sent)
    @rule(data=st.data())
    def use_a_request_id_for_something_else(self, data: st.DataObject) -> None:
        name, text, request, _ = data.draw(st.sampled_from(self._sent))
        self._both(name, self._threads[name].send(f"not {text}", request_id=request), _refuse("request_id_reused"))

    @rule(name=names, data=st.data(), off=expectations)
    def decide(self, name: str, data: st.DataObject, off: int | None) -> None:
        model = self._models[name]
        approvals = self._do(self._threads[name].approvals())
        if not approvals or model.top is None:
            return
        chosen = data.draw(st.lists(st.sampled_from(range(len(approvals))), min_size=1, unique=True))
        answers = {number: data.draw(st.booleans()) for number in chosen}
        expected = self._expected(name, off)
        ids = {approvals[number]["id"]: answer for number, answer in answers.items()}
        places = {model.top.waiting[number]: answer for number, answer in answers.items()}
        work = self._threads[name].decide(ids, expected_version=expected)
        self._both(name, work, lambda: model.decide(places, expected, broken=self._model.broken))
        if expected is None:
            _, code = self._try(self._threads[name].decide(ids))
            assert code in ("approval_already_decided", "resume_invalid", "approval_not_found")
            self._compare(name)

    @rule(name=names, off=expectations)
    def retry(self, name: str, off: int | None) -> None:
        expected = self._expected(name, off)
        work = self._threads[name].retry(expected_version=expected)
        self._both(name, work, lambda: self._models[name].retry(expected, broken=self._model.broken))

    @rule(name=names)
    def cancel(self, name: str) -> None:
        self._both(name, self._threads[name].cancel(), self._models[name].cancel)

    @precondition(lambda self: any(model.marks for model in self._models.values()))
    @rule(data=st.data(), off=expectations)
    def rewind(self, data: st.DataObject, off: int | None) -> None:
        name = data.draw(st.sampled_from([name for name in IDS if self._models[name].marks]))
        version, expected = data.draw(st.sampled_from(sorted(self._models[name].marks))), self._expected(name, off)
        uid = self._do(self._threads[name].info())["thread_uid"]
        work = self._threads[name].rewind(f"{uid}.{version}", expected_version=expected)
        self._both(name, work, lambda: self._models[name].rewind(version, expected))

    @rule(source=names)
    def copy(self, source: str) -> None:
        (target,) = set(IDS) - {source}
        work = self._threads[source].copy(target)
        self._both(target, work, lambda: self._models[source].copy_to(self._models[target]))

    @rule(name=names)
    def update(self, name: str) -> None:
        called = self._fresh("name")
        self._both(name, self._threads[name].update(name=called), lambda: self._models[name].update(called))

    @rule(name=names, values=states, remove=keys, replace=st.booleans(), force=st.booleans(), off=expectations)
    def update_state(
        self, name: str, values: dict[str, int], remove: set[str], replace: bool, force: bool, off: int | None
    ) -> None:
        removed = set() if replace else remove - values.keys()
        request, expected = self._fresh("request"), self._expected(name, off)
        work = self._threads[name].update_state(
            values,
            remove_keys=sorted(removed),
            replace=replace,
            force=force,
            request_id=request,
            expected_version=expected,
        )
        written = self._both(
            name,
            work,
            lambda: self._models[name].update_state(values, removed, expected, replace=replace, force=force),
        )
        if written is not None and not (removed or replace or force) and expected is None:
            self._written.append((name, values, request, written))

    @precondition(lambda self: self._written)
    @rule(data=st.data())
    def update_state_again(self, data: st.DataObject) -> None:
        name, values, request, written = data.draw(st.sampled_from(self._written))
        assert self._both(name, self._threads[name].update_state(values, request_id=request), lambda: None) == written

    @rule(name=names, force=st.booleans(), off=expectations)
    def clear_state(self, name: str, force: bool, off: int | None) -> None:
        expected = self._expected(name, off)
        work = self._threads[name].clear_state(force=force, expected_version=expected)
        self._both(name, work, lambda: self._models[name].clear_state(expected, force=force))

    @rule(
        name=names,
        said=st.lists(
            st.tuples(st.sampled_from(("user", "assistant", "system")), st.sampled_from(PLANS)), min_size=1, max_size=3
        ),
        force=st.booleans(),
        off=expectations,
    )
    def append_messages(self, name: str, said: list[tuple[str, str]], force: bool, off: int | None) -> None:
        messages = [(role, self._fresh("added") + plan) for role, plan in said]
        expected = self._expected(name, off)
        given = [{"role": role, "content": text} for role, text in messages]
        work = self._threads[name].append_messages(given, force=force, expected_version=expected)
        self._both(name, work, lambda: self._models[name].append_messages(messages, expected, force=force))

    @rule(name=names, data=st.data(), plan=st.sampled_from(PLANS), force=st.booleans(), off=expectations)
    def update_message(self, name: str, data: st.DataObject, plan: str, force: bool, off: int | None) -> None:
        index, message_id = self._some_message(name, data)
        text, expected = self._fresh("edited") + plan, self._expected(name, off)
        work = self._threads[name].update_message(message_id, text, force=force, expected_version=expected)
        self._both(name, work, lambda: self._models[name].update_message(index, text, expected, force=force))

    @rule(name=names, data=st.data(), force=st.booleans(), off=expectations)
    def delete_message(self, name: str, data: st.DataObject, force: bool, off: int | None) -> None:
        index, message_id = self._some_message(name, data)
        expected = self._expected(name, off)
        work = self._threads[name].delete_message(message_id, force=force, expected_version=expected)
        gone = self._both(name, work, lambda: self._models[name].delete_message(index, expected, force=force))
        if gone is not None:
            # What is erased is erased from the log, too: an earlier turn is not told again as it was.
            self._sent = [each for each in self._sent if each[0] != name]

    def _some_message(self, name: str, data: st.DataObject) -> tuple[int | None, str]:
        """A message of the thread by its number in the transcript and its id, or one that is not there."""
        ids = [message["id"] for message in self._do(self._threads[name].messages())]
        index = data.draw(st.sampled_from((None, *range(len(ids)))))
        return index, "m0.0" if index is None else ids[index]

    @rule(name=names)
    def delete(self, name: str) -> None:
        self._sent = [each for each in self._sent if each[0] != name]
        self._written = [each for each in self._written if each[0] != name]
        self._both(name, self._threads[name].delete(), self._models[name].delete)

    @rule()
    def break_or_mend_the_model(self) -> None:
        self._model.broken = not self._model.broken


def _refuse(code: str) -> Any:
    def refuse() -> None:
        raise Refusal(code)

    return refuse


def _shape(checkpoint: dict[str, Any]) -> tuple[Any, ...]:
    parent, run = checkpoint["parent_id"] or ".0", checkpoint["run_id"]
    return (
        checkpoint["version"],
        int(parent.rpartition(".")[2]),
        *(checkpoint[name] for name in ("status", "source")),
        int(run.rpartition(".r")[2]),
        checkpoint["attempt"],
    )


def _heard(message: dict[str, Any]) -> tuple[str, str, str]:
    results = [part for part in message["content"] if part["type"] == "tool_result"]
    if results:
        return message["role"], results[0]["content"][0]["text"], results[0]["outcome"]
    return message["role"], "".join(part["text"] for part in message["content"] if part["type"] == "text"), ""


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
@pytest.mark.parametrize("backend", ["memory", "sqlite", "postgres"])
def test_every_backend_and_surface_equals_the_model(
    backend: str, surface: Surface, request: pytest.FixtureRequest
) -> None:
    url = URLS[backend] if backend in URLS else in_schema(request.getfixturevalue("postgres_dsn"), "{schema}")
    machine = type("Machine", (Threads,), {"url": url, "surface": staticmethod(surface)})
    examples = figures.times(20, 500)
    played(machine, examples)
    what = f"state machine, {backend}, {getattr(surface, '__name__', '')}"
    figures.record(figures.Figure(7, what, examples, variants=("expected versions are not heeded",)))


def played(machine: type[Threads], examples: int) -> None:
    """Play commands; raises where the product is not what the model is."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=figures.times(30, 50, least=30),
            deadline=None,
            derandomize=not figures.FULL,
            database=None,
            # Explaining a failure traces every line of every example.
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_thread_that_does_not_heed_expected_versions_differs_from_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenThread, "expect", lambda *_: None)
    monkeypatch.setattr(attempts, "expect_version", lambda *_: None)
    with pytest.raises(AssertionError):
        played(type("Machine", (Threads,), {"url": URLS["memory"]}), 50)
    figures.catch("expected versions are not heeded")
