"""What a training leaves behind: a tiny base that it made, and two checkpoints whose adapters differ."""

from pathlib import Path

GAME = "llm_envs/plan_path-v0"
OPTIONS = {"size": 6, "observation": "local", "max_moves": 3, "max_cycles": 2}

_CONFIG = """
env: {{id: {game}, options: {{size: 6, observation: local, max_moves: 3, max_cycles: 2}}}}
model: {model}
policies: {{tool: {{rank: 4}}, planner: {{rank: 4}}}}
roles:
  tool: {{policy: tool, max_tokens: 6}}
  planner: {{policy: planner, max_tokens: 6}}
run: {{output_dir: {folder}}}
"""


def write_run(folder: Path, base: Path | None = None) -> Path:
    """The folder, with `checkpoint-0` and `checkpoint-5` in it; nothing was learned.

    Args:
        folder: of the run.
        base: folder of the base model; without one it is a tiny one, in `base` as a warm start leaves it.
    """
    import torch

    from at_grpo.inference.base_model import load_base
    from at_grpo.loading import load_config
    from at_grpo.policies import build_policies

    torch.set_num_threads(1)
    torch.manual_seed(0)
    section = f"{{base: {base}}}" if base else "{warm_start: {hidden_size: 32, layers: 2, heads: 2}}"
    (folder / "config.yaml").write_text(_CONFIG.format(game=GAME, folder=folder, model=section))
    config = load_config(folder / "config.yaml")
    model, _ = load_base(str(base or _save_base(folder / "base")), "float32")
    policies = build_policies(model, config.policies, seed=0)
    for step in (0, 5):
        checkpoint = folder / f"checkpoint-{step}"
        policies.save_pretrained(checkpoint)
        (checkpoint / "config.yaml").write_text((folder / "config.yaml").read_text())
        with torch.no_grad():
            for name, parameter in policies.named_parameters():
                if "lora_B" in name:
                    parameter.normal_(std=2.0)
    return folder


def _save_base(folder: Path) -> Path:
    from at_grpo.tiny import build_model, build_tokenizer, chat_text, save_base

    moves = ("up", "down", "left", "right")
    tokenizer = build_tokenizer(
        chat_text(f"{role} at 1 2 goal 3 4", 'print("up")') for role in (*moves, "tool", "planner")
    )
    save_base(build_model(tokenizer, hidden_size=32, layers=2, heads=2, seed=1), tokenizer, folder)
    return folder
