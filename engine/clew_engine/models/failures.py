"""What went wrong at a provider, in the few words that a run knows. Keys and addresses stay out of the messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic_ai import exceptions as theirs

from clew_engine.models.port import ModelError, ModelErrorCode

_Verdict = tuple[ModelErrorCode, bool, str]

# The first class that fits decides, so a subclass stands before its parent.
_VERDICTS: tuple[tuple[type[Exception], _Verdict], ...] = (
    (theirs.ModelQuotaExceededError, ("model_rejected", False, "says that the account's quota is used up")),
    (theirs.ModelRateLimitError, ("model_rate_limited", True, "asks for fewer requests")),
    (theirs.ModelOverloadedError, ("model_unavailable", True, "is overloaded")),
    (theirs.ModelUnavailableError, ("model_unavailable", True, "is unavailable")),
    (theirs.ModelServerError, ("model_unavailable", True, "failed")),
    (theirs.ModelTimeoutError, ("model_unavailable", True, "did not answer in time")),
    (theirs.ModelRequestTimeout, ("model_unavailable", True, "did not answer in time")),
    (theirs.ModelConnectionError, ("model_unavailable", True, "could not be reached, or the connection broke")),
    (theirs.ModelContextWindowExceededError, ("model_rejected", False, "cannot take a conversation of this length")),
    (theirs.ModelAuthenticationError, ("model_rejected", False, "does not accept the API key")),
    (theirs.ModelNotFoundError, ("model_rejected", False, "does not know this model")),
    (theirs.ModelRequestRejectedError, ("model_rejected", False, "refused the request")),
    (theirs.ContentFilterError, ("model_rejected", False, "refused the content")),
    (theirs.UnexpectedModelBehavior, ("model_incomplete", True, "sent a reply that cannot be read")),
    (theirs.UserError, ("model_rejected", False, "cannot be asked this")),
)
_OTHERWISE: _Verdict = ("model_unavailable", True, "sent a reply that cannot be read")
_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_SECRET = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}|https?://\S+", re.IGNORECASE)


def model_error(error: Exception, model: str) -> ModelError:
    """The ModelError that stands for what a provider or its SDK raised."""
    code, retryable, what = _verdict(error)
    return ModelError(
        code,
        f"The model {model} {what}{_reason(error)}.",
        retryable=retryable,
        retry_after_s=getattr(error, "retry_after", None),
    )


def incomplete(model: str) -> ModelError:
    """A stream that stopped before the model had said that it was done."""
    return ModelError(
        "model_incomplete", f"The reply of the model {model} ended before it was complete.", retryable=True
    )


def _verdict(error: Exception) -> _Verdict:
    for kind, verdict in _VERDICTS:
        if isinstance(error, kind):
            return verdict
    if isinstance(error, theirs.ModelHTTPError):
        status = error.status_code
        if status == 429:
            return "model_rate_limited", True, "asks for fewer requests"
        if status < 500 and status not in _RETRYABLE_STATUS:
            return "model_rejected", False, "refused the request"
    return _OTHERWISE


def _reason(error: Exception) -> str:
    """The provider's own words, where they help: not about credentials, and never with one in them."""
    if isinstance(error, theirs.UserError):
        return f": {_tidy(error.message)}"
    if not isinstance(error, theirs.ModelAPIError) or isinstance(error, theirs.ModelAuthenticationError):
        return ""
    words = [_tidy(said)] if (said := _said(error.body)) else []
    if isinstance(error, theirs.ModelHTTPError):
        words.append(f"HTTP {error.status_code}")
    return f" ({'; '.join(words)})" if words else ""


def _said(body: Any) -> str | None:
    if not isinstance(body, Mapping):
        return None
    message = body.get("message")
    return message if isinstance(message, str) else _said(body.get("error"))


def _tidy(text: str) -> str:
    one_line = " ".join(_SECRET.sub("…", text).split()).rstrip(".")
    return one_line if len(one_line) <= 300 else one_line[:299] + "…"
