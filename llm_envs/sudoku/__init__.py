"""Sudoku as a pure task; `llm_envs.sudoku_v0` is its environment and its user page."""
