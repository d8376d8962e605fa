"""Finds the apps (agents and compiled workflows) that a command names: in a file, in a module, or one of a module's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from clew_engine.agents import Agent
from clew_engine.apps import App
from clew_engine.workflows.app import WorkflowApp
from clew_engine.workflows.workflow import Workflow


class LoadError(Exception):
    """Why there is nothing to serve. `trace` is where the author's own code failed; empty where it did not."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


def load(targets: Sequence[str]) -> list[App]:
    """Every app of the targets, each once. Raises LoadError, also where two have one name."""
    found: dict[str, tuple[App, str]] = {}
    for target in targets:
        for agent in _agents(target):
            known, place = found.setdefault(agent.name, (agent, target))
            if known is not agent:
                raise LoadError(
                    f"two agents are named {agent.name!r} (in {place} and in {target}); "
                    "rename one: a thread knows its agent by the name alone"
                )
    return [agent for agent, _ in found.values()]


def _agents(target: str) -> list[App]:
    place, _, attribute = target.partition(":")
    module = _from_file(Path(place)) if place.endswith(".py") or "/" in place else _from_name(place)
    if attribute:
        named = getattr(module, attribute, None)
        if not isinstance(named, Agent | WorkflowApp):
            what = "is not there" if named is None else _other(named)
            raise LoadError(f"{target}: {attribute} {what}; {place} has {_listed(module)}")
        return [named]
    agents = _of(module)
    if not agents:
        raise LoadError(
            f'{target}: no agent is there; make one at the top of the module: support = Agent("support", …)'
        )
    return agents


def _other(value: object) -> str:
    if isinstance(value, Workflow):
        return "is a Workflow that is not compiled; serve what its compile() gives"
    return f"is a {type(value).__name__}, and no Agent"


def _of(module: ModuleType) -> list[App]:
    unique = {id(value): value for value in vars(module).values() if isinstance(value, Agent | WorkflowApp)}
    return list(unique.values())


def _listed(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, Agent | WorkflowApp)]
    return f"these agents: {', '.join(names)}" if names else "no agents"


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise LoadError(f"{path}: there is no such file")
    name = path.stem.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path}: not a Python file; its name has to end with .py")
    module = importlib.util.module_from_spec(spec)
    # As `python FILE` does: the file finds its neighbours, and what it defines can be found by name.
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the author's code raises is shown
        raise _failed(str(path), error) from None
    return module


def _from_name(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(f"{name}: there is no such module here; a file is named with its .py") from None
        raise _failed(name, error) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
        raise _failed(name, error) from None


def _failed(target: str, error: BaseException) -> LoadError:
    trace = error.__traceback__
    while trace is not None and _is_machinery(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    return LoadError(f"{target} could not be imported: {type(error).__name__}: {error}", "".join(lines))


def _is_machinery(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen importlib") or "importlib" in Path(filename).parts
