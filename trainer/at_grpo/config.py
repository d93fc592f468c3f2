"""The whole configuration of a run as frozen dataclasses; nothing here imports torch.

`configs/*.yaml` and the command line fill the same fields (`loading.load_config`); what a field means is written here
only, and docs/configuration.md is made of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EnvSection:
    """Which environment to train on.

    Attributes:
        id: registry id, e.g. `llm_envs/plan_path-v0`; any registered PettingZoo text environment.
        options: keyword arguments of the environment, which `llm-envs show <id>` lists.
        train_split: split of the training instances.
        eval_split: split for curves and checkpoint selection; results are reported on another one.
    """

    id: str = "llm_envs/plan_path-v0"
    options: dict[str, Any] = field(default_factory=dict)
    train_split: str = "train"
    eval_split: str = "validation"


@dataclass(frozen=True, slots=True)
class WarmStartSection:
    """A tiny base model made from a seed and trained on a reference player's episodes, for machines without a GPU or a
    hub.

    Attributes:
        player: reference player that demonstrates.
        steps: optimizer steps of supervised training.
        batch_size: demonstrations a step.
        learning_rate: of AdamW.
        hidden_size: width of the Qwen3-architecture model.
        layers: its transformer layers.
        heads: its attention heads.
        seed: of weights, demonstrations and order.
    """

    player: str = "weak"
    steps: int = 400
    batch_size: int = 32
    learning_rate: float = 3e-3
    hidden_size: int = 128
    layers: int = 3
    heads: int = 4
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ModelSection:
    """The base model.

    Attributes:
        base: hub id or folder; leave empty with `warm_start`, which makes one.
        dtype: number format of the base's weights, when it is not itself trained; adapters are always float32.
        template: what the chat template of every base is told, e.g. `{enable_thinking: false}` of Qwen3's.
        warm_start: how to make a tiny base model, or null.
    """

    base: str = ""
    dtype: str = "float32"
    template: dict[str, Any] = field(default_factory=dict)
    warm_start: WarmStartSection | None = None


@dataclass(frozen=True, slots=True)
class PolicySection:
    """One set of trained weights: a LoRA adapter on a base, or all weights of a model.

    Attributes:
        base: hub id or folder of its base model; empty for the run's, `model.base` or the one of `model.warm_start`.
        weights: `lora`, or `full`: all weights are trained, in float32, by a policy that has the base model to itself.
            With servers, each version is published by starting its servers again on the new weights.
        rank: of the LoRA adapter.
        lora_alpha: of the LoRA adapter, whose update is scaled by lora_alpha / rank.
        target_modules: which modules the adapter changes: names, a pattern of whole paths, or `all-linear`.
        beta: weight of the KL penalty to the policy's own start (0 = none).
        learning_rate: of this policy; 0 for the run's, `optim.learning_rate`. Both follow the run's schedule.
    """

    base: str = ""
    weights: str = "lora"
    rank: int = 16
    lora_alpha: int = 32
    target_modules: str | tuple[str, ...] = "all-linear"
    beta: float = 0.0
    learning_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class PlayerSection:
    """Who plays a role that is not trained: exactly one of `reference`, `checkpoint` and `url`.

    Such a role gives one reply a turn, in training and in evaluation: no branches, no groups, no samples.

    Attributes:
        reference: a reference player of the environment, e.g. `oracle`.
        checkpoint: a `checkpoint-<step>` folder of a run, or the folder of one adapter; plays in the trainer's process,
            with a copy of its own base.
        url: base URL of an OpenAI-compatible server, e.g. `https://host/v1`; it gets the observation as a chat.
        model: what that server calls the model.
        api_key_env: environment variable with the server's key, empty for none. The key itself is written nowhere.
        options: further fields of a request, e.g. `{top_p: 0.9}`; null leaves out a field that would be sent.
    """

    reference: str = ""
    checkpoint: str = ""
    url: str = ""
    model: str = ""
    api_key_env: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def describe_player(section: PlayerSection) -> str:
    """Who plays, in a few words, for records."""
    if section.url:
        return f"{section.model} at {section.url}"
    return section.checkpoint or section.reference


@dataclass(frozen=True, slots=True)
class RoleSection:
    """How one role of the environment is played: by a policy, which is trained, or by a player, which is not.

    Attributes:
        policy: name of the policy that plays it; two roles may name the same one.
        temperature: the logits are divided by it, in sampling and in the loss; reference players have no use for it.
        max_tokens: most tokens of one reply, its stop token included.
        stop: strings that end a reply; the tokens up to the end of the string are kept.
        player: who plays it instead of a policy, or null.
    """

    policy: str = ""
    temperature: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    player: PlayerSection | None = None


@dataclass(frozen=True, slots=True)
class RolloutSection:
    """How episodes are sampled (AT-GRPO, arXiv 2510.11062).

    Attributes:
        instances: instances a step (the paper's batch of environments).
        k: branches a turn: replies to one prompt, whose rewards are compared with each other.
        grouping: `turn` (tree sampling, one group per agent and turn) or `trajectory` (k whole episodes per instance).
        select: the branch an episode goes on with: `greedy`, the one of the best reward; `proportional`, with a chance
            in proportion to its reward's height over the worst one; or `uniform`, any.
        max_prompt_tokens: a longer prompt ends the episode as truncated; it is never cut.
        filter: instances that are left out of the batch: `none`; `reward`, those in which no group's rewards differ; or
            `outcome`, those in which no group's team rewards differ, whatever local penalties say. At its turn, a role
            that leaves the state as it is (a tool) earns nothing for the team: where only such roles are trained,
            `outcome` needs `grouping: trajectory`.
        refill: most further instances a step, played in the place of those that the filter leaves out.
        max_in_flight: instances at once, 0 = all of a step.
        max_lost_share: share of branches that failures may take before the run stops.
        staleness: by how many versions the weights that sample may be behind those that are trained. 0: strictly
            on-policy. S: servers go on with the next iterations, at most S ahead, while this one is trained on; the
            truncated ratio of the trainer's to the sampler's probabilities (`optim.importance_cap`) corrects for it.
        stall_s: seconds that training waits for the next finished instance of a server before the run stops; for
            servers only, since in one process training begins when all instances are finished.
        sandbox: cage for the programs agents write.
    """

    instances: int = 8
    k: int = 4
    grouping: str = "turn"
    select: str = "greedy"
    max_prompt_tokens: int = 4096
    filter: str = "none"
    refill: int = 0
    max_in_flight: int = 0
    max_lost_share: float = 0.2
    staleness: int = 0
    stall_s: float = 3600.0
    sandbox: str = "auto"


@dataclass(frozen=True, slots=True)
class InferenceSection:
    """Who generates the replies.

    Attributes:
        backend: `transformers` (in this process, taking turns with training), `vllm` (servers), or `openai` (running
            servers of any make, refused where they do not give what training needs).
        urls: servers that run already, `http://host:port` or `unix:/path`; empty to start some.
        api_key_env: environment variable with the key of the servers in `urls`, empty for none.
        servers: how many vLLM servers to start, each with a copy of the base model.
        gpus: the devices that they share evenly, counted among the visible ones; the trainer takes the first of the
            others. Empty for one each beside the trainer's, or the trainer's own where there are too few, or the CPU.
        options: further options of vLLM's command line, e.g. `{gpu-memory-utilization: 0.8}`; true for a flag.
        python: an interpreter that has vLLM, where this one has not.
        max_in_flight: requests at once at each server; further ones wait without a timeout.
        timeout_s: seconds that one answer may take.
        patience_s: seconds for which a lost connection is tried again.
        start_timeout_s: seconds from a server's start to its first answer.
        hang_s: seconds without any answer, to health checks or requests, after which a server that the run has started
            counts as hung. A busy one answers health checks; on a crowded CPU it may be late by seconds.
        restarts: how often a server that dies or hangs is started again.
    """

    backend: str = "transformers"
    urls: tuple[str, ...] = ()
    api_key_env: str = ""
    servers: int = 1
    gpus: tuple[int, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    python: str = ""
    max_in_flight: int = 256
    timeout_s: float = 600.0
    patience_s: float = 120.0
    start_timeout_s: float = 600.0
    hang_s: float = 120.0
    restarts: int = 3


@dataclass(frozen=True, slots=True)
class UpdateSection:
    """The processes that train: one update worker for each base model (and each pool, see `pools`).

    Attributes:
        ranks: processes of a worker, which share its micro-batches and sum their gradients; with GPUs, each has one.
        timeout_s: seconds for which one of these processes waits for another.
        start_timeout_s: seconds from a process's start to the moment when it has loaded its base model.
    """

    ranks: int = 1
    timeout_s: float = 1800.0
    start_timeout_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class PoolSection:
    """Servers and an update worker of a policy's own. Policies with the same base and the same pool share them, so a
    pool that names nothing of its own sets nothing apart, and is refused.

    Attributes:
        rollout_gpus: devices of the pool's servers, instead of `inference.gpus`; counted in the same way.
        update_gpus: devices of the pool's update worker, one for each of its ranks.
        servers: how many servers to start, 0 for `inference.servers`.
        urls: servers of the pool that run already.
    """

    rollout_gpus: tuple[int, ...] = ()
    update_gpus: tuple[int, ...] = ()
    servers: int = 0
    urls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptimSection:
    """One optimizer step an iteration, or `mini_batches` x `epochs` of them.

    Attributes:
        steps: iterations.
        learning_rate: of AdamW, at the top of the schedule.
        adam_beta1: decay of AdamW's first moment.
        adam_beta2: decay of AdamW's second moment.
        weight_decay: of AdamW.
        max_grad_norm: a longer gradient is cut to this norm, each policy's by itself.
        scheduler: transformers' `lr_scheduler_type`.
        warmup_steps: iterations in which the learning rate rises from 0.
        scale_rewards: `group` divides advantages by the group's std, `none` does not.
        advantage_factor: multiplies every advantage.
        micro_batch_size: rows a forward pass.
        mini_batches: optimizer steps into which each policy's rows of an iteration are divided. With 1 (and one epoch)
            training is strictly on-policy and goes on while the rollouts do; with more it begins when all are there.
        epochs: passes over the rows of an iteration.
        loss_type: TRL's name of the loss; of its losses, those that are plain sums over tokens.
        epsilon: clip range of the ratio.
        importance_cap: cap of the correction for what sampled (its numerics; with `rollout.staleness` also its older
            weights), 0 = no correction. It is by token only: over a sequence, ratios would grow with its length.
    """

    steps: int = 100
    learning_rate: float = 1e-5
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    scheduler: str = "constant"
    warmup_steps: int = 0
    scale_rewards: str = "group"
    advantage_factor: float = 1.0
    micro_batch_size: int = 16
    mini_batches: int = 1
    epochs: int = 1
    loss_type: str = "dapo"
    epsilon: float = 0.2
    importance_cap: float = 2.0


@dataclass(frozen=True, slots=True)
class RunSection:
    """Where results go and how often.

    Attributes:
        output_dir: run folder.
        seed: every random draw of the run derives from it.
        save_steps: iterations between checkpoints.
        keep_checkpoints: newest ones kept (step 0 is always kept).
        eval_steps: iterations between evaluations on `env.eval_split`, 0 = none.
        eval_instances: instances an evaluation.
        log_steps: iterations between log lines.
        log_turns: sampled turns shown in the table of each log line, 0 = none.
        report_to: trackers of transformers (`wandb`, `tensorboard`, …), empty = none.
        permute_rewards: control experiment: shuffles rewards within each group, so that nothing can be learned.
    """

    output_dir: str = "runs/at_grpo"
    seed: int = 0
    save_steps: int = 50
    keep_checkpoints: int = 2
    eval_steps: int = 0
    eval_instances: int = 100
    log_steps: int = 10
    log_turns: int = 0
    report_to: tuple[str, ...] = ()
    permute_rewards: bool = False


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """A run. `roles` maps each role of the environment to how it is played; `policies` names the weights that are
    trained; `pools` gives some of these machines of their own.
    """

    env: EnvSection = field(default_factory=EnvSection)
    model: ModelSection = field(default_factory=ModelSection)
    policies: dict[str, PolicySection] = field(default_factory=dict)
    roles: dict[str, RoleSection] = field(default_factory=dict)
    rollout: RolloutSection = field(default_factory=RolloutSection)
    inference: InferenceSection = field(default_factory=InferenceSection)
    update: UpdateSection = field(default_factory=UpdateSection)
    pools: dict[str, PoolSection] = field(default_factory=dict)
    optim: OptimSection = field(default_factory=OptimSection)
    run: RunSection = field(default_factory=RunSection)

    @property
    def trained(self) -> dict[str, RoleSection]:
        """The roles that are played by policies."""
        return {role: section for role, section in self.roles.items() if section.player is None}

    @property
    def frozen(self) -> dict[str, PlayerSection]:
        """The roles that are not trained, and who plays them."""
        return {role: section.player for role, section in self.roles.items() if section.player is not None}


def changed(section: Any, names: Iterable[str]) -> list[str]:
    """Those of a section's options that are not at their defaults."""
    default = type(section)()
    return [name for name in names if getattr(section, name) != getattr(default, name)]
