"""Families of generated programming problems; `llm_envs.code.families.table` lists them."""
