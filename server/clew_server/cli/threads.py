"""`clew threads`: look at threads, and change them."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import DEFAULT_TARGET, Actor, AsJson, Target, call
from clew_server.cli.following import exit_code, follow
from clew_server.cli.given_values import not_empty
from clew_server.cli.output import moment, one_line, plain, print_fields, print_json, print_table, say, status_text
from clew_server.cli.thread_state import state
from clew_server.cli.thread_view import at_checkpoint, print_history, print_messages, standing, waits

if TYPE_CHECKING:
    from clew import Client, ThreadInfo

threads = typer.Typer(no_args_is_help=True, help="Look at threads, and change them.")
threads.add_typer(state, name="state")
ThreadId = Annotated[str, typer.Argument(metavar="THREAD", help="The thread's id.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most that many.")]


class StatusChoice(StrEnum):
    """How a thread's head may stand."""

    IN_PROGRESS = "in_progress"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"


class OrderChoice(StrEnum):
    """What comes first in a list."""

    CREATED = "create_time"
    UPDATED = "update_time"


@threads.command("list")
def list_threads(
    app: Annotated[str, typer.Option(help="Only this app's.", callback=not_empty)] = "",
    user: Annotated[str, typer.Option(help="Only this user's.", callback=not_empty)] = "",
    status: Annotated[StatusChoice | None, typer.Option(help="Only those that stand so.")] = None,
    query: Annotated[str, typer.Option("--query", "-q", help="Only those whose id or name has this in it.")] = "",
    order: Annotated[OrderChoice, typer.Option(help="Which time puts a thread first.")] = OrderChoice.CREATED,
    limit: Limit = 20,
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """List threads, newest first. With --json: one thread a line.

    For example:

      clew threads list --status suspended

      clew threads list --app support --order update_time --json
    """

    async def work(client: Client) -> list[ThreadInfo]:
        standing_so = status.value if status else ""
        listing = client.threads.list
        return await listing(limit, app=app, user_id=user, status=standing_so, query=query, order=order.value)

    found = call(target, work, as_json=as_json)
    if as_json:
        for info in found:
            print_json(info)
        return
    print_table(("thread", "app", "status", "version>", "waits>", "updated"), map(_row, found), empty="no threads")


@threads.command()
def show(thread: ThreadId, as_json: AsJson = False, target: Target = DEFAULT_TARGET) -> None:
    """Show one thread: how it stands, its state, and what it waits for.

    For example:

      clew threads show ticket-7 --json
    """

    async def work(client: Client) -> tuple[Any, Any, Any, Any]:
        handle = client.thread(thread)
        info, state = await handle.info(), await handle.state()
        newest = await handle.history(1) if info.status else []
        return info, state, newest, await client.approvals.list(thread_id=thread)

    info, state, newest, waiting = call(target, work, as_json=as_json)
    if as_json:
        print_json({**plain(info), "state": state, "approvals": plain(waiting)})
        return
    print_fields(
        {
            "thread": info.thread_id,
            "app": info.app,
            "name": info.name,
            "user": info.user_id,
            "status": status_text(standing(info)),
            "version": info.version,
            "run": f"{info.run.run_id}, attempt {info.run.attempt}" if info.run else "",
            "created": moment(info.created_at_ms),
            "updated": moment(info.updated_at_ms),
            "metadata": one_line(info.metadata, 2000) if info.metadata else "",
            "state": one_line(state, 2000) if state else "",
            "next": ", ".join(newest[0]["next"]) if newest else "",
            **waits(waiting),
        }
    )


@threads.command()
def history(thread: ThreadId, limit: Limit = 20, as_json: AsJson = False, target: Target = DEFAULT_TARGET) -> None:
    """List a thread's checkpoints, newest first. With --json: one checkpoint a line.

    For example:

      clew threads history ticket-7 --limit 5
    """
    found = call(target, lambda client: client.thread(thread).history(limit), as_json=as_json)
    if as_json:
        for checkpoint in found:
            print_json(checkpoint)
    else:
        print_history(found)


@threads.command()
def messages(
    thread: ThreadId,
    search: Annotated[str, typer.Option("--search", "-s", help="Only messages with all of these words.")] = "",
    reasoning: Annotated[bool, typer.Option("--reasoning", help="Also what the model thought.")] = False,
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Show the conversation. With --json: one message a line.

    For example:

      clew threads messages ticket-7 --search refund
    """
    found = call(
        target, lambda client: client.thread(thread).messages(search=search, reasoning=reasoning), as_json=as_json
    )
    if as_json:
        for message in found:
            print_json(message)
    else:
        print_messages(found)


@threads.command()
def retry(
    thread: ThreadId,
    actor: Actor = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Continue a run that failed, was cancelled or interrupted, and follow it until it stops. What is done is not done again.

    Ctrl-C cancels the run (it is saved). With --json: one event a line. Exit code 0: the run was completed; 1: it was refused or failed; 3: it
    waits for a person.

    For example:

      clew threads retry ticket-7

      clew threads retry ticket-7 --actor ada --json
    """

    async def work(client: Client) -> int:
        return exit_code(await follow(client.thread(thread, actor=actor).stream_retry(), as_json=as_json))

    raise typer.Exit(call(target, work, as_json=as_json))


@threads.command()
def cancel(
    thread: ThreadId,
    run: Annotated[str, typer.Option("--run", metavar="ID", help="Only if it is this run.", callback=not_empty)] = "",
    actor: Actor = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Stop the run at the thread's head and save it; what waits for a person is given up. A retry continues it.

    For example:

      clew threads cancel ticket-7

      clew threads cancel ticket-7 --run 0123456789abcdef.r6
    """
    head = call(target, lambda client: client.thread(thread, actor=actor).cancel(run), as_json=as_json)
    if as_json:
        print_json(head)
    else:
        cancelled = head.get("failure_code") == "cancelled"
        what = "the run is cancelled" if cancelled else "nothing is left to cancel"
        say(f"{what}, version {head['version']} ({head['status']})")


@threads.command()
def rewind(
    thread: ThreadId,
    place: Annotated[str, typer.Argument(metavar="VERSION", help="A version of the history, or a checkpoint's id.")],
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Go back to an older checkpoint. Nothing is erased: the newer ones stay stored.

    For example:

      clew threads rewind ticket-7 12
    """

    async def work(client: Client) -> Any:
        handle = client.thread(thread)
        return await at_checkpoint(handle, place, handle.rewind)

    written = call(target, work, as_json=as_json)
    if as_json:
        print_json(written)
    else:
        say(f"version {written['version']} continues {place} ({written['status']})")


@threads.command()
def copy(
    thread: ThreadId,
    copy_id: Annotated[str, typer.Argument(metavar="COPY", help="The id of the copy.")],
    at: Annotated[
        str,
        typer.Option(metavar="VERSION", help="The last version to take; without it, the newest.", callback=not_empty),
    ] = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Copy a thread to a new one that owns all it has.

    For example:

      clew threads copy ticket-7 ticket-7-again --at 12
    """

    async def work(client: Client) -> Any:
        handle = client.thread(thread)
        if not at:
            return await (await handle.copy(copy_id)).info()
        made = await at_checkpoint(handle, at, lambda checkpoint_id: handle.copy(copy_id, checkpoint_id))
        return await made.info()

    info = call(target, work, as_json=as_json)
    if as_json:
        print_json(info)
    else:
        say(f"{thread} is copied to {info.thread_id} at version {info.version}")


@threads.command()
def delete(
    thread: ThreadId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Delete a thread and all that belongs to it, for good and at once.

    For example:

      clew threads delete ticket-7 --yes
    """
    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter("say --yes: nobody can be asked here", param_hint="--yes")
        typer.confirm(f"Delete thread {thread} for good?", abort=True)
    existed = call(target, lambda client: client.thread(thread).delete(), as_json=as_json)
    if as_json:
        print_json({"thread_id": thread, "existed": existed})
    else:
        say(f"{thread} is deleted" if existed else f"there was no thread {thread}")


def _row(info: ThreadInfo) -> tuple[Any, ...]:
    status, waits = status_text(standing(info)), info.pending_approvals or ""
    return info.thread_id, info.app, status, info.version, waits, moment(info.updated_at_ms)
