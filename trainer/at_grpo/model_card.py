"""`README.md` of a run's result: what was trained on what, how it came out, and how to load it without this package."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path

from huggingface_hub import ModelCardData

from at_grpo.checkpointing import CARD, write_atomically
from at_grpo.choices import Weights
from at_grpo.config import TrainConfig, describe_player
from at_grpo.loading import dump_config
from at_grpo.metrics import roles_of
from at_grpo.pools import base_of

LIBRARIES = ("llm-envs", "torch", "transformers", "trl", "peft", "accelerate", "datasets")
CITATION = """\
@article{atgrpo2025,
  title  = {Stronger Together: On-Policy Reinforcement Learning for Collaborative LLMs},
  author = {Zhao, Yujie and Hu, Lanxiang and Wang, Yang and Hou, Minmin and Zhang, Hao and Ding, Ke and Zhao, Jishen},
  journal = {arXiv preprint arXiv:2510.11062},
  year   = {2025}
}"""


def write_model_card(
    folder: Path,
    config: TrainConfig,
    metrics: Mapping[str, float],
    *,
    figures: Mapping[str, str] | None = None,
) -> Path:
    """Write the card beside the policies.

    Args:
        folder: holds a folder for each policy, with its adapter or its model.
        config: of the run.
        metrics: the last iteration's, as in `metrics.jsonl`.
        figures: further results by name, e.g. success on the test split with its interval.

    Returns:
        The card's path.
    """
    bases = list(dict.fromkeys(base_of(config, section) for section in config.policies.values()))
    kinds = {Weights(section.weights) for section in config.policies.values()}
    on_the_hub = [base for base in bases if not Path(base).exists()]  # which knows no local folder
    data = ModelCardData(
        base_model=on_the_hub[0] if len(on_the_hub) == 1 else on_the_hub or None,
        library_name="peft" if Weights.LORA in kinds else "transformers",
        tags=["at-grpo", "grpo", *(["lora"] if Weights.LORA in kinds else []), "multi-agent", "reinforcement-learning"],
        pipeline_tag="text-generation",
    )
    named = ", ".join(f"`{base}`" for base in bases)
    parts = [
        f"---\n{data.to_yaml()}\n---",
        f"# {folder.name}: {', '.join(config.policies)}",
        f"{_trained(kinds)} {named}, trained by AT-GRPO (arXiv 2510.11062) on `{config.env.id}`.",
        _roles(config),
        _results(metrics, figures or {}),
        _loading(config),
        f"## Configuration\n\n```yaml\n{dump_config(config)}```",
        "## Versions\n\n" + "\n".join(f"- {name} {version(name)}" for name in LIBRARIES),
        f"## Citation\n\n```bibtex\n{CITATION}\n```",
    ]
    path = folder / CARD
    write_atomically(path, "\n\n".join(parts) + "\n")
    return path


def _trained(kinds: Collection[Weights]) -> str:
    names = {Weights.LORA: "LoRA adapters on", Weights.FULL: "all weights of"}
    words = " and ".join(name for kind, name in names.items() if kind in kinds)
    return words[0].upper() + words[1:]


def _roles(config: TrainConfig) -> str:
    rows = ["| role | policy | rank | temperature | most tokens a reply |", "|---|---|---|---|---|"]
    for role, section in config.trained.items():
        policy = config.policies[section.policy]
        rank = policy.rank if policy.weights == Weights.LORA else "all weights"
        rows.append(f"| {role} | `{section.policy}` | {rank} | {section.temperature} | {section.max_tokens} |")
    rows += [f"| {role} | not trained: {describe_player(player)} | | | |" for role, player in config.frozen.items()]
    return "## Roles\n\n" + "\n".join(rows)


def _results(metrics: Mapping[str, float], figures: Mapping[str, str]) -> str:
    rows = ["## Results\n"]
    rows += [f"- {name}: {text}" for name, text in figures.items()]
    if "eval_success" in metrics:
        rows.append(f"- success on the evaluation split: {metrics['eval_success']:.0%}")
    for role in roles_of(metrics):
        reward, invalid = metrics[f"{role}/reward"], metrics.get(f"{role}/invalid_rate", 0.0)
        rows.append(f"- {role}: mean reward {reward:+.3f}, invalid replies {invalid:.1%}")
    return "\n".join(rows)


def _loading(config: TrainConfig) -> str:
    lines = ["from transformers import AutoModelForCausalLM, AutoTokenizer"]
    members: dict[str, list[str]] = defaultdict(list)
    for name, section in config.policies.items():
        whole = section.weights == Weights.FULL
        members[name if whole else base_of(config, section)] += [] if whole else [name]
    if any(members.values()):
        lines.insert(0, "from peft import PeftModel")
    for base, adapters in members.items():
        lines += [
            "",
            f'tokenizer = AutoTokenizer.from_pretrained("{base}")',
            f'model = AutoModelForCausalLM.from_pretrained("{base}", dtype="{config.model.dtype}")',
        ]
        if not adapters:
            continue
        first, *others = adapters
        lines += [
            f'model = PeftModel.from_pretrained(model, "{first}", adapter_name="{first}")',
            *(f'model.load_adapter("{name}", adapter_name="{name}")' for name in others),
            f'model.set_adapter("{first}")  # whose turn it is',
        ]
    library = "PEFT" if any(members.values()) else "transformers"
    return f"## Use\n\nFrom this folder, with plain {library}:\n\n```python\n" + "\n".join(lines) + "\n```"
