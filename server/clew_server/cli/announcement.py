"""What is said when a server is ready: where it listens, and what it serves."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console

from clew_server.cli.tool_marks import with_marks
from clew_server.rpc.wire.apps import to_app
from clew_server.settings import DEFAULT_PORT

if TYPE_CHECKING:
    from clew_engine.apps import AppInfo
    from clew_server.app import Server


@dataclass(frozen=True)
class Announcement:
    """As a server knows it, and as a worker tells its supervisor. `apps` are objects with `name`, `kind`, `model` and `tools` (names with their marks)."""

    address: str
    port: int
    security: str
    storage: str
    place: dict[str, str]
    apps: list[dict[str, Any]]

    @classmethod
    def of(cls, server: Server) -> Self:
        """Of a server that has started."""
        settings = server.settings
        security = "mTLS" if settings.tls_client_ca else "TLS" if settings.tls_cert else "no TLS"
        apps = [_told(info) for info in server.apps.infos()]
        backend = server.storage.backend
        return cls(server.address, server.port, security, backend.url, dict(backend.place), apps)

    @classmethod
    def read(cls, line: bytes) -> Self:
        """What `line` wrote."""
        return cls(**json.loads(line))

    def line(self) -> bytes:
        """In one line, for `read`."""
        return json.dumps(asdict(self)).encode() + b"\n"

    def say(self, *, as_json: bool, workers: int) -> None:
        """On stdout, for people or for programs."""
        if as_json:
            sys.stdout.write(f"{json.dumps(self._as_json(workers))}\n")
        else:
            self._say_in_words(workers)
        sys.stdout.flush()

    def _as_json(self, workers: int) -> dict[str, Any]:
        return {
            "address": self.address,
            "port": self.port,
            "tls": self.security != "no TLS",
            "storage": self.storage,
            **self.place,
            "apps": [{name: app[name] for name in ("name", "kind", "model")} for app in self.apps],
            "workers": workers,
            "pid": os.getpid(),
        }

    def _say_in_words(self, workers: int) -> None:
        out = Console(highlight=False, soft_wrap=True)
        several = f", {workers} workers" if workers > 1 else ""
        out.print(
            f"[bold]clew[/] listens on [bold green]{self.address}[/] ({self.security}{several})",
            markup=True,
        )
        schema = f", schema {self.place['schema']}" if "schema" in self.place else ""
        out.print(f"  storage  {self.storage}{schema}", markup=False)
        for app in self.apps:
            tools = ", ".join(app["tools"])
            # A workflow has no model of its own.
            line = f"  app      {app['name']} ({app['model'] or app['kind']})"
            out.print(line + (f": {tools}" if tools else ""), markup=False)
        where = "" if self.port == DEFAULT_PORT else f" --target {self.address}"
        out.print(f"  try      clew chat {self.apps[0]['name']}{where}", markup=False)


def _told(app: AppInfo) -> dict[str, Any]:
    # By way of the contract, so that it is what clients are told.
    tools = [with_marks(tool) for tool in to_app(app).tools]
    return {"name": app.name, "kind": app.kind, "model": app.model, "tools": tools}
