"""`clew approvals`: the inbox of what waits for people, across threads."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import DEFAULT_TARGET, AsJson, Target, call
from clew_server.cli.given_values import not_empty
from clew_server.cli.output import (
    console,
    moment,
    one_line,
    plain,
    print_fields,
    print_json,
    print_table,
    say,
    status_text,
)
from clew_server.cli.run_view import RunView

if TYPE_CHECKING:
    from clew import Approval, Client

approvals = typer.Typer(no_args_is_help=True, help="The inbox of what waits for people, across threads.")
ApprovalIds = Annotated[list[str], typer.Argument(metavar="ID...", help="Approvals of one thread, by their ids.")]
ApprovalId = Annotated[str, typer.Argument(metavar="ID", help="The approval's id.")]
Decider = Annotated[str, typer.Option(metavar="NAME", envvar="CLEW_ACTOR", help="Who decides.", callback=not_empty)]
OfThread = Annotated[str, typer.Option("--thread", metavar="ID", help="Only this thread's.", callback=not_empty)]
OfApp = Annotated[str, typer.Option("--app", metavar="NAME", help="Only this app's.", callback=not_empty)]
OfUser = Annotated[str, typer.Option("--user", metavar="ID", help="Only this user's.", callback=not_empty)]


class StateChoice(StrEnum):
    """Where an approval may stand."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    VOID = "void"


