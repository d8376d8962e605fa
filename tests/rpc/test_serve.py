"""`clew serve` as a process: what it says, how it fails, and that a kill loses nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from clew.v1.checkpoint_pb2 import CHECKPOINT_STATUS_IN_PROGRESS
from clew.v1.run_service_pb2 import RetryRequest, SendRequest
from clew.v1.thread_pb2 import RUN_STATE_INTERRUPTED
from clew.v1.thread_service_pb2 import GetThreadRequest
from clew_server.loading import LoadError, load
from clew_server.settings import Settings
from tests.support.serving import Stubs, events_of, kinds, refusal, stubs_on

CLEW = Path(sys.executable).with_name("clew")
AGENT = '''
import os
from pathlib import Path
from clew_engine import Agent, OfflineModel, tool
from clew_engine.models.offline_rules import after, otherwise

LEDGER = Path("ledger")

def note(line):
    with LEDGER.open("a") as file:
        file.write(line + "\\n")
        file.flush()
        os.fsync(file.fileno())

@tool
def charge() -> str:
    """Charge the card."""
    note("charged")
    return "charged"

@tool
async def wait() -> str:
    """Wait until a file is there."""
    import asyncio
    note("waiting")
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return "went"

shop = Agent("shop", model=OfflineModel([after("wait").say("Done."), after("charge").call("wait"), otherwise.call("charge")]), tools=[charge, wait])
'''


class Process:
    """A server's process, and stubs on it."""

    def __init__(self, process: asyncio.subprocess.Process, said: dict[str, Any], stubs: Stubs) -> None:
        self.process = process
        self.said = said
        self.stubs = stubs

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self) -> tuple[int, str]:
        """Its exit code, and what it said on stderr."""
        _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


async def clew(folder: Path, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    return await asyncio.create_subprocess_exec(
        CLEW,
        *arguments,
        cwd=folder,
        env=inherited | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def serve(folder: Path, *flags: str, **environment: str) -> AsyncGenerator[Process, None]:
    """`clew serve shop.py` on a SQLite file, ready."""
    where = ("--port", "0", "--storage", "sqlite://clew.db", "--json")
    process = await clew(folder, "serve", "shop.py", *where, *flags, **environment)
    assert process.stdout is not None
    line = await process.stdout.readline()
    assert line, (await process.communicate())[1].decode()
    said = json.loads(line)
    try:
        async with grpc.aio.insecure_channel(said["address"]) as channel:
            yield Process(process, said, stubs_on(channel))
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(AGENT)
    return tmp_path


async def up_to(call: Any, kind: str, count: int) -> None:
    """Read until that many events of a kind have come."""
    seen = 0
    while seen < count:
        seen += kinds((await call.read()).events).count(kind)


async def test_a_killed_server_comes_back_on_its_file_and_finishes_without_running_a_finished_tool_again(
    shop: Path,
) -> None:
    async with serve(shop) as server:
        assert server.said["apps"] == [{"name": "shop", "kind": "agent", "model": "offline"}]
        assert server.said["storage"] == "sqlite://clew.db"
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text="go"))
        await up_to(call, "tool_call_started", 2)
        server.signal(signal.SIGKILL)
        assert (await server.ended())[0] == -signal.SIGKILL
        with pytest.raises(grpc.aio.AioRpcError):
            await events_of(call)
    async with serve(shop) as server:
        thread = (await server.stubs.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
        assert thread.status == CHECKPOINT_STATUS_IN_PROGRESS
        assert thread.run.state == RUN_STATE_INTERRUPTED
        refused = await refusal(server.stubs.runs.Send(SendRequest(thread_id="t", text="again")))
        assert refused.reason == "THREAD_INTERRUPTED"
        (shop / "go").touch()
        events = await events_of(server.stubs.runs.Retry(RetryRequest(thread_id="t")))
        assert events[-1].run_completed.reply.text == "Done."
        server.signal(signal.SIGTERM)
        assert (await server.ended())[0] == 0
    ledger = (shop / "ledger").read_text().split()
    assert ledger.count("charged") == 1


async def test_it_ends_in_good_order_and_logs_json_lines(shop: Path) -> None:
    async with serve(shop, "--port-file", "port") as server:
        assert int((shop / "port").read_text()) == server.said["port"]
        await refusal(server.stubs.threads.GetThread(GetThreadRequest(thread_id="nope")))
        server.signal(signal.SIGINT)
        code, errors = await server.ended()
    assert code == 0
    lines = [json.loads(line) for line in errors.splitlines()]
    (line,) = [line for line in lines if line["event"] == "call"]
    assert (line["method"], line["code"], line["thread_id"]) == ("ThreadService/GetThread", "NOT_FOUND", "nope")
    assert lines[-1]["event"] == "stopping"


FLOW = """
from clew_engine import Workflow

flow = Workflow("flow")

@flow.node
def charge(state):
    raise ConnectionError("the bank is down")

flow.start("charge")
flow = flow.compile()
"""


async def test_what_a_node_raises_is_in_the_log_with_its_traceback(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(FLOW)
    async with serve(tmp_path) as server:
        events = await events_of(server.stubs.runs.Send(SendRequest(thread_id="t", app="flow", input_json=b"{}")))
        told = events[-1].run_failed.status.message
        assert told == "node 'charge' failed: ConnectionError: the bank is down"
        server.signal(signal.SIGTERM)
        _, errors = await server.ended()
    (line,) = [line for line in map(json.loads, errors.splitlines()) if line["level"] == "error"]
    assert "node 'charge' raised on thread t" in line["event"]
    assert 'shop.py", line 8, in charge' in line["event"]


async def test_a_second_signal_stops_at_once(shop: Path) -> None:
    async with serve(shop, "--grace", "600") as server:
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text="go"))
        await up_to(call, "tool_call_started", 2)
        server.signal(signal.SIGTERM)
        errors = server.process.stderr
        assert errors is not None
        while b'"stopping"' not in await errors.readline():
            pass
        server.signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert (await server.ended())[0] == 0


