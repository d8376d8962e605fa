"""The verbs of a thread that write its state and messages from outside a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from clew.argument_checks import check_limit, checked
from clew.blocking import blocking
from clew.errors import ArgumentInvalidError
from clew.json_text import encode_object
from clew.messages import MESSAGE_KEYS, Message, check_keys, content_of, message_of
from clew.options import duration_of, new_request_id
from clew.records import Checkpoint, checkpoint_of
from clew.requests import WriteArguments
from clew.runs import Runs
from clew.v1 import message_pb2, run_pb2
from clew.v1 import thread_service_pb2 as pb
from clew.words import number_of

_BUSY_S = 60.0
# A message to add: `role`, `content` (a text, or a list of parts), and where there are such, `id` and `metadata`.
NewMessage = Mapping[str, Any]
Content = str | Sequence[Mapping[str, Any]]


class Edits(Runs):
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
    ) -> list[Message]:
        """The conversation, from its beginning or its end; what models thought is left out unless asked for.

        With `search` only messages that have all of its words, whatever their case and accents; with a limit at most that many,
        after leaving out `offset`.
        """
        check_limit(limit)
        if offset < 0:
            text = "offset: not negative; newest_first counts from the end"
            raise ArgumentInvalidError(text, metadata={"field": "offset"})
        most = None if limit is None else offset + limit
        to = self._client.connection()
        request = pb.ListMessagesRequest(
            thread_id=self.id,
            search=search,
            order=number_of(pb.MessageOrder, order, "order"),
            include_reasoning=reasoning,
        )
        found: list[Message] = []
        while True:
            request.page_size = 500 if most is None else min(500, most - len(found))
            page = await to.ask(to.threads.ListMessages, request)
            found += map(message_of, page.messages)
            request.page_token = page.next_page_token
            if not page.next_page_token or len(found) == most:
                return found[offset:]

    @checked
    async def update_state(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        remove_keys: Sequence[str] = (),
        replace: bool = False,
        as_node: str = "",
        **options: Unpack[WriteArguments],
    ) -> Checkpoint:
        """Merges values into the state, each top-level value whole, and removes keys; with `replace` the state is `values` and nothing else.

        With `as_node` they are taken for what that node of a workflow returned: reducers merge them, the thread stands as failed (`updated`), and
        `retry` goes on with what follows the node. Forced on a thread that waits, its approvals are void. Makes the thread where there is none.
        """
        request = pb.UpdateStateRequest(thread_id=self.id, app=self.app, as_node=as_node)
        state_json = encode_object(dict(values or {}), "state_json").encode()
        if replace:
            if remove_keys:
                text = "remove_keys: a state that is replaced keeps no key that could be removed"
                raise ArgumentInvalidError(text, metadata={"field": "remove_keys"})
            request.replace.state_json = state_json
        else:
            request.merge.state_json = state_json
            request.merge.remove_keys.extend(remove_keys)
        timeout = self._framed(request, options)
        to = self._client.connection()
        return checkpoint_of((await to.ask(to.threads.UpdateState, request, timeout)).checkpoint)

    @checked
    async def clear_state(self, **options: Unpack[WriteArguments]) -> Checkpoint:
        """Removes every value from the state. Messages stay."""
        request = pb.ClearStateRequest(thread_id=self.id)
        timeout = self._framed(request, options)
        to = self._client.connection()
        return checkpoint_of((await to.ask(to.threads.ClearState, request, timeout)).checkpoint)

    @checked
    async def append_messages(
        self,
        messages: Sequence[NewMessage],
        *,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[WriteArguments],
    ) -> list[str]:
        """Adds messages at the end, all or none, and gives their ids. No run begins; makes the thread where there is none.

        A message is a dict of `role` (user, assistant, system or tool) and `content` (a text or parts), with an `id` and `metadata` of its own if need be;
        `metadata` here is that of the messages without. What asks for tool calls is followed by the result of each, a message of the role tool; the calls
        get ids of the thread's own.
        """
        request = pb.AppendMessagesRequest(thread_id=self.id, app=self.app)
        for index, message in enumerate(messages):
            request.messages.append(_new_message(message, metadata, f"messages[{index}]"))
        timeout = self._framed(request, options)
        to = self._client.connection()
        return list((await to.ask(to.threads.AppendMessages, request, timeout)).message_ids)

    @checked
    async def update_message(
        self,
        message_id: str,
        content: Content | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[WriteArguments],
    ) -> Checkpoint:
        """Changes what a message says, or its metadata, in its place. Thoughts and tool calls stay, and so does whose result a result is."""
        request = pb.UpdateMessageRequest(thread_id=self.id, message_id=message_id)
        if content is not None:
            request.content.extend(_parts(content, "content"))
        if metadata is not None:
            request.metadata_json = encode_object(dict(metadata), "metadata_json")
        timeout = self._framed(request, options)
        to = self._client.connection()
        return checkpoint_of((await to.ask(to.threads.UpdateMessage, request, timeout)).checkpoint)

    @checked
    async def delete_message(self, message_id: str, **options: Unpack[WriteArguments]) -> list[str]:
        """Erases a message in every version of the thread, with the results of its tool calls, and gives the ids of what went."""
        request = pb.DeleteMessageRequest(thread_id=self.id, message_id=message_id)
        timeout = self._framed(request, options)
        to = self._client.connection()
        return list((await to.ask(to.threads.DeleteMessage, request, timeout)).message_ids)

    messages_sync = blocking(messages)
    update_state_sync = blocking(update_state)
    clear_state_sync = blocking(clear_state)
    append_messages_sync = blocking(append_messages)
    update_message_sync = blocking(update_message)
    delete_message_sync = blocking(delete_message)

    def _framed(self, request: Any, options: WriteArguments) -> float:
        """The request with what goes with every write, and the time that its call may take."""
        request.request_id = options.get("request_id") or new_request_id()
        request.on_busy = number_of(run_pb2.BusyPolicy, options.get("on_busy"), "on_busy")
        request.actor = self.actor
        request.force = options.get("force", False)
        expected, busy_timeout = options.get("expected_version"), options.get("busy_timeout")
        if expected is not None:
            request.expected_version = expected
        if busy_timeout is not None:
            request.busy_timeout.CopyFrom(duration_of(busy_timeout, "busy_timeout"))
        return self._client.connection().settings.timeout + (_BUSY_S if busy_timeout is None else busy_timeout)


def _new_message(message: NewMessage, metadata: Mapping[str, Any] | None, field: str) -> message_pb2.NewMessage:
    if not isinstance(message, Mapping):
        raise _refused(field, "a message (a dict)", message)
    check_keys(message, MESSAGE_KEYS, field)
    own, name, role = message.get("metadata"), message.get("id") or "", message.get("role")
    if not isinstance(name, str):
        raise _refused(f"{field}.id", "text", name)
    if own is not None and not isinstance(own, Mapping):
        raise _refused(f"{field}.metadata", "a dict", own)
    if role is not None and not isinstance(role, str):
        raise _refused(f"{field}.role", "a role", role)
    known = metadata if own is None else own
    return message_pb2.NewMessage(
        id=name,
        role=number_of(message_pb2.Role, role, f"{field}.role"),
        content=_parts(message.get("content", ()), f"{field}.content"),
        metadata_json="" if known is None else encode_object(dict(known), f"{field}.metadata_json"),
    )


def _refused(field: str, due: str, given: Any) -> ArgumentInvalidError:
    text = f"{field}: {due} is due here, not {type(given).__name__}"
    return ArgumentInvalidError(text, metadata={"field": field})


def _parts(content: Any, field: str) -> list[message_pb2.Part]:
    if isinstance(content, str):
        return content_of([{"type": "text", "text": content}])
    if not content:
        raise ArgumentInvalidError(f"{field}: a message needs some content", metadata={"field": field})
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise _refused(field, "a text or a list of parts", content)
    return content_of(content)
