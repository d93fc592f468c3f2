"""Benchmark suite for LLM agents on the `llm_envs` environments."""
