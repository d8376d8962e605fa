"""How a call wants to be treated: busy threads, left streams, limits and who asks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypedDict

from msgspec import Struct
from msgspec.structs import asdict

from clew_engine.amounts import LONGEST_S, MOST_STEPS, MOST_TOKENS, is_number
from clew_engine.errors import ArgumentInvalidError
from clew_engine.field_rules import MAX_ACTOR, MAX_NAME, MAX_USER_ID, check_metadata, check_text_size

# The longest that a call may ask to wait for a busy thread, in seconds.
MAX_BUSY_S = 3600


class OnBusy(StrEnum):
    """What a call does when another run holds the thread."""

    WAIT = "wait"
    REJECT = "reject"
    INTERRUPT = "interrupt"


def on_busy_of(word: OnBusy | str | None) -> OnBusy | None:
    """The policy that a word names; None for none. Raises ArgumentInvalidError."""
    try:
        return OnBusy(word) if word else None
    except ValueError:
        raise ArgumentInvalidError("options.on_busy", f"{word!r} is none of {', '.join(OnBusy)}") from None


class Recover(StrEnum):
    """Who goes on with a run that died with its process: a person who retries it, or any process that has its app, by itself."""

    MANUAL = "manual"
    AUTO = "auto"


def recover_of(word: Recover | str) -> Recover:
    """What a word names. Raises ArgumentInvalidError."""
    try:
        return Recover(word)
    except ValueError:
        raise ArgumentInvalidError("recover", f"{word!r} is none of {', '.join(Recover)}"[:200]) from None


class OnDisconnect(StrEnum):
    """What becomes of a run when the stream that started its attempt is left."""

    CANCEL = "cancel"
    CONTINUE = "continue"


_MOST = {"steps": MOST_STEPS, "tokens": MOST_TOKENS, "seconds": LONGEST_S, "tool_seconds": LONGEST_S}


class Limits(Struct, frozen=True):
    """What one attempt may use; None is no limit.

    Times are seconds (10,000 years at most, infinity is refused), `tokens` counts input and output of the model. Raises ArgumentInvalidError.
    """

    steps: int | None = 50
    tokens: int | None = None
    seconds: float | None = 3600.0
    tool_seconds: float | None = 600.0

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            value = getattr(self, name)
            if value is None:
                continue
            whole = name in ("steps", "tokens")
            if not is_number(value, whole=whole):
                due = "a whole number" if whole else "a number of seconds"
                raise ArgumentInvalidError(f"limits.{name}", f"{due} is due here, not {value!r}"[:200])
            # Said so that nan, which is neither less nor more, is refused too.
            if not 0 < value <= most:
                text = f"a limit is larger than 0 and at most {most:,}; None is none"
                raise ArgumentInvalidError(f"limits.{name}", text)

    def narrowed(self, other: Limits | None) -> Limits:
        """Both at once: of each the smaller."""
        if other is None:
            return self
        return Limits(
            steps=_smaller(self.steps, other.steps),
            tokens=_smaller(self.tokens, other.tokens),
            seconds=_smaller(self.seconds, other.seconds),
            tool_seconds=_smaller(self.tool_seconds, other.tool_seconds),
        )


NO_LIMITS = Limits(steps=None, tokens=None, seconds=None, tool_seconds=None)


def _smaller(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


class RunOptions(Struct, frozen=True):
    """Options of one call; what is None comes from the storage. Raises ArgumentInvalidError.

    `deadline_s` is the time the caller has left: less than 0 where it is over, None or infinity without an end.
    """

    on_busy: OnBusy | None = None
    busy_timeout_s: float | None = None
    on_disconnect: OnDisconnect = OnDisconnect.CANCEL
    limits: Limits | None = None
    actor: str = ""
    deadline_s: float | None = None

    def __post_init__(self) -> None:
        if self.busy_timeout_s is not None:
            _check_busy_timeout(self.busy_timeout_s)
        if self.deadline_s is not None and not (is_number(self.deadline_s) and self.deadline_s == self.deadline_s):
            text = f"a number of seconds is due here, or None for no end, not {self.deadline_s!r}"
            raise ArgumentInvalidError("deadline_s", text[:200])
        check_text_size(self.actor, "actor", MAX_ACTOR)


class RunArguments(TypedDict, total=False):
    """What every verb of a handle that starts an attempt takes. Times are seconds.

    `on_busy`, `busy_timeout`: what to do while another run holds the thread, and for how long. `limits`: what the attempt may use.
    `expected_version`: the version that the thread must have. `request_id`: repeat one to get the same outcome.
    """

    on_busy: OnBusy | str | None
    busy_timeout: float | None
    limits: Limits | None
    expected_version: int | None
    request_id: str | None


class WriteArguments(TypedDict, total=False):
    """What every verb of a handle that writes from outside a run takes. Times are seconds.

    `force`: write to a thread that waits for decisions, too; they stay to be made. The others are those of RunArguments.
    """

    force: bool
    on_busy: OnBusy | str | None
    busy_timeout: float | None
    expected_version: int | None
    request_id: str | None


class Mutation(Struct, frozen=True):
    """What every mutation may carry beside its own fields. `body` is what is compared when a request id comes again."""

    request_id: str = ""
    expected_version: int | None = None
    body: bytes = b""

    def __post_init__(self) -> None:
        if self.expected_version is not None and self.expected_version < 0:
            raise ArgumentInvalidError("expected_version", "a version is not negative")


class NewThread(Struct, frozen=True):
    """What a first send says of the thread that it makes."""

    user_id: str = ""
    name: str = ""
    metadata: bytes = b"{}"

    def __post_init__(self) -> None:
        check_text_size(self.user_id, "user_id", MAX_USER_ID)
        check_text_size(self.name, "name", MAX_NAME)
        check_metadata(self.metadata)


class Tuning(Struct, frozen=True):
    """Settings of a storage handle. Sizes are bytes, times seconds."""

    on_busy: OnBusy = OnBusy.WAIT
    busy_timeout_s: float = 60.0
    state_limit: int = 1 << 20
    message_limit: int = 3_670_016
    cache_bytes: int = 64 << 20
    reader_bytes: int = 16 << 20
    heartbeat_s: float = 15.0
    cancel_grace_s: float = 5.0
    sweep_s: float = 5.0
    look_s: float = 0.2
    model_attempts: int = 3
    model_backoff_s: float = 0.5
    recover: Recover = Recover.MANUAL
    # How many attempts may end before they have written anything; how often dead runs are looked for; and how long is
    # waited after the first of those attempts (each one doubles it).
    recover_tries: int = 3
    recover_s: float = 5.0
    recover_pause_s: float = 5.0
    # How long a worker has a call without a word.
    call_lease_s: float = 30.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name not in ("on_busy", "recover"):
                _check_setting(name, value)
        if self.recover_tries < 1:
            raise ArgumentInvalidError("recover_tries", "one at least; `manual` is for none")
        if not 0 < self.state_limit <= 3_670_016:
            raise ArgumentInvalidError("state_limit", "the most is 3,670,016 bytes (3.5 MiB)")
        _check_busy_timeout(self.busy_timeout_s)


def _check_busy_timeout(seconds: Any) -> None:
    if not is_number(seconds):
        raise ArgumentInvalidError("busy_timeout", f"a number of seconds is due here, not {seconds!r}"[:200])
    if not 0 <= seconds <= MAX_BUSY_S:
        raise ArgumentInvalidError("busy_timeout", f"0 to {MAX_BUSY_S} seconds")


def _check_setting(name: str, value: Any) -> None:
    """A size or a count is whole, a time any number; none is less than nothing, and none without an end."""
    time = name.endswith("_s")
    field = "busy_timeout" if name == "busy_timeout_s" else name
    if not is_number(value, whole=not time):
        due = "a number of seconds" if time else "a whole number"
        raise ArgumentInvalidError(field, f"{due} is due here, not {value!r}"[:200])
    if not 0 <= value <= (LONGEST_S if time else MOST_TOKENS):
        raise ArgumentInvalidError(field, f"0 or more, and an end to it, not {value!r}"[:200])
