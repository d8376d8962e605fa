"""Models by name: `openai:NAME`, `openai-chat:NAME`, `anthropic:NAME`, `google:NAME`, `bedrock:NAME`, `offline`.

Opening one reads no SDK and reaches no network; both happen at the first request, in a thread, as it takes a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from clew_engine.models.offline import OfflineModel
from clew_engine.models.port import Model, ModelEvent, ModelRequest, ModelSettings

if TYPE_CHECKING:
    from clew_engine.models.pydantic_ai import PydanticAIModel

_SETTINGS = frozenset(ModelSettings.__struct_fields__) - {"extra"}
_EXTRA_SETTINGS = frozenset(
    {
        "thinking",
        "top_k",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "service_tier",
        "extra_headers",
        "extra_body",
    }
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is: the provider's prefix, the model's name there, and how to get to it."""

    prefix: str
    model: str
    base_url: str | None = None
    api_key: str | None = None
    region: str | None = None

    @property
    def server(self) -> str:
        """The provider's name for a server of one's own, so that two of them are not taken for one."""
        return f"openai-chat/{urlsplit(self.base_url or '').netloc}"


@dataclass(frozen=True, slots=True)
class _Need:
    extra: str
    package: str


_NEEDS: Mapping[str, _Need] = {
    "openai": _Need("openai", "openai"),
    "openai-chat": _Need("openai", "openai"),
    "anthropic": _Need("anthropic", "anthropic"),
    "google": _Need("google", "google.genai"),
    "bedrock": _Need("bedrock", "boto3"),
}


def open_model(
    spec: str, *, base_url: str | None = None, api_key: str | None = None, region: str | None = None, **settings: Any
) -> Model:
    """The model that `spec` names, with settings such as `temperature=0` for every request to it.

    A server that speaks OpenAI's chat API is `open_model("openai-chat:NAME", base_url="http://…/v1")`; `region` is
    Bedrock's. Keys come from `api_key` or the provider's usual environment variable. Raises ValueError for a spec or
    setting that is not known, and ImportError, naming the command to run, where the provider's package is missing.
    """
    prefix, _, name = spec.partition(":")
    if spec == "offline":
        return OfflineModel()
    if prefix not in _NEEDS or not name:
        known = ", ".join(f"{known}:NAME" for known in _NEEDS)
        raise ValueError(f"model must be offline or one of {known}, not {spec!r}")
    if not _installed(_NEEDS[prefix].package):
        extra = _NEEDS[prefix].extra
        raise ImportError(f'{spec} needs a package that is not installed: pip install "clew-server[{extra}]"')
    return ProviderModel(spec, Address(prefix, name, base_url, api_key, region), _settings(prefix, settings))


class ProviderModel:
    """A provider's model that is built when it is first asked, once for every event loop, as its connections are."""

    def __init__(self, name: str, address: Address, settings: ModelSettings) -> None:
        self._name = name
        self._address = address
        self._settings = settings
        self._built: WeakKeyDictionary[asyncio.AbstractEventLoop, PydanticAIModel] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """What the model was opened as."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes, and then whole. Raises ModelError."""
        model = await self._model()
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Close the connections that this event loop has open; the next request opens new ones."""
        model = self._built.pop(asyncio.get_running_loop(), None)
        if model is not None:
            await model.aclose()

    async def _model(self) -> PydanticAIModel:
        loop = asyncio.get_running_loop()
        if (model := self._built.get(loop)) is None:
            built = await asyncio.to_thread(self._build)
            model = self._built.setdefault(loop, built)
        return model

    def _build(self) -> PydanticAIModel:
        from clew_engine.models.providers import build  # noqa: PLC0415  a second of imports, for those who need them

        return build(self._address, self._name, self._settings)


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        return False


def _settings(prefix: str, given: Mapping[str, Any]) -> ModelSettings:
    extra = {name: value for name, value in given.items() if name not in _SETTINGS}
    own = prefix.partition("-")[0] + "_"
    if unknown := [name for name in extra if name not in _EXTRA_SETTINGS and not name.startswith(own)]:
        raise ValueError(f"unknown settings of a model: {', '.join(sorted(unknown))}")
    return ModelSettings(**{name: value for name, value in given.items() if name in _SETTINGS}, extra=extra)
