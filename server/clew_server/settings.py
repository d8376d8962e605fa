"""Settings of a server: flags before the environment (`CLEW_…`) before `clew.toml`."""

from __future__ import annotations

import base64
import difflib
import ipaddress
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from clew_engine.retention import Retention
from clew_server.retention_settings import Days, Kept, RetentionSettings
from clew_server.sealing import KEY_BYTES

CONFIG_FILE = "clew.toml"
DEFAULT_PORT = 50051


class SettingsFileError(Exception):
    """What is wrong with a file of settings, and where."""


def read_keys(given: Any) -> tuple[bytes, ...]:
    """Keys from base64: one text with commas or spaces between them, or a list of texts."""
    try:
        texts = re.split(r"[,\s]+", given.strip()) if isinstance(given, str) else given
        keys = tuple(base64.b64decode(text, validate=True) for text in texts if text)
    except (TypeError, ValueError):
        keys = (b"",)
    if any(len(key) != KEY_BYTES for key in keys):
        raise ValueError(f"each key is {KEY_BYTES} bytes in base64, as `openssl rand -base64 {KEY_BYTES}` makes them")
    return keys


class Settings(BaseSettings):
    """What a server may be told. Times are seconds, sizes bytes."""

    # A key that is none must not be told either.
    model_config = SettingsConfigDict(
        env_prefix="CLEW_", extra="ignore", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )
    config_file: ClassVar[Path] = Path(CONFIG_FILE)

    storage: str | None = None
    """Where threads are kept, as a URL; None is a SQLite file of the user's own."""
    redis: Annotated[str | None, Field(repr=False)] = None
    """A Redis beside the database, as a URL: text across servers, large states, and the values of the cache."""
    redis_prefix: Annotated[str, Field(min_length=1)] = "clew"
    """What every name in Redis begins with: databases that share a Redis have one each."""
    cache_ttl: Annotated[float, Field(gt=0, le=3_155_760_000)] = 86_400.0
    """How long a state that was read is kept in Redis."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = DEFAULT_PORT
    """0 takes any free one."""
    socket: Path | None = None
    """A Unix socket to listen on instead of host and port."""
    tls_cert: Path | None = None
    """The server's certificate, PEM; with it the server speaks TLS."""
    tls_key: Path | None = None
    """Its key, PEM."""
    tls_client_ca: Path | None = None
    """With it, only clients with a certificate by this authority are served."""
    insecure_public: bool = False
    """Listen beyond this machine without TLS."""
    reflection: bool | None = None
    """None: only where nobody from elsewhere can ask."""
    on_busy: Literal["wait", "reject", "interrupt"] = "wait"
    """What calls do at a busy thread that do not say it themselves."""
    busy_timeout: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """How long they wait."""
    state_limit: Annotated[int, Field(gt=0, le=3_670_016)] = 1 << 20
    """The most that a thread's state may have."""
    cache_bytes: Annotated[int, Field(ge=0, le=1 << 40)] = 64 << 20
    """What threads that are at rest may take in memory, so that their next turn loads nothing; those that rested longest go first. 0: none stay."""
    reader_bytes: Annotated[int, Field(gt=0, le=1 << 40)] = 16 << 20
    """What may wait for a stream's reader; one that is further behind is cut off, and goes on from the log."""
    heartbeat: Annotated[float, Field(gt=0, le=15)] = 15.0
    """How often a stream on which nothing happens says that it is there."""
    grace: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 30.0
    """How long runs may go on after the server was asked to stop."""
    stall: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] = 60.0
    """How long a stream's reader may read nothing while there is something to read."""
    call_lease: Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False)] = 30.0
    """How long a worker has a tool call without a word; then it is given to another, or not known."""
    ping_interval: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] = 5.0
    """Callers that ask more often than this whether the server is there are sent away."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """How many processes serve the address, on a database that they share (Postgres). Linux hands connections to them in turn."""
    recover: Literal["manual", "auto"] = "manual"
    """Who goes on with a run that died with its server: whoever retries it, or any server that has its app, by itself."""
    recover_tries: Annotated[int, Field(ge=1, le=100)] = 3
    """So many attempts in a row may end before they have written anything; then the run is left to people."""
    snapshot_key: Annotated[tuple[bytes, ...], NoDecode, BeforeValidator(read_keys), Field(repr=False)] = ()
    """Keys that snapshots of runs without a thread are sealed with, each 32 bytes in base64: the first seals, all open. Without one
    snapshots do not outlive the server."""
    retention_days: Days | None = None
    """Completed and failed threads are deleted when nothing was written to them for so many days. None: they stay."""
    retention_keep_last: Kept | None = None
    """So many checkpoints of a thread are kept, and all its messages. None: all of them."""
    retention: RetentionSettings | None = None
    """Where that is not enough, a table: `completed_days`, `failed_days`, `interrupted_days`, `keep_last`, and the `apps` and `users` that it is for."""
    log_format: Literal["auto", "json", "console"] = "auto"
    """Auto: for people on a terminal, JSON otherwise."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What is less than this is not logged."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("TLS needs both a certificate (tls_cert) and its key (tls_key)")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise ValueError("tls_client_ca asks clients for certificates, which takes TLS: set tls_cert and tls_key")
        return self

    @property
    def retention_policy(self) -> Retention | None:
        """What the upkeep lets go; None for nothing."""
        table = self.retention or RetentionSettings()
        return table.policy(self.retention_days, self.retention_keep_last)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.socket is not None or is_loopback(self.host)

    @property
    def with_reflection(self) -> bool:
        """Whether to tell callers what the contract is."""
        return self.is_local if self.reflection is None else self.reflection

    @classmethod
    def read(cls, flags: dict[str, Any], config: Path | None = None) -> Self:
        """The settings from all places.

        Raises pydantic's ValidationError, SettingsFileError, or an OSError for a named file that is not there.
        """
        path = config or Path(CONFIG_FILE)
        if config is not None or path.exists():
            _check_file(path)
        source = type(cls.__name__, (cls,), {"config_file": path, "__module__": cls.__module__})
        settings: Self = source(**{name: value for name, value in flags.items() if value is not None})
        return settings

    def handed_on(self) -> dict[str, Any]:
        """The settings as JSON values, for another process to take."""
        keys = [base64.b64encode(key).decode() for key in self.snapshot_key]
        return {**self.model_dump(mode="json", exclude={"snapshot_key"}), "snapshot_key": keys}

    @classmethod
    def taken(cls, values: dict[str, Any]) -> Self:
        """What `handed_on` gave; neither environment nor files have a say any more."""

        def alone(_: type[BaseSettings], init_settings: PydanticBaseSettingsSource, **__: Any) -> Any:
            return (init_settings,)

        body = {"settings_customise_sources": alone, "__module__": cls.__module__}
        settings: Self = type(cls.__name__, (cls,), body)(**values)
        return settings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, environment, file; neither `.env` nor secret folders."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, cls.config_file)


def storage_in(path: Path = Path(CONFIG_FILE)) -> str | None:
    """The `storage` of a file of settings, for a command that works on the database and has no use for the rest; None where there is no such file.

    Raises SettingsFileError.
    """
    try:
        url = _check_file(path).get("storage") if path.exists() else None
    except OSError as error:
        raise SettingsFileError(f"{path} cannot be read: {error.strerror}") from error
    if url is not None and not isinstance(url, str):
        raise SettingsFileError(f"{path}: storage is the URL of a database, and not {url!r}")
    return url


def _check_file(path: Path) -> dict[str, Any]:
    """What is in the file. A misspelt setting would be none, without a word."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsFileError(f"{path} is not TOML: {error}") from error
    known = list(Settings.model_fields)
    for key in found:
        if key not in known:
            (nearest,) = difflib.get_close_matches(key, known, n=1, cutoff=0)
            raise SettingsFileError(f"{path}: there is no setting {key!r}; the nearest is {nearest!r}")
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there. A name other than localhost may be anything."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
