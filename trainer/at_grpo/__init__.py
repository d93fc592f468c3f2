"""AT-GRPO: agent- and turn-wise group-relative policy optimisation of several LLM roles (arXiv 2510.11062)."""
