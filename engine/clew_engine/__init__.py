"""Durable threads for agents and workflows: write agents here, run them in process, or serve them with `clew serve`."""

from clew_engine.agents import Agent
from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision
from clew_engine.apps import App, AppInfo
from clew_engine.cache import Cache
from clew_engine.checkpoints import Checkpoint, Failure
from clew_engine.errors import ClewError
from clew_engine.events import Event
from clew_engine.messages import Message
from clew_engine.models import Model, open_model
from clew_engine.models.offline import OfflineModel
from clew_engine.opening import open_storage
from clew_engine.options import Limits, OnBusy, OnDisconnect, RunOptions, Tuning
from clew_engine.remote_tools import RemoteTool, remote
from clew_engine.replies import Reply
from clew_engine.retention import Retention, Retired
from clew_engine.state import StateView
from clew_engine.storage import Storage
from clew_engine.stored_threads import StoredThread
from clew_engine.thread_info import ThreadInfo, ThreadRun
from clew_engine.threads import Thread
from clew_engine.tools import Tool, ToolContext, tool
from clew_engine.workflows.app import WorkflowApp, WorkflowThread
from clew_engine.workflows.graph import END, START
from clew_engine.workflows.node_context import PauseRejectedError
from clew_engine.workflows.reducers import append, merge
from clew_engine.workflows.results import Result
from clew_engine.workflows.step_failures import StepFailedError
from clew_engine.workflows.steps import pause, step, step_sync
from clew_engine.workflows.timed_calls import ToolTimedOutError
from clew_engine.workflows.upgrades import Migration
from clew_engine.workflows.workflow import Workflow

__all__ = [
    "END",
    "START",
    "Agent",
    "App",
    "AppInfo",
    "Approval",
    "ApprovalKind",
    "Cache",
    "Checkpoint",
    "Choice",
    "ClewError",
    "Decision",
    "Event",
    "Failure",
    "Limits",
    "Message",
    "Migration",
    "Model",
    "OfflineModel",
    "OnBusy",
    "OnDisconnect",
    "PauseRejectedError",
    "RemoteTool",
    "Reply",
    "Result",
    "Retention",
    "Retired",
    "RunOptions",
    "StateView",
    "StepFailedError",
    "Storage",
    "StoredThread",
    "Thread",
    "ThreadInfo",
    "ThreadRun",
    "Tool",
    "ToolContext",
    "ToolTimedOutError",
    "Tuning",
    "Workflow",
    "WorkflowApp",
    "WorkflowThread",
    "append",
    "merge",
    "open_model",
    "open_storage",
    "pause",
    "remote",
    "step",
    "step_sync",
    "tool",
]
