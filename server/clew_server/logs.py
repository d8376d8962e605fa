"""Logs: one line an event on stderr, as JSON or for people; the engine's own lines look the same."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

_SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def set_up(form: str = "auto", level: str = "info", *, worker: int | None = None) -> None:
    """Send everything that is logged to stderr; `form` is `json`, `console`, or `auto`: by whether a terminal is there.

    `worker`: which of several processes this is, told in each line.
    """
    shared = _SHARED if worker is None else [*_SHARED, _numbered(worker)]
    for_people = form == "console" or (form == "auto" and sys.stderr.isatty())
    ends: list[Processor] = [structlog.dev.ConsoleRenderer()]
    if not for_people:
        ends = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ends],
    )
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _numbered(worker: int) -> Processor:
    def number(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["worker"] = worker
        return event

    return number
