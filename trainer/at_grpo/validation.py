"""Every rule on a configuration's values, in one place; `loading.parse_config` has checked keys and types before."""

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from at_grpo.choices import Backend, Dtype, Filter, Grouping, LossType, ScaleRewards, Scheduler, Tracker, Weights
from at_grpo.config import (
    InferenceSection,
    ModelSection,
    OptimSection,
    PlayerSection,
    PolicySection,
    PoolSection,
    RoleSection,
    RolloutSection,
    RunSection,
    TrainConfig,
    UpdateSection,
    WarmStartSection,
    changed,
)
from at_grpo.env_facts import EnvFacts, inspect_env
from at_grpo.player_rules import player_problems
from at_grpo.pool_rules import pool_problems
from at_grpo.pools import pools_of
from at_grpo.rollouts.limits import Select
from at_grpo.weight_rules import full_problems, rank_problems, stale_problems
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import RESERVED
from llm_envs.sandbox.registry import KINDS

# PEFT tells adapters apart by `.name.` in a parameter's path, so an adapter called like a module would take that
# module's tensors out of every other adapter's file (peft 0.21, `_filter_state_dict_for_adapter_name`).
MODULE_NAMES = frozenset(
    {"model", "base_model", "base_layer", "layers", "self_attn", "mlp", "weight", "bias", "norm", "lm_head", "module"}
)
LORA_PREFIX = "lora_"  # PEFT warns of a name that is a part of it, even of one letter
URL = re.compile(r"(?:https?://[^/\s@?#]+/*|unix:/\S+)\Z")
BASE_URL = re.compile(r"(?:https?://[^/\s@?#]+(?:/[^\s?#]*)?)?\Z")
POLICY_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
# of `inference`, for servers that a run starts
OF_STARTED = ("servers", "gpus", "options", "python", "start_timeout_s", "hang_s", "restarts")
OWN_FIELDS = frozenset({"messages", "model", "n", "seed", "stream"})  # of a chat request, that no option may set


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be: the words for it, the test, and the names of a closed set."""

    allowed: str
    holds: Callable[[Any], bool]
    names: Collection[str] = ()


def _at_least(low: int, why: str = "") -> Rule:
    return Rule(f"at least {low}{why}", lambda value: value >= low)


def _one_of(choices: Iterable[str]) -> Rule:
    names = [str(name) for name in choices]
    return Rule(f"one of {', '.join(names)}", lambda value: value in names, names)


def _share(allowed: str) -> Rule:
    return Rule(allowed, lambda value: 0 <= value < 1)


def _repeats(values: Sequence[Any]) -> int:
    return len(values) - len(set(values))


_POSITIVE = Rule("above 0", lambda value: value > 0)
_NOT_NEGATIVE = Rule("at least 0", lambda value: value >= 0)
_TEXT = Rule("a name, not empty", bool)
_URLS = Rule("URLs like http://host:port or unix:/path", lambda value: all(map(URL.match, value)))
_DEVICES = Rule("numbers of devices, each once", lambda value: min(value, default=0) >= 0 == _repeats(value))

RULES: dict[type, dict[str, Rule]] = {
    ModelSection: {"dtype": _one_of(Dtype)},
    WarmStartSection: {
        "player": _TEXT,
        "steps": _at_least(1),
        "batch_size": _at_least(1),
        "learning_rate": _POSITIVE,
        "hidden_size": _at_least(1),
        "layers": _at_least(1),
        "heads": Rule("an even number, at least 2", lambda value: value >= 2 and value % 2 == 0),
        "seed": _at_least(0),
    },
    PolicySection: {
        "weights": _one_of(Weights),
        "rank": _at_least(1),
        "lora_alpha": _at_least(1),
        "target_modules": Rule("`all-linear` or at least one module name", lambda value: bool(value) and all(value)),
        "beta": _NOT_NEGATIVE,
        "learning_rate": _NOT_NEGATIVE,
    },
    PlayerSection: {
        "url": Rule(
            "a base URL like https://host/v1, without a password or a query (a key goes into api_key_env)",
            lambda value: BASE_URL.match(value) is not None,
        ),
        "options": Rule(
            f"fields of a request other than {', '.join(sorted(OWN_FIELDS))}", lambda value: not OWN_FIELDS & set(value)
        ),
    },
    RoleSection: {
        "temperature": _NOT_NEGATIVE,
        "max_tokens": _at_least(1),
        "stop": Rule("texts that are not empty", all),
    },
    RolloutSection: {
        "instances": _at_least(1),
        "k": _at_least(2, " (a group of one has no baseline to be compared with)"),
        "grouping": _one_of(Grouping),
        "select": _one_of(Select),
        "max_prompt_tokens": _at_least(1),
        "filter": _one_of(Filter),
        "refill": _at_least(0),
        "max_in_flight": _at_least(0),
        "max_lost_share": _share("at least 0 and below 1"),
        "staleness": _at_least(0),
        "stall_s": _POSITIVE,
        "sandbox": _one_of(["auto", *(kind.name for kind in KINDS)]),
    },
    InferenceSection: {
        "backend": _one_of(Backend),
        "urls": _URLS,
        "servers": _at_least(1),
        "gpus": _DEVICES,
        "max_in_flight": _at_least(1),
        "timeout_s": _POSITIVE,
        "patience_s": _NOT_NEGATIVE,
        "start_timeout_s": _POSITIVE,
        "hang_s": _POSITIVE,
        "restarts": _at_least(0),
    },
    UpdateSection: {"ranks": _at_least(1), "timeout_s": _POSITIVE, "start_timeout_s": _POSITIVE},
    PoolSection: {"rollout_gpus": _DEVICES, "update_gpus": _DEVICES, "servers": _at_least(0), "urls": _URLS},
    OptimSection: {
        "steps": _at_least(1),
        "learning_rate": _POSITIVE,
        "adam_beta1": _share("at least 0 and below 1"),
        "adam_beta2": _share("at least 0 and below 1"),
        "weight_decay": _NOT_NEGATIVE,
        "max_grad_norm": _POSITIVE,
        "scheduler": _one_of(Scheduler),
        "warmup_steps": _at_least(0),
        "scale_rewards": _one_of(ScaleRewards),
        "advantage_factor": _POSITIVE,
        "micro_batch_size": _at_least(1),
        "mini_batches": _at_least(1),
        "epochs": _at_least(1),
        "loss_type": _one_of(LossType),
        "epsilon": _POSITIVE,
        "importance_cap": Rule("0 (no correction) or at least 1", lambda value: value == 0 or value >= 1),
    },
    RunSection: {
        "output_dir": _TEXT,
        "seed": _at_least(0),
        "save_steps": _at_least(1),
        "keep_checkpoints": _at_least(1),
        "eval_steps": _at_least(0),
        "eval_instances": _at_least(1),
        "log_steps": _at_least(1),
        "log_turns": _at_least(0),
        "report_to": Rule(f"names among {', '.join(Tracker)}", lambda value: set(value) <= set(Tracker)),
    },
}


def check_config(config: TrainConfig) -> EnvFacts:
    """Check every value, how they go together, and that they fit the environment, which is returned in short.

    Raises:
        UsageError: with one line for each problem.
    """
    _raise(_value_problems(config, ""))
    _raise(
        *(_name_problems(config), player_problems(config), pool_problems(config), _model_problems(config)),
        *(
            _inference_problems(config),
            _idle_problems(config),
            rank_problems(config),
            stale_problems(config),
            full_problems(config),
        ),
    )
    facts = inspect_env(config.env)
    _raise(_role_problems(config, facts))
    return facts


def _raise(*problems: Iterator[str]) -> None:
    lines = [line for source in problems for line in source]
    if lines:
        raise UsageError("\n".join(lines))


def _value_problems(section: Any, prefix: str) -> Iterator[str]:
    """Each value by itself."""
    rules = RULES.get(type(section), {})
    for field in dataclasses.fields(section):
        value, path = getattr(section, field.name), f"{prefix}{field.name}"
        if dataclasses.is_dataclass(value):
            yield from _value_problems(value, f"{path}.")
        elif path in {"policies", "roles", "pools"}:
            for name, member in value.items():
                yield from _value_problems(member, f"{path}.{name}.")
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"{path}={value}: must be a finite number."
        elif field.name in rules and not rules[field.name].holds(value):
            rule = rules[field.name]
            yield (
                str(unknown_choice(path, value, rule.names))
                if rule.names
                else f"{path}={value!r}: must be {rule.allowed}."
            )


def _name_problems(config: TrainConfig) -> Iterator[str]:
    """Policies and the roles that use them."""
    if not config.policies:
        yield "policies={}: name at least one, e.g. policies: {team: {rank: 16}}."
    for name in config.policies:
        if not POLICY_NAME.match(name):
            yield f"policies.{name}: must be a word of a-z, 0-9 and _ that begins with a letter."
        elif taken := _taken(name):
            yield f"policies.{name}: must be another name: {taken}."
    for role, section in config.trained.items():
        if not section.policy:
            names = ", ".join(config.policies)
            yield f"roles.{role}.policy: is missing; must be one of {names}, or roles.{role}.player says who plays."
        elif section.policy not in config.policies:
            yield str(unknown_choice(f"roles.{role}.policy", section.policy, config.policies))
        if section.temperature == 0:
            yield f"roles.{role}.temperature=0.0: must be above 0 (at 0 all siblings are alike: nothing is learned)."
    used = {section.policy for section in config.trained.values()}
    for name in (name for name in config.policies if name not in used):
        yield f"policies.{name}: is played by no role; name it in roles.<role>.policy, or remove it."


def _taken(name: str) -> str:
    """What else a policy's name would mean to PEFT or to servers; empty for nothing."""
    if name in RESERVED:
        return f"{', '.join(sorted(RESERVED))} have a meaning of their own"
    if name in MODULE_NAMES or name.endswith("_proj"):
        return "modules of models are called so, and PEFT would take one for the other"
    if name in LORA_PREFIX or "lora" in name:
        return f"PEFT finds adapters' tensors by {LORA_PREFIX!r}, and may mistake a part of it, or a name that has it"
    return ""


