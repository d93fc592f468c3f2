"""Plan-Path: find a shortest way through a grid with walls (environment module: `llm_envs.plan_path_v0`)."""
