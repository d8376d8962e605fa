"""An operator's script: looks at stored threads and mends one, without the app that runs on it. The app's own retry then goes on.

    python examples/approval_over_days.py submit INV-7 -120      # fails: an invoice is of more than 0
    python examples/mend_thread.py list --status failed
    python examples/mend_thread.py show INV-7
    python examples/mend_thread.py set INV-7 amount=120 --dry-run
    python examples/mend_thread.py set INV-7 amount=120
    python examples/approval_over_days.py retry INV-7

CLEW_STORAGE names the database (default: sqlite://invoices.db). Where a server has it open, the client's threads have the same verbs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from typing import Any

from clew_engine import ClewError, Storage, open_storage


async def show_threads(storage: Storage, status: str) -> None:
    """A line for each thread, the newest first."""
    for thread in await storage.threads.list(limit=None, status=status):
        print(f"{thread.thread_id}  {thread.app or '-'}  {thread.status or '-'}  version {thread.version}")


async def show_thread(storage: Storage, thread_id: str) -> None:
    """How a thread stands, its state, and what was said on it."""
    thread = storage.thread(thread_id)
    info = await thread.info()
    print(f"{info.thread_id} of {info.app or 'no app'}: {info.status or 'nothing written'}, version {info.version}")
    for head in await thread.history(1):
        if "failure_message" in head:
            print(f"  {head['failure_code']}: {head['failure_message']}")
        if head["next"]:
            print(f"  next: {', '.join(head['next'])}")
    for key, value in (await thread.state()).items():
        print(f"  {key} = {json.dumps(value)}")
    for message in await thread.messages():
        print(f"  [{message['id']}] {message['role']}: {text_of(message)}")


async def set_values(storage: Storage, thread_id: str, values: dict[str, Any], *, dry_run: bool, force: bool) -> None:
    """Put values into the state, after saying what they change."""
    thread = storage.thread(thread_id)
    version, before = (await thread.info()).version, await thread.state()
    for key, value in values.items():
        print(f"{key}: {json.dumps(before[key]) if key in before else 'nothing'} -> {json.dumps(value)}")
    if dry_run:
        print("nothing was written")
        return
    # What was shown is what is changed: refused, if anyone wrote to the thread since.
    written = await thread.update_state(values, expected_version=version, force=force)
    print(f"written as version {written['version']}, {written['status']}")


async def edit_message(storage: Storage, thread_id: str, message_id: str, text: str, *, dry_run: bool) -> None:
    """Let a message say something else, in its place."""
    thread = storage.thread(thread_id)
    version = (await thread.info()).version
    print(f"{message_id}: {text_of(await thread.message(message_id))!r} -> {text!r}")
    if dry_run:
        print("nothing was written")
        return
    written = await thread.update_message(message_id, text, expected_version=version)
    print(f"written as version {written['version']}, {written['status']}")


def text_of(message: dict[str, Any]) -> str:
    """What a message says, in a line."""
    return " ".join(part["text"] for part in message["content"] if part["type"] == "text")


def assignment(text: str) -> tuple[str, Any]:
    """`amount=120` or `name="Ada"`: a key, and its value as JSON."""
    key, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError("write KEY=JSON, such as amount=120")
    try:
        return key, json.loads(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"the value of {key} is no JSON: {error}") from None


def arguments() -> argparse.Namespace:
    """The command line above."""
    parser = argparse.ArgumentParser(description="Look at stored threads, and mend one.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("list")
    listing.add_argument("--status", default="", help="in_progress, suspended, completed or failed")
    verbs.add_parser("show").add_argument("thread")
    setting = verbs.add_parser("set")
    setting.add_argument("thread")
    setting.add_argument("values", nargs="+", type=assignment, metavar="KEY=JSON")
    setting.add_argument("--force", action="store_true", help="also while the thread waits for decisions")
    editing = verbs.add_parser("edit")
    for name in ("thread", "message", "text"):
        editing.add_argument(name)
    for changing in (setting, editing):
        changing.add_argument("--dry-run", action="store_true", help="only say what would change")
    return parser.parse_args()


async def main() -> None:
    """Do what the command line says."""
    given = arguments()
    async with open_storage(os.environ.get("CLEW_STORAGE", "sqlite://invoices.db")) as storage:
        if given.verb == "list":
            await show_threads(storage, given.status)
        elif given.verb == "show":
            await show_thread(storage, given.thread)
        elif given.verb == "set":
            values = dict(given.values)
            await set_values(storage, given.thread, values, dry_run=given.dry_run, force=given.force)
        else:
            await edit_message(storage, given.thread, given.message, given.text, dry_run=given.dry_run)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except ClewError as error:
        sys.exit(f"{error.code}: {error}")
