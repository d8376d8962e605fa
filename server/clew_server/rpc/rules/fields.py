"""Rules of single fields. Each takes a value and its path, and raises an InvalidError that names the path."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask

from clew.v1.message_pb2 import Role
from clew_engine.commands.update import revision_of
from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.field_rules import check_any_text, check_metadata, check_text_size, wanted_metadata
from clew_engine.ids import check_id, check_new_message_id
from clew_engine.json_text import JsonError, parse_strict, split_object
from clew_engine.page_tokens import check_token
from clew_engine.requests import check_request_id
from clew_engine.state import LARGEST, check_keys, parse_state

Rule = Callable[[Any, str], None]

_MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,64}/[A-Za-z0-9!#$&^_.+-]{1,128}(;.{0,128})?")
# What a Duration may hold by its own definition: 10,000 years.
_LONGEST_S = 315_576_000_000
_TOKEN_LENGTH = 2048


def required_id(value: str, field: str) -> None:
    """An id that must be there."""
    check_id(value, field)


def optional_id(value: str, field: str) -> None:
    """An id, or nothing."""
    if value:
        check_id(value, field)


def request_id(value: str, field: str) -> None:
    """What makes a call safe to repeat; or nothing."""
    check_request_id(value, field)


def version(value: int, field: str) -> None:
    """A version of a thread."""
    if value < 0:
        raise ArgumentInvalidError(field, "a version is not negative")


def page_size(value: int, field: str) -> None:
    """How many to list."""
    if value < 0:
        raise ArgumentInvalidError(field, "a size is not negative; 0 asks for the default")


def page_token(value: str, field: str) -> None:
    """A token by its looks; the listing that it came from knows the rest."""
    if len(value) > _TOKEN_LENGTH:
        raise ArgumentInvalidError(field, "take the next_page_token of the page before, unchanged")
    check_token(value)


def text_up_to(most: int) -> Rule:
    """A text of at most so many bytes, without NUL."""

    def rule(value: str, field: str) -> None:
        check_text_size(value, field, most)

    return rule


def prose_up_to(most: int) -> Rule:
    """A text of at most so many bytes, whatever is in it."""

    def rule(value: str, field: str) -> None:
        if len(value.encode()) > most:
            raise ArgumentInvalidError(field, f"at most {most} bytes")

    return rule


def name_up_to(most: int) -> Rule:
    """A text that must be there, of at most so many bytes, whatever is in it."""

    def rule(value: str, field: str) -> None:
        check_any_text(value, field, most, least=1)

    return rule


def required_up_to(most: int) -> Rule:
    """A text that must be there, of at most so many bytes."""

    def rule(value: str, field: str) -> None:
        if not value:
            raise ArgumentInvalidError(field, "it is required")
        check_text_size(value, field, most)

    return rule


def not_empty(value: str | bytes, field: str) -> None:
    """Anything but nothing."""
    if not value:
        raise ArgumentInvalidError(field, "it must not be empty")


def mime_type(value: str, field: str) -> None:
    """Such as image/png."""
    if _MIME_TYPE.fullmatch(value) is None:
        raise ArgumentInvalidError(field, "a MIME type is needed, such as image/png")


def state(value: bytes, field: str) -> None:
    """State as the engine takes it."""
    if len(value) <= LARGEST:
        # What is larger is refused unread by the handler, which knows the limit that is set.
        parse_state(value, field)


def state_keys(values: Any, field: str) -> None:
    """Names of top-level values, none of them the engine's own."""
    check_keys(dict.fromkeys(values, b""), field)


def metadata(value: str, field: str) -> None:
    """A small JSON object, or nothing."""
    if value:
        check_metadata(value.encode(), field)


def metadata_filter(value: str, field: str) -> None:
    """A JSON object of what metadata can be asked for, or nothing."""
    if not value:
        return
    try:
        wanted = parse_strict(value)
        if wanted is None:
            raise ArgumentInvalidError(field, "a JSON object is due here")
        wanted_metadata(wanted, field)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None


def json_value(value: str, field: str) -> None:
    """Any JSON value that can be kept."""
    try:
        parse_strict(value)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None


