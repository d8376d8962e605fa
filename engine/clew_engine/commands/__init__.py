"""One module a verb: what it asks of the table, and what it writes."""

from clew_engine.commands.cancel import cancel
from clew_engine.commands.copy import copy
from clew_engine.commands.decide import decide, resume
from clew_engine.commands.decide_all import decide_all
from clew_engine.commands.delete import delete
from clew_engine.commands.export import export
from clew_engine.commands.import_ import import_
from clew_engine.commands.messages import append_messages, delete_message, update_message
from clew_engine.commands.retry import retry
from clew_engine.commands.rewind import rewind
from clew_engine.commands.send import send
from clew_engine.commands.state import clear_state, update_state
from clew_engine.commands.update import update

__all__ = [
    "append_messages",
    "cancel",
    "clear_state",
    "copy",
    "decide",
    "decide_all",
    "delete",
    "delete_message",
    "export",
    "import_",
    "resume",
    "retry",
    "rewind",
    "send",
    "update",
    "update_message",
    "update_state",
]
