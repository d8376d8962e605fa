"""What a finished call hands back."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from clew_engine.approvals import Approval
from clew_engine.messages import Message, Usage
from clew_storage import Status


class Reply(Struct, frozen=True):
    """The end of a turn. With status `suspended` there is no message yet, and `approvals` says who is asked for what.

    `said` is the model's last message as the engine holds it.
    """

    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    status: Status
    said: Message | None = None
    usage: Usage = Usage()
    steps: int = 0
    approvals: tuple[Approval, ...] = ()

    @property
    def text(self) -> str:
        """The reply's text; empty when there is none."""
        return self.said.text if self.said else ""

    @property
    def message(self) -> dict[str, Any] | None:
        """The message that the text is of, as `messages(reasoning=True)` gives it; None when there is none."""
        return self.said.as_dict(reasoning=True) if self.said else None

    @property
    def message_id(self) -> str:
        """The message's id; empty when there is none."""
        return self.said.id if self.said else ""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "thread_id": self.thread_id,
            "run_id": self.run_id,
            "version": self.version,
            "status": self.status.value,
            "text": self.text,
            "message": self.message,
            "approvals": [approval.as_dict() for approval in self.approvals],
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "total_tokens": self.usage.total_tokens,
            },
            "steps": self.steps,
        }
