"""Apps and their tools."""

from __future__ import annotations

from clew.v1 import app_pb2 as pb
from clew_engine.apps import AppInfo
from clew_engine.tools import Tool
from clew_server.rpc.wire.scalars import enum_name, json_text

_ANY_OBJECT = {"type": "object"}


def to_app(info: AppInfo) -> pb.App:
    """An app."""
    return pb.App(
        name=info.name,
        kind=pb.AppKind.Value(enum_name("APP_KIND", info.kind)),
        description=info.description,
        tools=[to_tool(tool, gated=tool.name in info.gated) for tool in info.tools],
        input_schema_json="" if info.kind == "agent" else json_text(info.input_schema),
        state_schema_json="" if info.state_schema == _ANY_OBJECT else json_text(info.state_schema),
        model=info.model,
    )


def to_tool(tool: Tool, *, gated: bool) -> pb.Tool:
    """A tool."""
    return pb.Tool(
        name=tool.name,
        description=tool.description,
        parameters_schema_json=json_text(tool.parameters),
        requires_approval=gated or tool.approve is True,
        once=tool.once,
    )