def _model_problems(config: TrainConfig) -> Iterator[str]:
    model, warm = config.model, config.model.warm_start
    if warm is not None:
        if model.base:
            yield f"model.base={model.base!r}: must be empty, model.warm_start makes the base; remove one of them."
        if warm.hidden_size % (2 * warm.heads):
            yield (
                f"model.warm_start.hidden_size={warm.hidden_size}: must be a multiple of 2 x heads ({2 * warm.heads}): "
                "rotary positions turn a head's dimensions in pairs."
            )


def _inference_problems(config: TrainConfig) -> Iterator[str]:
    section = config.inference
    running = [section.urls or pool.section.urls for pool in pools_of(config)]
    if section.api_key_env and not any(running):
        yield "inference.api_key_env: has no effect without inference.urls, the servers that ask for a key; remove it."
    if section.backend == Backend.TRANSFORMERS:
        for name in changed(section, ("urls", *OF_STARTED)):
            yield f"inference.{name}: has no effect with backend={section.backend!r}; set inference.backend=vllm."
        for name in changed(config.rollout, ("stall_s",)):
            yield (
                f"rollout.{name}: has no effect with inference.backend={section.backend!r}, where training begins when "
                "all instances are finished; remove it."
            )
        return
    if section.backend == Backend.OPENAI and not all(running):
        yield (
            "inference.urls=(): must name running servers with backend='openai', or pools.<policy>.urls those of each "
            "base; to start some, take backend=vllm."
        )
    if all(running):
        urls = "inference.urls" if section.urls else "pools.<policy>.urls"
        for name in changed(section, OF_STARTED):
            yield f"inference.{name}: has no effect on the running servers of {urls}; remove one of them."


