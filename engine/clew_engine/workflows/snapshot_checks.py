"""What the parts of a snapshot must be, beside their kinds: numbers within bounds, and texts of the JSON that goes on running reads them as."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

import pydantic

from clew_engine.approvals import ApprovalKind, Choice
from clew_engine.calls import GIVEN
from clew_engine.checkpoints import Memo
from clew_engine.json_text import JsonError, parse_strict, split_object
from clew_engine.message_codec import decode_message
from clew_engine.node_talks import call_of, decode_reply, is_reply
from clew_engine.schemas import check_schema
from clew_engine.workflows.continuations import ANSWERS, ARRIVED, ASKED, PASSED, SCHEMA, STARTED, USED
from clew_engine.workflows.memos import RETURNED

# Versions and steps are counted within a thread, and times are milliseconds: both stay exact in every language.
Count = Annotated[int, pydantic.Field(ge=0, lt=1 << 36)]
Moment = Annotated[int, pydantic.Field(ge=0, lt=1 << 53)]


def _json(text: str) -> str:
    try:
        parse_strict(text)
    except JsonError as error:
        raise ValueError(f"no JSON: {error}") from None
    return text


def _json_or_nothing(text: str) -> str:
    return _json(text) if text else text


def _schema_or_nothing(text: str) -> str:
    if text:
        check_schema(json.loads(_json(text)))
    return text


def _kind(text: str) -> str:
    return ApprovalKind(text).value


def _choice(text: str) -> str:
    return Choice(text).value


Json = Annotated[str, pydantic.AfterValidator(_json)]
JsonOrNothing = Annotated[str, pydantic.AfterValidator(_json_or_nothing)]
SchemaOrNothing = Annotated[str, pydantic.AfterValidator(_schema_or_nothing)]


class _Row(pydantic.BaseModel, extra="forbid", strict=True):
    """A question in a continuation."""

    kind: Annotated[str, pydantic.AfterValidator(_kind)]
    subject: str
    tool: str = ""
    arguments: JsonOrNothing = ""
    prompt: JsonOrNothing = ""
    schema_: SchemaOrNothing = pydantic.Field("", alias="schema")
    was: str = ""


class _Answer(pydantic.BaseModel, strict=True):
    """An answer in a continuation."""

    choice: Annotated[str, pydantic.AfterValidator(_choice)]
    value: Json = "null"
    arguments: Json = "{}"
    reason: str = ""

    @pydantic.model_validator(mode="after")
    def _has_its_value(self) -> Self:
        if self.choice in (Choice.VALUE, Choice.RESULT) and "value" not in self.model_fields_set:
            raise ValueError(f"a {self.choice} is due with it")
        return self


# What a continuation may have, as the program takes it.
_NEXT: dict[str, pydantic.TypeAdapter[Any]] = {
    "do": pydantic.TypeAdapter(list[str]),
    ARRIVED: pydantic.TypeAdapter(dict[str, list[str]]),
    ANSWERS: pydantic.TypeAdapter(dict[str, _Answer]),
    ASKED: pydantic.TypeAdapter(list[_Row]),
    GIVEN: pydantic.TypeAdapter(dict[str, _Answer]),
    PASSED: pydantic.TypeAdapter(list[str]),
    STARTED: pydantic.TypeAdapter(list[str]),
    USED: pydantic.TypeAdapter(Annotated[list[Moment], pydantic.Field(max_length=5)]),
    SCHEMA: pydantic.TypeAdapter(Annotated[Count, pydantic.Field(ge=1)]),
}


def check_next(part: str, value: Any) -> None:
    """Raises ValidationError for what a part of the continuation cannot be."""
    if part in _NEXT:
        _NEXT[part].validate_python(value, strict=True)


def check_memo(memo: Memo) -> None:
    """Raises ValueError for a record that going on could not read."""
    _, key, text = memo
    _json(text)
    if key == RETURNED:
        split_object(text)
    elif is_reply(key):
        decode_reply(text.encode())
    elif call_of(key):
        decode_message(text.encode(), message_id="a result", created_at_ms=0)