STUBBORN = """
import asyncio, time
from clew_engine import Agent, OfflineModel, tool
from clew_engine.models.offline_rules import when

@tool
def hang() -> str:
    "Never ends."
    while True:
        time.sleep(1)

@tool
async def swallow() -> str:
    "Will not be cancelled."
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass

shop = Agent("shop", model=OfflineModel([when("hang").call("hang"), when("swallow").call("swallow")]), tools=[hang, swallow])
"""


@pytest.mark.parametrize("tool", ["hang", "swallow"])
async def test_a_tool_that_never_ends_does_not_hold_the_server(tmp_path: Path, tool: str) -> None:
    (tmp_path / "shop.py").write_text(STUBBORN)
    async with serve(tmp_path, "--grace", "0.2") as server:
        call = server.stubs.runs.Send(SendRequest(thread_id="t", text=tool))
        await up_to(call, "tool_call_started", 1)
        server.signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert (await server.ended())[0] == 0
    async with serve(tmp_path) as server:
        thread = (await server.stubs.threads.GetThread(GetThreadRequest(thread_id="t"))).thread
        assert thread.run.state == RUN_STATE_INTERRUPTED


async def test_a_database_in_use_is_refused_by_the_name_of_its_owner(shop: Path) -> None:
    async with serve(shop) as server:
        process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "sqlite://clew.db")
        _, errors = await process.communicate()
        assert process.returncode == 1
        assert f"in use by process {server.process.pid}" in errors.decode()
        port = str(server.said["port"])
        process = await clew(shop, "serve", "shop.py", "--storage", "memory://", CLEW_PORT=port)
        _, errors = await process.communicate()
        assert process.returncode == 1
        assert "taken" in errors.decode()
        process = await clew(shop, "serve", "shop.py", "--storage", "sqlite://new.db", CLEW_PORT=port)
        await process.communicate()
        assert process.returncode == 1
        assert not [name for name in contents(shop) if name.startswith("new.db")]


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def test_a_file_that_is_refused_is_left_alone_with_its_folder(shop: Path) -> None:
    with closing(sqlite3.connect(shop / "songs.db")) as songs:
        songs.execute("PRAGMA journal_mode = WAL")
        songs.execute("CREATE TABLE songs (name TEXT)")
    before = contents(shop)
    process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "sqlite://songs.db")
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert "not one of Clew's" in errors.decode()
    assert contents(shop) == before


async def test_it_says_in_words_what_it_serves(shop: Path) -> None:
    process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "memory://")
    assert process.stdout is not None
    said = [(await process.stdout.readline()).decode() for _ in range(4)]
    process.terminate()
    await process.communicate()
    assert said[0].startswith("clew listens on 127.0.0.1:")
    assert said[1].split() == ["storage", "memory://"]
    assert said[2].split() == ["app", "shop", "(offline):", "charge,", "wait"]


