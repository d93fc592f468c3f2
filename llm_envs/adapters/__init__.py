"""Text environments for other frameworks, one optional module each.

| module | gives | needs |
|---|---|---|
| `gymnasium` | one role as a `gymnasium.Env`, the others played by fixed players | nothing more |
| `trl` | one role as an `environment_factory` of TRL's `GRPOTrainer` | the extra `train`, to train with it |
"""
