"""The suite's commands of the `llm-envs` script, which finds them by the entry-point group `llm_envs.commands`."""
