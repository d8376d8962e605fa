"""`clew chat`: a conversation with an app, in a terminal or through a pipe."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from clew_server.cli.calls import DEFAULT_TARGET, Actor, Target, connect, refuse
from clew_server.cli.given_values import not_empty

if TYPE_CHECKING:
    import asyncio

    from clew import Client

HELP = """Talk with an app. Text streams as it comes; tool calls are shown, and approvals asked for, as they happen.

Ctrl-C stops the answer (it is saved), /retry continues it, /help lists the other commands. The conversation is kept on the server under
--thread; without one it gets a new id.

From a pipe each line is a turn, or the answer to an approval: approve, reject WHY, edit JSON, later. Exit code 0: every turn was completed;
1: one was refused or failed; 3: an approval waits. It has no --json: a program takes the client, and reads `clew threads messages ID --json`
or `clew threads retry ID --json`.

For example:

  clew chat support

  clew chat support --thread ticket-7 --actor ada

  printf 'Please refund A-1001\\napprove\\n' | clew chat support
"""


def chat(
    app: Annotated[
        str,
        typer.Argument(metavar="APP", help="Its name; not needed where the server has only one.", callback=not_empty),
    ] = "",
    thread: Annotated[
        str, typer.Option(metavar="ID", help="The thread to go on with, or to begin.", callback=not_empty)
    ] = "",
    target: Target = DEFAULT_TARGET,
    actor: Actor = "",
) -> None:
    """The command."""
    import asyncio  # noqa: PLC0415  help needs neither

    from clew import ClewError  # noqa: PLC0415

    with asyncio.Runner() as runner:
        try:
            code = _converse(runner, target, app, thread or f"chat-{secrets.token_hex(4)}", actor)
        except ClewError as error:
            refuse(error, target)
        except (KeyboardInterrupt, asyncio.CancelledError):
            code = 130
    raise typer.Exit(code)


def _converse(runner: asyncio.Runner, target: str, app: str, thread_id: str, actor: str) -> int:
    from clew_server.cli.conversation import Conversation  # noqa: PLC0415

    client = runner.run(_connect(target))
    try:
        name = runner.run(_served(client, app))
        conversation = Conversation(runner, client, client.app(name).thread(thread_id, actor))
        conversation.greet(name)
        return conversation.run()
    finally:
        runner.run(client.close())


async def _connect(target: str) -> Client:
    return connect(target)


async def _served(client: Client, wanted: str) -> str:
    """The app that is wanted, or the only one. Raises AppNotFoundError before anyone has said anything to it."""
    from clew import AppNotFoundError  # noqa: PLC0415

    apps = {app.name: app for app in await client.apps.list()}
    names = [*apps]
    there = ", ".join(names) or "none"
    if wanted:
        if wanted not in names:
            text = f"no app {wanted!r} is served here; there are: {there}"
            raise AppNotFoundError(text, metadata={"app": wanted})
    elif len(names) != 1:
        raise typer.BadParameter(f"say which app to talk with; the server has: {there}", param_hint="APP")
    name = wanted or names[0]
    if apps[name].kind == "workflow":
        raise typer.BadParameter(
            f"{name!r} is a workflow: it takes values and no messages. Run it from a program "
            f"(client.workflow({name!r}).thread(ID).run({{…}})); what it waits for is answered by clew approvals decide ID --value JSON.",
            param_hint="APP",
        )
    return name
