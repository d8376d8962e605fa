"""Storage in memory: the promises of a database but for durability.

For tests, and for agents without a storage of their own.
"""

from clew_storage.memory.backend import MemoryBackend

__all__ = ["MemoryBackend"]
