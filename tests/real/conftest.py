"""The real model's server, shared with the tests of the models."""

from tests.models.real_model import real_model_url

__all__ = ["real_model_url"]
