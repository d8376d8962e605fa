"""The apps that a server serves, by name."""

from __future__ import annotations

from collections.abc import Iterable

from clew_engine.apps import App, AppInfo
from clew_engine.errors import AppNotFoundError, ArgumentInvalidError
from clew_engine.program import Program
from clew_engine.storage import Storage
from clew_storage import ThreadKey


class ServedApps:
    """Which app a call is for. Two of one name are refused: a thread knows its app by the name alone."""

    def __init__(self, apps: Iterable[App]) -> None:
        self._apps: dict[str, App] = {}
        for app in apps:
            if self._apps.setdefault(app.name, app) is not app:
                raise ArgumentInvalidError("app", f"two apps are named {app.name!r}; a server serves each name once")

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(sorted(self._apps))

    def infos(self) -> list[AppInfo]:
        """What the apps are, by name."""
        return [self._apps[name].info for name in self.names]

    def info(self, name: str) -> AppInfo:
        """What one app is. Raises AppNotFoundError."""
        return self._named(name).info

    def program(self, name: str) -> Program:
        """How the engine runs an app. Raises AppNotFoundError."""
        return self._named(name).program

    async def program_for(self, storage: Storage, key: ThreadKey | None, name: str) -> Program:
        """The app of a send: the one it names, or its thread's, or the only one there is."""
        if name:
            return self.program(name)
        head = await storage.backend.threads.get_head(key) if key else None
        if head is not None and head.thread.info.app:
            return self.program(head.thread.info.app)
        if len(self._apps) != 1:
            raise ArgumentInvalidError("app", f"several apps are served, name one: {', '.join(self.names)}")
        return self.program(*self._apps)

    def _named(self, name: str) -> App:
        if name not in self._apps:
            raise AppNotFoundError(name, self.names)
        return self._apps[name]
