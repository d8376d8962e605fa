"""How each provider's model is built. Imported late: `opening` says what is needed before this is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model

from clew_engine.models.left_open import note_response
from clew_engine.models.opening import Address
from clew_engine.models.port import ModelError, ModelSettings
from clew_engine.models.pydantic_ai import PydanticAIModel

# A model, and how its HTTP client is closed where it is not the model's own.
Built = tuple[Model[Any], Callable[[], Awaitable[None]] | None]


def build(address: Address, name: str, settings: ModelSettings) -> PydanticAIModel:
    """The model behind our port. Raises ModelError where it cannot be had, for want of a key above all."""
    builder, wants = _BUILDERS[address.prefix]
    try:
        model, on_close = builder(address)
    except UserError as error:
        raise ModelError("model_rejected", f"The model {name} cannot be used yet: {wants}.", retryable=False) from error
    return PydanticAIModel(model, name=name, settings=settings, on_close=on_close)


# ruff: noqa: PLC0415 in what follows, since each provider's SDK takes a second to import and only one is wanted


def _openai(address: Address) -> Built:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=address.base_url, api_key=address.api_key)
    return OpenAIResponsesModel(address.model, provider=provider), None


def _openai_chat(address: Address) -> Built:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if address.base_url is None:
        return OpenAIChatModel(address.model, provider=OpenAIProvider(api_key=address.api_key)), None
    # Not OpenAI's own provider: its key in the environment must not go to another server.
    server = OpenAICompatibleProvider(address.server, base_url=address.base_url, api_key=address.api_key)
    return OpenAIChatModel(address.model, provider=server), None


def _anthropic(address: Address) -> Built:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=address.api_key, base_url=address.base_url)
    return AnthropicModel(address.model, provider=provider), None


def _google(address: Address) -> Built:
    import httpx2
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    client = httpx2.AsyncClient(timeout=httpx2.Timeout(600, connect=5), event_hooks={"response": [note_response]})
    provider = GoogleProvider(api_key=address.api_key, base_url=address.base_url, http_client=client)
    return GoogleModel(address.model, provider=provider), client.aclose


def _bedrock(address: Address) -> Built:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    given = {"base_url": address.base_url, "api_key": address.api_key, "region_name": address.region}
    provider = BedrockProvider(**{name: value for name, value in given.items() if value is not None})
    # botocore takes no setting for a single request, and its own client takes none after it is made.
    client: Any = provider.client
    client.meta.events.unregister("needs-retry.bedrock-runtime", unique_id="retry-config-bedrock-runtime")
    return BedrockConverseModel(address.model, provider=provider), None


_BUILDERS: dict[str, tuple[Callable[[Address], Built], str]] = {
    "openai": (_openai, "set OPENAI_API_KEY, or give it an api_key"),
    "openai-chat": (_openai_chat, "set OPENAI_API_KEY, or give it a base_url or an api_key"),
    "anthropic": (_anthropic, "set ANTHROPIC_API_KEY, or give it an api_key"),
    "google": (_google, "set GOOGLE_API_KEY, or give it an api_key"),
    "bedrock": (_bedrock, "set AWS_DEFAULT_REGION, or give it a region"),
}
