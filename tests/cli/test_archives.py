from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clew_engine import Agent, OfflineModel, Storage
from tests.cli.conftest import CLEW, Cli, run_clew
from tests.cli.terminal import Terminal
from tests.support.privileges import bound_by_permissions

Clew = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def clew(tmp_path: Path) -> Clew:
    """The command in a folder of its own, where `source.db` has three threads."""
    with_threads(tmp_path / "source.db", "abc")

    def run(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        return run_clew(*arguments, folder=tmp_path, given=given)

    return run


def with_threads(path: Path, names: str) -> None:
    storage = Storage(f"sqlite://{path}")
    agent = Agent("support", model=OfflineModel(), storage=storage)
    for name in names:
        agent.thread(name).send_sync("hi", user_id="ada" if name == "a" else "bob")
    storage.aclose_sync()


def test_threads_go_from_a_file_to_another(clew: Clew, tmp_path: Path) -> None:
    done = clew("export", "--storage", "sqlite://source.db", "it.jsonl.gz", "--json")
    exported = json.loads(done.stdout)
    assert (done.returncode, exported["threads"], exported["resumed"]) == (0, 3, 0)

    done = clew("import", "--storage", "sqlite://target.db", "it.jsonl.gz", "--json")
    assert json.loads(done.stdout) == {
        "imported": 3, "skipped": 0, "bytes": exported["bytes"], "sha256": exported["sha256"], "dry_run": False
    }  # fmt: skip

    done = clew("import", "--storage", "sqlite://target.db", "it.jsonl.gz")
    assert done.stdout.startswith("imported 0 threads, 3 are here already, ")
    assert done.stdout.endswith(f"SHA-256 {exported['sha256']}\n")


def test_an_archive_goes_through_a_pipe(clew: Clew) -> None:
    out = clew("export", "--storage", "sqlite://source.db", "--user", "bob", "--app", "support", "-")
    assert out.stderr.startswith("exported 2 threads, ")
    done = clew("import", "--storage", "sqlite://target.db", "-", given=out.stdout)
    assert done.stdout.startswith("imported 2 threads, 0 are here already")


def test_a_dry_run_makes_no_database(clew: Clew, tmp_path: Path) -> None:
    clew("export", "--storage", "sqlite://source.db", "it.jsonl")
    assert (
        "target.db does not exist; name the file"
        in clew("import", "--storage", "sqlite://target.db", "it.jsonl", "--dry-run").stderr
    )
    assert not (tmp_path / "target.db").exists()
    done = clew("import", "--storage", "sqlite://source.db", "it.jsonl", "--dry-run")
    assert done.stdout.startswith("would import 0 threads, 3 are here already")


def test_an_export_that_was_stopped_is_gone_on_with(clew: Clew, tmp_path: Path) -> None:
    clew("export", "--storage", "sqlite://source.db", "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    (tmp_path / "it.jsonl").write_bytes(whole[: len(whole) // 2])
    done = clew("import", "--storage", "sqlite://target.db", "it.jsonl")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "after 1 whole threads: it was cut off" in done.stderr
    assert "--resume" in done.stderr

    done = clew("export", "--storage", "sqlite://source.db", "it.jsonl", "--resume")
    assert done.stdout.startswith("exported 3 threads, 1 of them before, ")
    assert (tmp_path / "it.jsonl").read_bytes() == whole


def test_an_export_that_another_database_began_is_not_gone_on_with(clew: Clew, tmp_path: Path) -> None:
    with_threads(tmp_path / "other.db", "abcd")
    clew("export", "--storage", "sqlite://source.db", "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    (tmp_path / "it.jsonl").write_bytes(whole[: len(whole) // 2])
    done = clew("export", "--storage", "sqlite://other.db", "it.jsonl", "--resume")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "it was begun from another one" in done.stderr
    assert (tmp_path / "it.jsonl").read_bytes() == whole[: len(whole) // 2]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("export", "--storage", "sqlite://source.db", "it", "--thread", "none"), "thread_not_found"),
        (("export", "--storage", "sqlite://source.db", "it", "--thread", "a", "--app", "b"), "argument_invalid"),
        (("import", "--storage", "sqlite://source.db", "none"), "argument_invalid"),
        (("import", "--storage", "sqlite://source.db", "source.db"), "data_corrupt"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_1(clew: Clew, arguments: tuple[str, ...], code: str) -> None:
    done = clew(*arguments, "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["error"]["code"] == code


def test_a_served_file_is_exported_and_counted_and_not_imported_to(cli: Cli, tmp_path: Path) -> None:
    cli.suspended("waits")
    cli.talked("done")
    url = f"sqlite://{cli.database}"
    exported = cli.json("export", "--storage", url, str(tmp_path / "it.jsonl"))
    assert exported["threads"] == 2

    stats = cli.json("storage", "stats", "--storage", url, "--largest", "1")
    assert (stats["threads"], stats["by_status"]) == (2, {"completed": 1, "suspended": 1})
    assert list(stats["kinds"]) == ["checkpoints", "messages", "states", "approvals", "requests", "cache"]
    assert stats["kinds"]["approvals"]["rows"] == 1
    assert [size["thread_id"] for size in stats["largest"]] == ["waits"]
    assert stats["database_bytes"] > stats["largest"][0]["bytes"] > 0

    done = cli.run("import", "--storage", url, str(tmp_path / "it.jsonl"))
    assert done.returncode == 1
    assert "is in use by process" in done.stderr


def test_stats_for_people_are_tables(clew: Clew) -> None:
    shown = clew("storage", "stats", "--storage", "sqlite://source.db").stdout
    lines = [line.split() for line in shown.splitlines()]
    assert lines[:2] == [["threads", "3"], ["completed", "3"]]
    assert ["kind", "rows", "bytes", "a", "thread"] in lines
    assert ["messages", "6"] in [line[:2] for line in lines]
    assert lines[-4][:2] == ["thread", "tenant"]


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    with_threads(tmp_path / "source.db", "abc")
    archive, pipe = tmp_path / "it", tmp_path / "pipe"
    subprocess.run([CLEW, "export", "--storage", f"sqlite://{tmp_path}/source.db", archive], check=True)
    os.mkfifo(pipe)
    command = f"exec {CLEW} import --storage sqlite://{tmp_path}/target.db - < {pipe}"
    with Terminal(["/bin/sh", "-c", command], os.environ) as terminal:
        with pipe.open("wb") as into:
            terminal.wait_for("importing")
            into.write(archive.read_bytes())
        assert terminal.ended() == 0
        assert "imported 3 threads" in terminal.shown


def test_what_only_reads_needs_no_right_to_write(clew: Clew, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "source.db").rename(shared / "clew.db")
    shared.chmod(0o555)
    try:
        for command in (["storage", "stats"], ["export", str(tmp_path / "it.jsonl")]):
            done = subprocess.run(
                bound_by_permissions(CLEW, *command, "--storage", f"sqlite://{shared}/clew.db"),
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, "")
    finally:
        shared.chmod(0o755)
    assert [each.name for each in shared.iterdir()] == ["clew.db"]
