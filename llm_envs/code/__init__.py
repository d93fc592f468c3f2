"""Programming problems and the judge of programs; the environment is `llm_envs.code_v0`."""
