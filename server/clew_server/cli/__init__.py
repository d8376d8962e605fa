"""The command `clew`. A command's module is imported when it is called: `clew --help` knows them by this table alone."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

# gRPC's own complaints repeat what is said in words here; it reads this when it is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

# The base of what Typer raises for a command that it cannot run; it is of Click, which Typer may carry with it.
_NotUnderstood: Any = typer.BadParameter.__mro__[2]

# Name, where it is (a function, or a Typer of several), and its line in the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("clew_server.cli.serve:serve", "Serve the agents of a module or file."),
    "chat": ("clew_server.cli.chat:chat", "Talk with an app."),
    "threads": ("clew_server.cli.threads:threads", "Look at threads, and change them."),
    "approvals": ("clew_server.cli.approvals:approvals", "The inbox of what waits for people, across threads."),
    "migrate": ("clew_server.cli.migrate:migrate", "Bring a database's format up to date."),
    "export": ("clew_server.cli.exporting:export", "Write threads with everything to a file."),
    "import": ("clew_server.cli.importing:import_", "Take the threads of a file into a database."),
    "storage": ("clew_server.cli.storage:storage", "Look at a database."),
    "retention": ("clew_server.cli.retention:retention", "Delete threads that are old, and trim long ones."),
    "apps": ("clew_server.cli.apps:apps", "List the apps that a server runs."),
    "workers": ("clew_server.cli.tool_workers:workers", "List the processes that run tools for a server's apps."),
}


class LazyCommands(TyperGroup):
    """Lists commands by the table, and imports the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What the help shows of a command."""
        if cmd_name not in COMMANDS:
            return None
        stub = typer.Typer(help=COMMANDS[cmd_name][1])
        stub.command(name=cmd_name, help=COMMANDS[cmd_name][1])(_nothing)
        return typer.main.get_command(stub)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself, for it is called now."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, _loaded(name) if name else command, rest


app = typer.Typer(
    name="clew",
    cls=LazyCommands,
    no_args_is_help=True,
    add_completion=False,
    help="Durable threads for agents and workflows, served over gRPC.",
    # Plain text: what draws the frames of the commands' own pages takes as long to import as all the rest.
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  only for who asks

        typer.echo(f"clew {version('clew-server')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """The entry of the command `clew`. With --json what was not understood is one line of JSON, as every other error is."""
    if "--json" not in sys.argv[1:]:
        app()
        return
    try:
        code = app(standalone_mode=False)
    except _NotUnderstood as error:
        body = {"code": "usage", "message": error.format_message(), "metadata": {}}
        sys.stderr.write(json.dumps({"error": body}, ensure_ascii=False) + "\n")
        code = error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _loaded(name: str) -> Any:
    place, line = COMMANDS[name]
    module, _, attribute = place.partition(":")
    found = getattr(import_module(module), attribute)
    parent = typer.Typer(add_completion=False, help=line)
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
        group: Any = typer.main.get_command(parent)
        return group.commands[name]
    parent.command(name=name, help=getattr(import_module(module), "HELP", None))(found)
    return typer.main.get_command(parent)


def _nothing() -> None:
    pass