async def test_the_author_s_own_mistake_is_shown_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f():\n    return 1 / 0\n\nf()\n")
    process = await clew(tmp_path, "serve", "bad.py")
    _, errors = await process.communicate()
    assert process.returncode == 1
    told = errors.decode()
    assert 'bad.py", line 2, in f' in told
    assert "importlib" not in told
    assert told.splitlines()[-1] == "clew: bad.py could not be imported: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "port = 1\nhost 2\n",
            "clew.toml is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 6)",
        ),
        ("busy_timeot = 3\n", "clew.toml: there is no setting 'busy_timeot'; the nearest is 'busy_timeout'"),
        ("[server]\nport = 1\n", "clew.toml: there is no setting 'server'; the nearest is "),
    ],
)
async def test_a_file_of_settings_that_is_wrong_is_said_in_one_line(shop: Path, text: str, said: str) -> None:
    written(shop, "clew.toml", text)
    process = await clew(shop, "serve", "shop.py", "--json")
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert json.loads(errors)["error"]["message"].startswith(f"Invalid value: {said}")
    assert errors.count(b"\n") == 1


async def test_help_and_version_import_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys, time; from clew_server.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'grpc', 'pydantic', 'clew_engine', 'clew_storage', 'google.protobuf'} & set(sys.modules)\n"
        "print(f'{heavy or None} {time.process_time()}')\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    heavy, seconds = said.decode().splitlines()[-1].split()
    assert heavy == "None"
    assert float(seconds) < 0.5
    process = await clew(tmp_path, "--version")
    said, _ = await process.communicate()
    assert said.decode().startswith("clew 0.")


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


IMPORT = "from clew_engine import Agent\n"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a target imports is gone after its test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def test_every_agent_of_a_file_is_found_once(tmp_path: Path) -> None:
    target = written(tmp_path, "two.py", IMPORT + "a = Agent('a')\nalso_a = a\nb = Agent('b')\n")
    assert [agent.name for agent in load([target])] == ["a", "b"]
    assert [agent.name for agent in load([f"{target}:b"])] == ["b"]


def test_a_module_is_found_from_where_the_command_was_given(tmp_path: Path) -> None:
    (tmp_path / "shops").mkdir()
    written(tmp_path, "shops/__init__.py", "")
    written(tmp_path, "shops/books.py", IMPORT + "from shops import names\nbooks = Agent(names.BOOKS)\n")
    written(tmp_path, "shops/names.py", "BOOKS = 'books'\n")
    assert [agent.name for agent in load(["shops.books"])] == ["books"]


def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path, "neighbour.py", "NAME = 'n'\n")
    target = written(tmp_path, "own.py", IMPORT + "from neighbour import NAME\nn = Agent(NAME)\n")
    assert [agent.name for agent in load([target])] == ["n"]


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("nope.py", None, "no such file"),
        ("nope", None, "no such module"),
        ("nope.deep", None, "no such module"),
        ("empty.py", "x = 1", "no agent"),
        ("twice.py", IMPORT + "a = Agent('a')\nb = Agent('a')", "two agents are named 'a'"),
        ("one.py:b", IMPORT + "a = Agent('a')", "b is not there; one.py has these agents: a"),
        ("one.py:Agent", IMPORT + "a = Agent('a')", "is a type, and no Agent"),
        ("syntax.py", "def", "could not be imported: SyntaxError"),
        ("missing.py", "import nothing_like_this", "could not be imported: ModuleNotFoundError"),
        ("exits.py", "raise SystemExit(3)", "could not be imported: SystemExit"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, target: str, text: str | None, said: str) -> None:
    if text is not None:
        written(tmp_path, target.partition(":")[0], text)
    with pytest.raises(LoadError) as refused:
        load([target])
    assert said in str(refused.value)


def test_flags_go_before_the_environment_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "clew.toml", "port = 1\ngrace = 7.0\nbusy_timeout = 3\n")
    monkeypatch.setenv("CLEW_PORT", "2")
    monkeypatch.setenv("CLEW_GRACE", "8")
    settings = Settings.read({"port": 3, "grace": None})
    assert (settings.port, settings.grace, settings.busy_timeout) == (3, 8.0, 3.0)
    other = Path(written(tmp_path, "other.toml", "busy_timeout = 4\n"))
    assert Settings.read({}, other).busy_timeout == 4.0
    with pytest.raises(FileNotFoundError):
        Settings.read({}, tmp_path / "nope.toml")
