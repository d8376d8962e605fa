from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import trustme

from clew import Client
from clew.settings import DEFAULT_TARGET as CLIENTS_TARGET
from clew_server.cli.calls import DEFAULT_TARGET
from clew_server.settings import DEFAULT_PORT
from tests.cli.conftest import APPS, CLEW, Cli, run_clew, unframed

COMMANDS = (
    "serve",
    "chat",
    "apps",
    "retention",
    *(f"threads {each}" for each in ("list", "show", "history", "messages", "rewind", "copy", "delete")),
    *(f"approvals {each}" for each in ("list", "watch", "approve", "reject", "decide")),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = subprocess.run([CLEW, *command.split(), "--help"], capture_output=True, text=True, timeout=60, check=True)

    assert f" clew {command} " in unframed(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], {"grpc", "pydantic", "asyncio", "clew", "clew_engine"}),
        (["threads", "list", "--help"], {"grpc", "clew", "clew_engine"}),
        (["approvals", "--help"], {"grpc", "clew", "clew_engine"}),
        (["chat", "--help"], {"grpc", "clew", "clew_engine"}),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], heavy: set[str]) -> None:
    program = (
        "import sys\nfrom clew_server.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )
    command = [sys.executable, "-c", program, *arguments]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert heavy & set(done.stderr.split()) == set()


def test_client_command_line_and_server_agree_on_where_a_server_is() -> None:
    assert {CLIENTS_TARGET, DEFAULT_TARGET} == {f"localhost:{DEFAULT_PORT}"}


def test_apps_are_listed_with_their_tools(cli: Cli) -> None:
    (app,) = cli.json_lines("apps")

    assert (app["name"], app["model"]) == ("support", "offline")
    assert [(tool["name"], tool["requires_approval"], tool["once"]) for tool in app["tools"]] == [
        ("look_up_order", False, False),
        ("refund", True, True),
        ("ship", False, True),
    ]
    assert "look_up_order, refund?!, ship!" in cli.shown("apps")


@pytest.mark.parametrize(
    "command", ["threads show nothing", "threads history nothing", "threads rewind nothing 1", "threads copy nothing x"]
)
def test_a_refusal_is_one_line_on_stderr_and_exit_code_1(cli: Cli, command: str) -> None:
    done = cli.run(*command.split())

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("clew: ")
    assert "not_found" in done.stderr


def test_a_refusal_is_json_for_programs(cli: Cli) -> None:
    done = cli.run("threads", "show", "nothing", "--json")

    error = json.loads(done.stderr)["error"]
    assert (done.returncode, done.stdout, error["code"]) == (1, "", "thread_not_found")
    assert error["metadata"] == {"thread_id": "nothing"}


def test_an_id_that_breaks_the_rule_names_its_field(cli: Cli) -> None:
    done = cli.run("threads", "show", "a/b", "--json")

    assert json.loads(done.stderr)["error"]["metadata"]["field"] == "thread_id"


@pytest.mark.parametrize("command", [["nothing"], ["threads", "list", "--limit", "0"], ["threads", "show"]])
def test_what_is_not_understood_is_exit_code_2(cli: Cli, command: list[str]) -> None:
    assert cli.run(*command).returncode == 2


def test_a_server_that_is_not_there_is_said_with_what_to_do() -> None:
    with Client("localhost:1") as client:
        done = Cli("localhost:1", client).run("threads", "list")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "clew serve" in done.stderr
    assert "localhost:1" in done.stderr
    assert "CLEW_CA" in done.stderr


def test_a_server_that_speaks_tls_is_said_to_be_a_reason(tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("localhost", "127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(cert)
    issued.private_key_pem.write_to_path(key)
    command = [CLEW, "serve", str(APPS), "--json", "--port", "0", "--storage", "memory://"]
    command += ["--tls-cert", str(cert), "--tls-key", str(key)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            target = json.loads(server.stdout.readline())["address"]
            with Client(target) as client:
                done = Cli(target, client).run("apps")
        finally:
            server.terminate()

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "CLEW_CA=FILE" in done.stderr


@pytest.mark.parametrize(
    ("set_", "says"),
    [
        ({"CLEW_CA": "system", "CLEW_CLIENT_CERT": "c.pem"}, "set CLEW_CLIENT_KEY, too"),
        ({"CLEW_CA": "system", "CLEW_CLIENT_KEY": "k.pem"}, "set CLEW_CLIENT_CERT, too"),
        ({"CLEW_CLIENT_CERT": "c.pem", "CLEW_CLIENT_KEY": "k.pem"}, "name the server's authority"),
    ],
)
def test_a_certificate_without_its_key_or_authority_is_said(set_: dict[str, str], says: str) -> None:
    done = run_clew("apps", "--json", environment=set_)

    assert (done.returncode, done.stdout) == (2, "")
    assert says in json.loads(done.stderr)["error"]["message"]


@pytest.mark.parametrize("arguments", [["threads", "show"], ["apps", "--bogus"], ["perhaps"], ["chat", "app"]])
def test_what_was_not_understood_is_one_line_of_json_for_programs(arguments: list[str]) -> None:
    done = run_clew(*arguments, "--json")

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["error"]["code"] == "usage"


def test_the_marks_of_tools_are_explained(cli: Cli) -> None:
    assert "? waits for approval" in cli.run("apps").stderr
