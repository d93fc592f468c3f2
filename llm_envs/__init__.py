"""Multi-agent LLM tasks as PettingZoo environments."""

__version__ = "0.1.0"