def _idle_problems(config: TrainConfig) -> Iterator[str]:
    """Settings that contradict others, or would be read by nobody."""
    env, rollout, optim = config.env, config.rollout, config.optim
    if env.train_split == env.eval_split:
        yield f"env.eval_split={env.eval_split!r}: must differ from env.train_split, or it tells nothing new."
    for option, home in (("split", "env.train_split"), ("sandbox", "rollout.sandbox")):
        if option in env.options:
            yield f"env.options.{option}={env.options[option]!r}: must be set as {home}, the one place for it."
    if rollout.grouping == Grouping.TRAJECTORY and rollout.select != Select.GREEDY:
        yield f"rollout.select={rollout.select!r}: has no effect with grouping='trajectory'; remove it."
    if rollout.refill and rollout.filter == Filter.NONE:
        yield (
            f"rollout.refill={rollout.refill}: has no effect with filter='none', which leaves no instance out; set "
            "rollout.filter to reward or outcome."
        )
    if optim.loss_type == LossType.CISPO and optim.epsilon <= 1:
        yield (
            f"optim.epsilon={optim.epsilon}: must be above 1 with loss_type='cispo', where it is the cap of the ratio "
            "itself (5 in ScaleRL, arXiv 2510.13786); a lower one only scales the gradient."
        )
    if optim.loss_type == LossType.DAPO and optim.epsilon >= 1:
        yield f"optim.epsilon={optim.epsilon}: must be below 1 with loss_type='dapo' (ratios in 1 ± epsilon)."
    if optim.scheduler == Scheduler.CONSTANT and optim.warmup_steps:
        yield (
            f"optim.warmup_steps={optim.warmup_steps}: the constant schedule has no warm-up; "
            f"set optim.scheduler to {Scheduler.CONSTANT_WITH_WARMUP}."
        )
    if optim.warmup_steps > optim.steps:
        yield f"optim.warmup_steps={optim.warmup_steps}: must be at most optim.steps ({optim.steps})."


def _role_problems(config: TrainConfig, facts: EnvFacts) -> Iterator[str]:
    """The configuration's roles against the environment's."""
    theirs = ", ".join(facts.agents)
    for role in (role for role in config.roles if role not in facts.agents):
        yield str(unknown_choice("roles", role, facts.agents))
    for role in (role for role in facts.agents if role not in config.roles):
        yield f"roles.{role}: is missing; the environment has the roles {theirs}, and each needs a policy or a player."
    for role, player in config.frozen.items():
        if player.reference and not facts.players:
            yield f"roles.{role}.player.reference={player.reference!r}: {config.env.id} has no reference players."
        elif player.reference and player.reference not in facts.players:
            yield str(unknown_choice(f"roles.{role}.player.reference", player.reference, facts.players))
    warm = config.model.warm_start
    if warm is not None and facts.players and warm.player not in facts.players:
        yield str(unknown_choice("model.warm_start.player", warm.player, facts.players))
