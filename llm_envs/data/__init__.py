"""What the loaders of data sets share: rows from local files or from the Hugging Face hub, faults, and splits.

What a row means is told by the package that uses it: `llm_envs.code.datasets`, `llm_envs.math.datasets`.
"""
