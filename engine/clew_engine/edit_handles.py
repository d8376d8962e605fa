"""The verbs of a handle that write a thread's state and messages from outside a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, cast

from clew_engine import commands, reads
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking
from clew_engine.commands.messages import NewMessage
from clew_engine.commands.state import StateUpdate
from clew_engine.errors import ArgumentInvalidError
from clew_engine.handles import Handle
from clew_engine.json_text import join_object
from clew_engine.message_input import MESSAGE_KEYS, Input, check_keys, input_of
from clew_engine.messages import ROLES, Message
from clew_engine.options import Mutation, WriteArguments
from clew_engine.paging import check_limit, check_offset
from clew_engine.state import encode_values, encoded_value


class EditHandle(Handle):
    """What can be written to a thread that no run writes. Each write is a checkpoint that keeps how the thread stands; options are WriteArguments."""

    @checked
    async def messages(
        self,
        *,
        search: str = "",
        order: Literal["oldest_first", "newest_first"] = "oldest_first",
        limit: int | None = None,
        offset: int = 0,
        reasoning: bool = False,
    ) -> list[dict[str, Any]]:
        """The conversation, from its beginning or its end; what models thought is left out unless asked for.

        With `search` only messages that have all of its words, whatever their case and accents; with a limit at most that many,
        after leaving out `offset`.
        """
        check_limit(limit)
        check_offset(offset)
        if order not in ("oldest_first", "newest_first"):
            raise ArgumentInvalidError("order", f"{order!r} is none of oldest_first, newest_first")
        found: list[Message] = []
        most = None if limit is None else offset + limit
        token = ""
        async with self.storage.calling(self.key):
            while True:
                size = 500 if most is None else min(500, most - len(found))
                page = await reads.list_messages(
                    self.storage,
                    self.key,
                    newest_first=order == "newest_first",
                    size=size,
                    token=token,
                    search=search,
                )
                found += page.items
                token = page.next_token
                if not token or len(found) == most:
                    return [message.as_dict(reasoning) for message in found[offset:]]

    @checked
    async def update_state(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        remove_keys: Sequence[str] = (),
        replace: bool = False,
        as_node: str = "",
        **options: Unpack[WriteArguments],
    ) -> dict[str, Any]:
        """Merges values into the state, each top-level value whole, and removes keys; with `replace` the state is `values` and nothing else.

        With `as_node` they are taken for what that node of a workflow returned: reducers merge them, the thread stands as failed (`updated`), and
        `retry` goes on with what follows the node. Forced on a thread that waits, its approvals are void. Makes the thread where there is none.
        """
        encoded = encode_values(values or {})
        force = options.get("force", False)
        update = StateUpdate(encoded, tuple(remove_keys), replace, force, self.app, as_node)
        mutation = _mutation(options, join_object(encoded), repr((update.remove_keys, replace, force, as_node)))
        async with self.storage.calling(self.key):
            written = await commands.update_state(
                self.storage,
                self.key,
                update,
                self._programs,
                mutation=mutation,
                options=self._run_options(options),
            )
        return written.as_dict()

    @checked
    async def clear_state(self, **options: Unpack[WriteArguments]) -> dict[str, Any]:
        """Removes every value from the state. Messages stay."""
        force = options.get("force", False)
        async with self.storage.calling(self.key):
            written = await commands.clear_state(
                self.storage,
                self.key,
                force=force,
                mutation=_mutation(options, b"", repr(force)),
                options=self._run_options(options),
            )
        return written.as_dict()

    @checked
    async def append_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[WriteArguments],
    ) -> list[str]:
        """Adds messages at the end, all or none, and gives their ids. No run begins; makes the thread where there is none.

        A message is a dict of `role` (user, assistant, system or tool) and `content` (a text or parts), with an `id` and `metadata` of its own if need be;
        `metadata` here is that of the messages without. What asks for tool calls is followed by the result of each, a message of the role tool; the calls
        get ids of the thread's own.
        """
        given = [_new_message(message, metadata, f"messages[{index}]") for index, message in enumerate(messages)]
        force = options.get("force", False)
        async with self.storage.calling(self.key):
            _, ids = await commands.append_messages(
                self.storage,
                self.key,
                given,
                force=force,
                app=self.app,
                mutation=_mutation(options, b"", repr((given, force))),
                options=self._run_options(options),
            )
        return list(ids)

    @checked
    async def update_message(
        self,
        message_id: str,
        content: Input | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[WriteArguments],
    ) -> dict[str, Any]:
        """Changes what a message says, or its metadata, in its place. Thoughts and tool calls stay, and so does whose result a result is."""
        parts = None if content is None else input_of(content, "content")
        known = None if metadata is None else encoded_value(dict(metadata), "metadata_json")
        force = options.get("force", False)
        async with self.storage.calling(self.key):
            written = await commands.update_message(
                self.storage,
                self.key,
                message_id,
                parts,
                known,
                force=force,
                mutation=_mutation(options, known or b"", repr((message_id, parts, metadata is None, force))),
                options=self._run_options(options),
            )
        return written.as_dict()

    @checked
    async def delete_message(self, message_id: str, **options: Unpack[WriteArguments]) -> list[str]:
        """Erases a message in every version of the thread, with the results of its tool calls, and gives the ids of what went."""
        force = options.get("force", False)
        async with self.storage.calling(self.key):
            _, ids = await commands.delete_message(
                self.storage,
                self.key,
                message_id,
                self._programs,
                force=force,
                mutation=_mutation(options, b"", repr((message_id, force))),
                options=self._run_options(options),
            )
        return list(ids)

    messages_sync = blocking(messages)
    update_state_sync = blocking(update_state)
    clear_state_sync = blocking(clear_state)
    append_messages_sync = blocking(append_messages)
    update_message_sync = blocking(update_message)
    delete_message_sync = blocking(delete_message)


def _new_message(message: Mapping[str, Any], metadata: Mapping[str, Any] | None, field: str) -> NewMessage:
    if not isinstance(message, Mapping):
        raise ArgumentInvalidError(field, f"a message (a dict) is due here, not {type(message).__name__}")
    check_keys(message, MESSAGE_KEYS, field)
    own, name = message.get("metadata"), message.get("id") or ""
    if not isinstance(name, str):
        raise ArgumentInvalidError(f"{field}.id", f"text is due here, not {type(name).__name__}")
    if own is not None and not isinstance(own, Mapping):
        raise ArgumentInvalidError(f"{field}.metadata", f"a dict is due here, not {type(own).__name__}")
    if not isinstance(message.get("role"), str):
        raise ArgumentInvalidError(f"{field}.role", f"{message.get('role')!r} is none of {', '.join(sorted(ROLES))}")
    known = metadata if own is None else own
    return NewMessage(
        role=cast("Any", message.get("role")),
        content=input_of(message.get("content", ()), f"{field}.content"),
        id=name,
        metadata=None if known is None else encoded_value(dict(known), f"{field}.metadata_json"),
    )


def _mutation(options: WriteArguments, data: bytes, body: str) -> Mutation:
    whole = data + b"\0" + body.encode("utf-8", "surrogatepass")
    return Mutation(options.get("request_id") or "", options.get("expected_version"), whole)
