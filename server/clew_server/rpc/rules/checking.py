"""Walks a request along the table. A rule is asked only about what is set, unless the field cannot say whether it is."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from clew_engine.errors import ArgumentInvalidError
from clew_server.rpc.rules.fields import Rule
from clew_server.rpc.rules.tables import ANY, FIELDS, REQUIRED_ONEOFS, WHOLE


class _Step(NamedTuple):
    name: str
    rule: Rule | None
    optional: bool
    repeated: bool
    enum: Any
    nested: bool


def check(message: Message, path: str = "") -> None:
    """Raises InvalidError for the first field that breaks its rule, in the order of the contract."""
    descriptor = message.DESCRIPTOR
    for step in _plan(descriptor):
        if step.optional and not message.HasField(step.name):
            continue
        value = getattr(message, step.name)
        field = f"{path}{step.name}"
        if step.rule is not None:
            step.rule(value, field)
        if step.enum is not None:
            _check_enum(step, value, field)
        if step.nested:
            for each in value if step.repeated else (value,):
                check(each, f"{field}.")
    for oneof in REQUIRED_ONEOFS.get(descriptor.full_name, ()):
        if message.WhichOneof(oneof) is None:
            choices = ", ".join(field.name for field in descriptor.oneofs_by_name[oneof].fields)
            raise ArgumentInvalidError(f"{path}{oneof}", f"one of these is needed: {choices}")
    whole = WHOLE.get(descriptor.full_name)
    if whole is not None:
        whole(message, path)


@cache
def _plan(descriptor: Descriptor) -> tuple[_Step, ...]:
    rules = FIELDS[descriptor.full_name]
    return tuple(_step(field, rules[field.name]) for field in descriptor.fields)


def _step(field: FieldDescriptor, rule: Rule) -> _Step:
    nested = field.message_type is not None and field.message_type.full_name in FIELDS
    return _Step(
        name=field.name,
        rule=None if rule is ANY else rule,
        optional=field.has_presence,
        repeated=field.is_repeated,
        enum=field.enum_type,
        nested=nested,
    )


def _check_enum(step: _Step, value: Any, field: str) -> None:
    for number in value if step.repeated else (value,):
        if number not in step.enum.values_by_number:
            known = ", ".join(each.name for each in step.enum.values)
            raise ArgumentInvalidError(field, f"{number} is none of: {known}")