@approvals.command("list")
def list_approvals(
    thread: OfThread = "",
    app: OfApp = "",
    user: OfUser = "",
    state: Annotated[StateChoice, typer.Option(help="Only those that stand so.")] = StateChoice.PENDING,
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """List approvals, oldest first. With --json: one approval a line.

    For example:

      clew approvals list

      clew approvals list --state rejected --json
    """

    async def work(client: Client) -> list[Approval]:
        return await client.approvals.list(thread_id=thread, app=app, user_id=user, state=state.value)

    found = call(target, work, as_json=as_json)
    if as_json:
        for approval in found:
            print_json(_as_json(approval))
        return
    rows = [
        (each.id, each.thread_id, _asked(each, 60), each.decided_by or each.requested_by, moment(each.created_at_ms))
        for each in found
    ]
    print_table(("id", "thread", "asks", "by", "asked"), rows, empty=f"nothing is {state.value}")


@approvals.command()
def show(approval_id: ApprovalId, as_json: AsJson = False, target: Target = DEFAULT_TARGET) -> None:
    """Show one approval: exactly what it asks, and whether it waits or how it ended.

    For example:

      clew approvals show 0123456789abcdef.a6.0
    """

    async def work(client: Client) -> Approval:
        return await client.approvals.get(approval_id)

    found = call(target, work, as_json=as_json)
    if as_json:
        print_json(_as_json(found))
        return
    print_fields(
        {
            "approval": found.id,
            "state": status_text(found.state),
            "asks": "what became of a call" if found.kind == "tool_outcome" else "",
            "tool": found.tool,
            "arguments": found.arguments_json,
            "decided arguments": found.decided_arguments_json,
            "prompt": found.prompt if isinstance(found.prompt, str) else _text(found.prompt),
            "answer by": _text(found.schema),
            "thread": found.thread_id,
            "run": found.run_id,
            "asked by": found.requested_by,
            "asked": moment(found.created_at_ms),
            "expires": moment(found.expires_at_ms),
            "decided by": found.decided_by,
            "decided": moment(found.decided_at_ms),
            "reason": found.reason,
        }
    )


@approvals.command()
def watch(
    thread: OfThread = "", app: OfApp = "", user: OfUser = "", as_json: AsJson = False, target: Target = DEFAULT_TARGET
) -> None:
    """Show what waits, then every change, until Ctrl-C. With --json: one change a line.

    For example:

      clew approvals watch --app support
    """

    async def work(client: Client) -> None:
        async for change in client.approvals.watch(thread_id=thread, app=app, user_id=user):
            if change.approval is not None:
                _show_change(change.approval, as_json=as_json)

    call(target, work, as_json=as_json)


@approvals.command()
def approve(
    ids: ApprovalIds,
    arguments: Annotated[
        str, typer.Option(metavar="JSON", help="Run with these arguments instead.", callback=not_empty)
    ] = "",
    actor: Decider = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Approve tool calls, and follow how the run goes on.

    For example:

      clew approvals approve 0123456789abcdef.a6.0 --actor ada

      clew approvals approve 0123456789abcdef.a6.0 --arguments '{"order_id": "A-1001", "amount": 20}'
    """
    if arguments and len(ids) > 1:
        raise typer.BadParameter("arguments belong to one approval; name one", param_hint="--arguments")
    answer: Any = {"arguments": _json(arguments, "--arguments")} if arguments else True
    _decide(dict.fromkeys(ids, answer), actor, target, as_json=as_json)


@approvals.command()
def reject(
    ids: ApprovalIds,
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why; the model reads it.")] = "",
    actor: Decider = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Reject tool calls, and follow how the run goes on.

    For example:

      clew approvals reject 0123456789abcdef.a6.0 --reason "the order is older than a year"
    """
    _decide({each: {"reject": reason} for each in ids}, actor, target, as_json=as_json)


@approvals.command()
def decide(
    approval_id: ApprovalId,
    run_again: Annotated[bool, typer.Option("--run-again", help="Start the call again.")] = False,
    result: Annotated[
        str, typer.Option(metavar="JSON", help="The call took effect, and gave this.", callback=not_empty)
    ] = "",
    fail: Annotated[
        str, typer.Option(metavar="TEXT", help="The call failed, for this reason.", callback=not_empty)
    ] = "",
    value: Annotated[
        str, typer.Option(metavar="JSON", help="The answer to a question of a workflow.", callback=not_empty)
    ] = "",
    actor: Decider = "",
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Say what became of a call whose outcome is not known, or answer a question. Exactly one of the options.

    For example:

      clew approvals decide 0123456789abcdef.a9.0 --result '{"refunded": "49.90"}'

      clew approvals decide 0123456789abcdef.a9.0 --run-again
    """
    given: dict[str, Any] = {}
    if run_again:
        given["run_again"] = True
    if result:
        given["result"] = _json(result, "--result")
    if fail:
        given["fail"] = fail
    if value:
        given["value"] = _json(value, "--value")
    if len(given) != 1:
        raise typer.BadParameter("give exactly one of --run-again, --result, --fail, --value")
    _decide({approval_id: given}, actor, target, as_json=as_json)


def _decide(answers: dict[str, Any], actor: str, target: str, *, as_json: bool) -> None:
    """Decide, and show the run until it stops; exit code 1 where it failed."""
    show: Callable[[Any], None] = RunView(console()).show

    async def work(client: Client) -> Any:
        thread = client.thread(await _thread_of(client, tuple(answers)), actor=actor)
        last = None
        async for event in thread.stream_decide(answers):
            if not as_json:
                show(event)
            if event.payload.terminal:
                last = event
        return last

    last = call(target, work, as_json=as_json)
    if as_json:
        print_json({"thread_id": last.thread_id, "type": last.type, **plain(last.payload)})
    elif last.type == "run_suspended":
        say(f"decided; the thread still waits for {', '.join(each.id for each in last.payload.approvals)}")
    if last.type == "run_failed":
        raise typer.Exit(1)


async def _thread_of(client: Client, ids: tuple[str, ...]) -> str:
    """The thread that these belong to. One that no longer waits has a thread too, which says why it refuses."""
    found = [await client.approvals.get(each) for each in ids]
    if len(threads := sorted({each.thread_id for each in found})) > 1:
        raise typer.BadParameter(f"these belong to several threads ({', '.join(threads)}); decide one thread at a time")
    return threads[0]


def _show_change(change: Approval, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(change))
        return
    out = console()
    out.print(f"{moment(change.decided_at_ms or change.created_at_ms)}  ", end="")
    out.print(status_text(change.state), f" {change.thread_id}  {_asked(change, 60)}  {change.id}", markup=False)


def _asked(approval: Approval, limit: int) -> str:
    if approval.kind == "pause":
        return one_line(approval.prompt, limit)
    unknown = "what became of " if approval.kind == "tool_outcome" else ""
    return f"{unknown}{approval.tool} {one_line(approval.arguments, limit)}"


def _text(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _as_json(approval: Approval) -> dict[str, Any]:
    view: dict[str, Any] = plain(approval)
    return {**view, "arguments": approval.arguments, "decided_arguments": approval.decided_arguments}


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint=option) from None
