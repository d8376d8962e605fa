"""`clew threads state`: read a thread's state, and change it from outside a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_server.cli.calls import DEFAULT_TARGET, AsJson, Target, call
from clew_server.cli.given_values import not_empty
from clew_server.cli.output import print_json, say

if TYPE_CHECKING:
    from clew import Client

state = typer.Typer(no_args_is_help=True, help="Read a thread's state, and change it from outside a run.")
ThreadId = Annotated[str, typer.Argument(metavar="THREAD", help="The thread's id.")]
Force = Annotated[
    bool, typer.Option("--force", help="Also while the thread waits for decisions; they stay to be made.")
]


@state.command("get")
def get_state(
    thread: ThreadId,
    at: Annotated[
        str, typer.Option(metavar="ID", help="The checkpoint; without it, the newest.", callback=not_empty)
    ] = "",
    target: Target = DEFAULT_TARGET,
) -> None:
    """Print the state as one JSON object.

    For example:

      clew threads state get ticket-7 | jq .customer
    """
    print_json(call(target, lambda client: client.thread(thread).state(at or None), as_json=True))


@state.command("set")
def set_state(
    thread: ThreadId,
    values: Annotated[str, typer.Argument(metavar="JSON", help="An object; its values replace those of the state.")],
    remove: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Remove this key; may be repeated.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Keep no other key.")] = False,
    as_node: Annotated[
        str,
        typer.Option(
            metavar="NODE",
            help="Take the values for what this node of a workflow returned; a retry goes on.",
            callback=not_empty,
        ),
    ] = "",
    app: Annotated[
        str,
        typer.Option(
            "--app",
            metavar="NAME",
            help="Whose thread it is where there is none yet, or it belongs to none.",
            callback=not_empty,
        ),
    ] = "",
    force: Force = False,
    as_json: AsJson = False,
    target: Target = DEFAULT_TARGET,
) -> None:
    """Change the state; makes the thread where there is none.

    For example:

      clew threads state set ticket-7 '{"customer": "Ada"}' --remove draft

      clew threads state set order-7 '{"paid": 12}' --as-node charge

      clew threads state set order-8 '{"paid": 12}' --as-node charge --app orders
    """
    given = _object(values)

    async def work(client: Client) -> Any:
        handle = client.app(app).thread(thread) if app else client.thread(thread)
        return await handle.update_state(given, remove_keys=remove or (), replace=replace, as_node=as_node, force=force)

    _written(call(target, work, as_json=as_json), as_json=as_json)


@state.command("clear")
def clear_state(
    thread: ThreadId, force: Force = False, as_json: AsJson = False, target: Target = DEFAULT_TARGET
) -> None:
    """Remove every value. Messages stay, and the state of older checkpoints.

    For example:

      clew threads state clear ticket-7
    """
    _written(
        call(target, lambda client: client.thread(thread).clear_state(force=force), as_json=as_json), as_json=as_json
    )


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"it is no JSON: {error}", param_hint="JSON") from None
    if not isinstance(value, dict):
        raise typer.BadParameter('an object is needed, such as \'{"customer": "Ada"}\'', param_hint="JSON")
    return value


def _written(checkpoint: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(checkpoint)
    else:
        say(f"version {checkpoint['version']} has the new state ({checkpoint['status']})")
