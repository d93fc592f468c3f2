"""Sokoban: push every box onto a goal (environment module: `llm_envs.sokoban_v0`)."""