def json_value_up_to(most: int) -> Rule:
    """Any JSON value that can be kept, of at most so many bytes."""

    def rule(value: str, field: str) -> None:
        if len(value.encode()) > most:
            raise ArgumentInvalidError(field, f"at most {most} bytes")
        json_value(value, field)

    return rule


def cached_value(value: str, field: str) -> None:
    """Any JSON value, as state has them."""
    try:
        parse_strict(value)
    except JsonError as error:
        raise StateInvalidError(field, str(error)) from None


def json_object(value: str | bytes, field: str) -> None:
    """A JSON object that can be kept."""
    try:
        split_object(value)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None


def optional_json_object(value: str, field: str) -> None:
    """A JSON object that can be kept, or nothing."""
    if value:
        json_object(value, field)


def etag(value: str, _: str) -> None:
    """What a thread was read with, or nothing."""
    revision_of(value)


def positive(value: int, field: str) -> None:
    """A number over 0."""
    if value <= 0:
        raise ArgumentInvalidError(field, "it must be more than 0; leave it out for what the app sets")


def duration_up_to(most_s: int) -> Rule:
    """A time from 0."""

    def rule(value: Duration, field: str) -> None:
        if not _is_duration(value) or value.seconds < 0 or value.nanos < 0:
            raise ArgumentInvalidError(field, "a time is not negative, and its nanos are below 1,000,000,000")
        if (value.seconds, value.nanos) > (most_s, 0):
            raise ArgumentInvalidError(field, f"at most {most_s} s")

    return rule


def positive_duration_up_to(most_s: int) -> Rule:
    """A time over 0."""
    within = duration_up_to(most_s)

    def rule(value: Duration, field: str) -> None:
        within(value, field)
        if not value.seconds and not value.nanos:
            raise ArgumentInvalidError(field, "it must be more than 0; leave it out for what the app sets")

    return rule


positive_duration = positive_duration_up_to(_LONGEST_S)


def mask_of(*paths: str) -> Rule:
    """A mask that names some of these fields, or all by `*`."""

    def rule(value: FieldMask, field: str) -> None:
        for path in value.paths:
            if path not in (*paths, "*"):
                raise ArgumentInvalidError(field, f"{path[:100]!r} is none of: {', '.join(paths)}, *")

    return rule


def at_least_one(values: Any, field: str) -> None:
    """A list that is not empty."""
    if not values:
        raise ArgumentInvalidError(field, "at least one is needed")


def from_one_to(most: int) -> Rule:
    """A list of at least one and at most so many."""

    def rule(values: Any, field: str) -> None:
        if not 1 <= len(values) <= most:
            raise ArgumentInvalidError(field, f"1 to {most} are taken, and these are {len(values)}")

    return rule


def at_most(most: int) -> Rule:
    """A list of at most so many."""

    def rule(values: Any, field: str) -> None:
        if len(values) > most:
            raise ArgumentInvalidError(field, f"at most {most} are taken, and these are {len(values)}")

    return rule


def from_0_to(most: int) -> Rule:
    """A number in bounds."""

    def rule(value: int, field: str) -> None:
        if not 0 <= value <= most:
            raise ArgumentInvalidError(field, f"0 to {most:,}")

    return rule


def error_text(value: str, field: str) -> None:
    """What was wrong, for a model to read."""
    if not value:
        raise ArgumentInvalidError(field, "it is required: the model reads it")
    prose_up_to(4096)(value, field)


def new_message_id(value: str, field: str) -> None:
    """An id that a caller may give to a message, or nothing."""
    if value:
        check_new_message_id(value, field)


def spoken_role(value: int, field: str) -> None:
    """Who may be said to speak."""
    if value == Role.ROLE_UNSPECIFIED:
        raise ArgumentInvalidError(field, "a caller adds messages of these roles: system, user, assistant, tool")


def _is_duration(value: Duration) -> bool:
    same_sign = value.seconds == 0 or value.nanos == 0 or (value.seconds < 0) == (value.nanos < 0)
    return same_sign and abs(value.nanos) < 1_000_000_000
