"""Models behind one port: the offline one that ships with the project, and every provider through one adapter."""

from clew_engine.models.offline import OfflineModel
from clew_engine.models.offline_rules import Rule, Turn, after, otherwise, when
from clew_engine.models.opening import open_model
from clew_engine.models.port import (
    Model,
    ModelError,
    ModelErrorCode,
    ModelEvent,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ReasoningChunk,
    TextChunk,
    ToolSpec,
)

__all__ = [
    "Model",
    "ModelError",
    "ModelErrorCode",
    "ModelEvent",
    "ModelRequest",
    "ModelResponse",
    "ModelSettings",
    "OfflineModel",
    "ReasoningChunk",
    "Rule",
    "TextChunk",
    "ToolSpec",
    "Turn",
    "after",
    "open_model",
    "otherwise",
    "when",
]
