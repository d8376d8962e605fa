"""The table `retention` among the settings."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from clew_engine.retention import MAX_AGE_S, MAX_KEPT, Retention

DAY_S = 86_400.0
Days = Annotated[float, Field(gt=0, le=MAX_AGE_S / DAY_S, allow_inf_nan=False)]
Kept = Annotated[int, Field(ge=1, le=MAX_KEPT)]
Name = Annotated[str, Field(min_length=1)]


class RetentionSettings(BaseModel):
    """How long threads are kept, by how they stand, and how much of each; what is not said here is not let go."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    completed_days: Days | None = None
    failed_days: Days | None = None
    interrupted_days: Days | None = None
    keep_last: Kept | None = None
    apps: tuple[Name, ...] = ()
    users: tuple[Name, ...] = ()

    def policy(self, days: float | None, keep_last: int | None) -> Retention | None:
        """The policy, where `days` and `keep_last` stand for what the table does not say of completed and failed threads; None for nothing."""
        after = {
            "completed": self.completed_days or days,
            "failed": self.failed_days or days,
            "interrupted": self.interrupted_days,
        }
        retention = Retention(
            delete_after={status: given * DAY_S for status, given in after.items() if given is not None},
            keep_last=self.keep_last or keep_last,
            apps=self.apps,
            users=self.users,
        )
        return retention if retention.delete_after or retention.keep_last else None
