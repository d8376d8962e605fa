"""Durable threads for agents and workflows: write agents here, run them in process, or serve them with `clew serve`."""

from clew_engine.agents import Agent, AppInfo
from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision
from clew_engine.checkpoints import Checkpoint, Failure
from clew_engine.errors import ClewError
from clew_engine.events import Event
from clew_engine.messages import Message
from clew_engine.models import Model, open_model
from clew_engine.models.offline import OfflineModel
from clew_engine.options import Limits, OnBusy, OnDisconnect, RunOptions, Tuning
from clew_engine.replies import Reply
from clew_engine.state import StateView
from clew_engine.storage import Storage
from clew_engine.thread_info import ThreadInfo, ThreadRun
from clew_engine.threads import Thread
from clew_engine.tools import Tool, ToolContext, tool

__all__ = [
    "Agent",
    "AppInfo",
    "Approval",
    "ApprovalKind",
    "Checkpoint",
    "Choice",
    "ClewError",
    "Decision",
    "Event",
    "Failure",
    "Limits",
    "Message",
    "Model",
    "OfflineModel",
    "OnBusy",
    "OnDisconnect",
    "Reply",
    "RunOptions",
    "StateView",
    "Storage",
    "Thread",
    "ThreadInfo",
    "ThreadRun",
    "Tool",
    "ToolContext",
    "Tuning",
    "open_model",
    "tool",
]
