"""A base model that already plays a little: tiny, made from a seed, taught by a reference player's episodes.

Reinforcement learning needs a policy whose replies are mostly valid and sometimes good. Where no pretrained model is
at hand, demonstrations give one, and the weakness of the demonstrator decides how much is left to learn.
"""

import asyncio
import hashlib
import json
import logging
import random
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

import llm_envs
from at_grpo.config import TrainConfig, WarmStartSection
from at_grpo.rollouts.programs import SharedRuns
from at_grpo.seeds import derive_seed, instance_indices
from at_grpo.tiny import build_model, build_tokenizer, chat_text, save_base
from at_grpo.tokenization import PromptEncoder
from llm_envs.core.errors import UsageError
from llm_envs.play import aplay
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox

logger = logging.getLogger(__name__)

STAMP = "warm_start.json"
FORMAT = 1  # raise it whenever the same settings would give another model
EPISODES_AT_ONCE = 64
LOG_STEPS = 50
IGNORED = -100  # the label that cross-entropy leaves out


@dataclass(frozen=True, slots=True)
class Demonstration:
    """One turn of a reference player."""

    observation: str
    reply: str


def build_base(config: TrainConfig, folder: Path, sandbox: Sandbox | None = None) -> Path:
    """The base model that `config.model.warm_start` describes, in `folder`; made if it is not there yet.

    Args:
        config: its environment gives the demonstrations, its warm start says how to learn from them.
        folder: where the model and its tokenizer go. A base made with the same settings is left as it is, one made
            with others is replaced.
        sandbox: runs the programs in the demonstrations; the one that `config.rollout.sandbox` names where it is None.

    Returns:
        The folder, which transformers' `from_pretrained` loads.

    Raises:
        UsageError: no warm start in the configuration, an unknown player, or a folder with something else in it.
    """
    section = config.model.warm_start
    if section is None:
        raise UsageError("model.warm_start=null: give it a section, or name a model in model.base.")
    settings = {"format": FORMAT, "env": asdict(config.env), "warm_start": asdict(section)}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()
    if _stamp(folder) == digest:
        logger.info("warm start: %s is up to date", folder)
        return folder
    demonstrations = demonstrate(config, section.steps * section.batch_size, sandbox or _sandbox(config))
    tokenizer = build_tokenizer(chat_text(demo.observation, demo.reply) for demo in demonstrations)
    model = build_model(
        tokenizer, hidden_size=section.hidden_size, layers=section.layers, heads=section.heads, seed=section.seed
    )
    imitate(model, PromptEncoder(tokenizer), demonstrations, section)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    save_base(model, tokenizer, partial)
    (partial / STAMP).write_text(json.dumps({"digest": digest, "settings": settings}, indent=2, default=str))
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    return folder


def _stamp(folder: Path) -> str | None:
    """The digest of the settings that a finished base was made with; None where there is nothing yet."""
    path = folder / STAMP
    if path.exists():
        return str(json.loads(path.read_text())["digest"])
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(
            f"folder={str(folder)!r}: holds something that is no warm start; name a new folder, or remove it."
        )
    return None


def _sandbox(config: TrainConfig) -> Sandbox:
    from llm_envs.sandbox import get_sandbox  # late: an up-to-date base needs none

    return get_sandbox(config.rollout.sandbox)


def demonstrate(config: TrainConfig, count: int, sandbox: Sandbox) -> list[Demonstration]:
    """The first `count` turns of the warm start's player in every role, on instances of the training split."""
    return asyncio.run(_demonstrate(config, config.model.warm_start or WarmStartSection(), count, sandbox))


async def _demonstrate(
    config: TrainConfig, section: WarmStartSection, count: int, sandbox: Sandbox
) -> list[Demonstration]:
    player = ReferencePlayer(section.player, section.seed)
    runs = SharedRuns(sandbox)  # a weak player's programs repeat: a hundred runs serve thousands of turns
    seed = derive_seed(
        section.seed, "demonstrations"
    )  # of its own: these are not the instances of the first iterations

    async def play(index: int) -> list[Demonstration]:
        env: Any = llm_envs.make(config.env.id, **config.env.options)
        env.unwrapped.sandbox = runs
        episode = await aplay(env, {"all": player}, split=config.env.train_split, index=index)
        return [Demonstration(turn.observation, turn.reply) for turn in episode.turns]

    demonstrations: list[Demonstration] = []
    wave = 0
    while len(demonstrations) < count:
        for turns in await asyncio.gather(*map(play, instance_indices(seed, wave, EPISODES_AT_ONCE))):
            demonstrations += turns
        wave += 1
    return demonstrations[:count]


def imitate(
    model: PreTrainedModel, encoder: PromptEncoder, demonstrations: Sequence[Demonstration], section: WarmStartSection
) -> float:
    """Supervised learning on the replies; the prompts are context and not learned.

    Demonstrations come in an order drawn from the seed, each once before any comes again. The learning rate falls to
    zero on a line, after a short rise.

    Returns:
        the last batch's loss in nats a token.
    """
    rows = [(encoder.encode(demo.observation), encoder.encode_reply(demo.reply)) for demo in demonstrations]
    rng = random.Random(section.seed)
    order: list[int] = []
    optimizer = torch.optim.AdamW(model.parameters(), lr=section.learning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    rise = max(1, section.steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, (section.steps - step) / section.steps)
    )
    model.train()
    loss = torch.zeros(())
    for step in range(1, section.steps + 1):
        while len(order) < section.batch_size:
            order += rng.sample(range(len(rows)), len(rows))
        batch, order = order[: section.batch_size], order[section.batch_size :]
        loss = _loss(model, [rows[position] for position in batch])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % LOG_STEPS == 0 or step == section.steps:
            logger.info("warm start: step %d of %d, loss %.3f", step, section.steps, loss.item())
    return loss.item()


def _loss(model: PreTrainedModel, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> torch.Tensor:
    """Mean cross-entropy over the replies' tokens of a batch, padded right, where a causal model needs no mask."""
    ids_B_T = pad_sequence([torch.tensor(prompt + reply) for prompt, reply in rows], batch_first=True)
    labels = [torch.tensor([IGNORED] * len(prompt) + list(reply)) for prompt, reply in rows]
    labels_B_T = pad_sequence(labels, batch_first=True, padding_value=IGNORED)
    logits_B_T_V = model(input_ids=ids_B_T).logits[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits_B_T_V.flatten(0, 1), labels_B_T[:, 1:].flatten(), ignore_index=IGNORED
    )
