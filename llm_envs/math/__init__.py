"""Mathematics questions with answers that can be judged; the environment is `llm_envs.math_v0`."""
