"""Families of generated questions; `llm_envs.math.families.table` lists them."""
