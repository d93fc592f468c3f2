"""The TRL adapter: TRL's own trainer plays whole episodes with it, and the rewards are those of the environment."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from llm_envs import make
from llm_envs.adapters.trl import ToolEpisodes, environment_factory, instances
from llm_envs.core.errors import UsageError
from llm_envs.play import play
from llm_envs.players import ReferencePlayer

OPTIONS = {"roles": "single", "size": 4, "min_path": 2, "max_cycles": 2, "observation": "local"}
WORDS = ("up", "down", "left", "right")


def episodes(unfinished: float = -1.0) -> ToolEpisodes:
    return environment_factory("plan_path_v0", "solver", options=OPTIONS, unfinished=unfinished)()


def shortest(index: int) -> str:
    """What solves an instance of the training split in one answer."""
    return play(make("plan_path_v0", **OPTIONS), {"all": ReferencePlayer("oracle")}, index=index).turns[0].reply


def test_an_episode_pays_its_return_and_nothing_after_its_end() -> None:
    played = episodes()
    assert played.reset(prompt=[], split="train", index=3).startswith("solver at ")
    assert played.answer(shortest(3)) == played.answer("up") == "The episode is over."
    assert played.get_reward() == pytest.approx(1.0)


def test_silence_is_worse_than_playing_on_badly() -> None:
    """Leaving early must not pay: an episode without answers, or with one too few, costs what `unfinished` says."""
    silent, halfway, bad = episodes(), episodes(), episodes()
    for each in (silent, halfway, bad):
        each.reset(index=3)
    assert halfway.answer(f"<answer>{shortest(3)} bad</answer>").endswith("invalid"), (
        "the next observation, not the end"
    )
    assert bad.answer("?").endswith("invalid")
    assert bad.answer("?") == "The episode is over."
    assert silent.get_reward() == -1.0
    assert halfway.get_reward() == -2.0 == bad.get_reward()


def test_rows_of_one_index_are_one_instance_and_a_row_without_is_refused() -> None:
    """UC-011: completions that are compared with one another must have had the same problem."""
    rows = instances(8, split="validation")
    seen = [[episodes().reset(**row) for row in rows] for _ in range(2)]
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 4
    with pytest.raises(UsageError, match="index"):
        episodes().reset(prompt=[])


def test_what_is_wrong_shows_before_training_begins() -> None:
    with pytest.raises(UsageError, match="solver"):
        environment_factory("plan_path_v0", "planner", options=OPTIONS)
    with pytest.raises(UsageError, match="at most 0"):
        environment_factory("plan_path_v0", "solver", options=OPTIONS, unfinished=0.5)


def test_only_answer_is_offered_as_a_tool() -> None:
    public = {name for name, _ in inspect.getmembers(ToolEpisodes, inspect.isfunction) if not name.startswith("_")}
    assert public == {"answer", "reset", "get_reward"}


def test_the_real_trainer_learns_from_two_steps_of_tool_calls(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra `train`")
    pytest.importorskip("trl", reason="needs the extra `train`")
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = caller(torch)
    rewards: list[float] = []
    make_episodes = environment_factory("plan_path_v0", "solver", options=OPTIONS)

    class Watched(ToolEpisodes):
        def get_reward(self) -> float:
            rewards.append(super().get_reward())
            return rewards[-1]

    def factory() -> ToolEpisodes:
        made = make_episodes()
        made.__class__ = Watched
        return made

    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    trainer = GRPOTrainer(
        model,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=160,
            max_tool_calling_iterations=3,
            learning_rate=1e-3,
            bf16=False,
            use_cpu=True,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
            disable_tqdm=True,
            seed=0,
        ),
        train_dataset=Dataset.from_list(instances(8)),
        processing_class=tokenizer,
        environment_factory=factory,
    )
    trainer.train()
    calls = [row["tools/call_frequency"] for row in trainer.state.log_history if "tools/call_frequency" in row]
    assert len(calls) == 2
    assert min(calls) > 0.5
    assert len(rewards) == 16
    assert max(rewards) > min(rewards), "with constant rewards nothing could be learned"
    moved = [name for name, value in model.named_parameters() if not torch.equal(value, before[name])]
    assert moved


def caller(torch: Any) -> tuple[Any, Any]:
    """A tiny model that has learned to call the tool with one of four words, and its tokenizer."""
    from trl.chat_template_utils import qwen3_chat_template

    from at_grpo.tiny import build_model, build_tokenizer

    plain = build_tokenizer(["x"])
    plain.chat_template = qwen3_chat_template
    texts = [conversation(plain, WORDS[number % len(WORDS)], number) for number in range(16)]
    tokenizer = build_tokenizer([prompt + reply for prompt, reply in texts] * 2)
    tokenizer.chat_template = qwen3_chat_template
    model = build_model(tokenizer, hidden_size=64, layers=2, heads=2, seed=0)
    rows = [
        (tokenizer(prompt, add_special_tokens=False).input_ids, tokenizer(reply, add_special_tokens=False).input_ids)
        for prompt, reply in texts
    ]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(120):
        prompt, reply = rows[step % len(rows)]
        ids = torch.tensor([prompt + reply])
        labels = torch.tensor([[-100] * len(prompt) + reply])
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, tokenizer


def conversation(tokenizer: Any, word: str, index: int) -> tuple[str, str]:
    """The prompt of an instance as TRL renders it, and a call of the tool."""
    played = episodes()
    messages = [{"role": "user", "content": played.reset(index=index)}]
    prompt = tokenizer.apply_chat_template(messages, tools=[played.answer], tokenize=False, add_generation_prompt=True)
    return prompt, f'<tool_call>\n{{"name": "answer", "arguments": {{"reply": "{word}"}}}}\n</tool_call><|im_end|>'
