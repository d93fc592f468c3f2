"""Configurations: one way in, one way out, and errors that a person can act on."""

import dataclasses
import json
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from at_grpo import loading
from at_grpo.config import PolicySection, RoleSection, TrainConfig, WarmStartSection
from at_grpo.loading import bundled_configs, dump_config, load_config, parse_config
from at_grpo.yaml_io import parse_yaml, to_yaml
from llm_envs.core.errors import UsageError

VALID: dict[str, Any] = {
    "model": {"base": "some/model"},
    "policies": {"team": {}},
    "roles": {"tool": {"policy": "team"}, "planner": {"policy": "team"}},
}


@pytest.fixture
def write(tmp_path: Path) -> typing.Callable[[dict[str, Any]], Path]:
    def write(data: dict[str, Any]) -> Path:
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(data))
        return path

    return write


def error_of(data: dict[str, Any], *overrides: str, folder: Path) -> str:
    path = folder / "config.yaml"
    path.write_text(to_yaml(data))
    with pytest.raises(UsageError) as caught:
        load_config(path, overrides)
    return str(caught.value)


# ---- what comes in is what is meant


@pytest.mark.parametrize("name", bundled_configs())
def test_every_bundled_configuration_loads_and_survives_being_written_out(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    path = tmp_path / "again.yaml"
    path.write_text(dump_config(config))
    assert load_config(path) == config


TASKS = ("plan_path", "sokoban", "sudoku", "code", "math")
LEVELS = {"single_agent": (1, 1), "shared": (2, 1), "per_role": (2, 2), "per_model": (2, 2)}  # roles, policies


def test_every_task_comes_at_every_level_of_specialisation() -> None:
    names = {name for name in bundled_configs() if "/" in name}
    assert names == {f"{task}/{level}" for task in TASKS for level in LEVELS}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_the_paper_s_settings_are_in_the_configurations_of_real_models(task: str, level: str) -> None:
    """K = 4, T = 4, alpha = 1, batches of 128, mini-batches of 64 (arXiv 2510.11062)."""
    config = load_config(f"{task}/{level}")
    assert (config.rollout.k, config.rollout.instances, config.optim.mini_batches) == (4, 128, 2)
    assert (config.env.options["max_cycles"], config.env.options["alpha"]) == (4, 1.0)
    assert config.env.id == f"llm_envs/{task}-v0"
    assert config.model.base == "Qwen/Qwen3-1.7B"
    assert (len(config.roles), len(config.policies)) == LEVELS[level]
    bases = {policy.base or config.model.base for policy in config.policies.values()}
    assert bases == ({"Qwen/Qwen3-1.7B", "Qwen/Qwen3-8B"} if level == "per_model" else {"Qwen/Qwen3-1.7B"})
    assert config.run.output_dir == f"runs/{task}/{level}"


# ---- a file on top of another


def test_a_file_says_only_what_differs_from_the_one_that_it_extends(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: sudoku/per_role\nenv: {options: {size: 4}}\nroles: {tool: {max_tokens: 512}}\n")
    below, config = load_config("sudoku/per_role"), load_config(path, ["optim.steps=7"])
    assert config.env.options == {**below.env.options, "size": 4}
    assert config.roles["tool"] == dataclasses.replace(below.roles["tool"], max_tokens=512)
    assert config.optim == dataclasses.replace(below.optim, steps=7)
    assert (config.roles["planner"], config.policies) == (below.roles["planner"], below.policies)


def test_files_extend_one_another_and_what_stands_above_wins(tmp_path: Path) -> None:
    (tmp_path / "ground.yaml").write_text(to_yaml(VALID | {"optim": {"steps": 3, "epsilon": 0.1}, "rollout": {"k": 3}}))
    (tmp_path / "middle.yaml").write_text("extends: ground.yaml\noptim: {steps: 4}\nrollout: null\n")
    top = tmp_path / "top.yaml"
    top.write_text("extends: middle.yaml\noptim: {epsilon: 0.3}\nrollout: {k: 5}\n")
    config = load_config(top)
    assert (config.optim.steps, config.optim.epsilon, config.rollout.k) == (4, 0.3, 5)


def test_a_policy_that_is_null_is_not_there(tmp_path: Path) -> None:
    """A role is taken out of the training by one block, in a file or on the command line."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        "extends: sudoku/per_role\npolicies: {tool: null}\n"
        "roles: {tool: {policy: '', temperature: 1.0, max_tokens: 256, player: {reference: oracle}}}\n"
    )
    config = load_config(path)
    assert (list(config.policies), list(config.frozen)) == (["planner"], ["tool"])
    same = load_config("sudoku/per_role", ["policies.tool=null", "roles.tool={player: {reference: oracle}}"])
    assert same.roles == config.roles


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("extends: absent", r"extends='absent': must be a file beside it, or one of code/per_model, "),
        ("extends: mine.yaml", r"extends='mine.yaml': extends itself"),
        ("extends: [a]", r"extends=\['a'\]: must be a file beside it"),
    ],
)
def test_what_can_not_be_extended_is_one_line(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=reason) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


def test_parts_that_are_there_to_be_extended_are_no_configurations() -> None:
    assert not [name for name in bundled_configs() if "_paper" in name or "_task" in name]
    with pytest.raises(UsageError, match="config='_paper': must be one of"):
        load_config("_paper")


def test_overrides_win_over_the_file_and_fill_in_what_it_leaves_out(write: Any) -> None:
    config = load_config(
        write(VALID),
        [
            "optim.learning_rate=1e-3",  # text in YAML 1.1
            "roles.tool.temperature=0.5",
            "policies.team.target_modules=[q_proj, v_proj]",
            "env.options.agents={tool: 2}",
            "run.report_to=[wandb]",
            "run.seed=3",
        ],
    )
    assert config.optim.learning_rate == 1e-3
    assert config.roles["tool"].temperature == 0.5
    assert config.policies["team"].target_modules == ("q_proj", "v_proj")
    assert config.env.options == {"agents": {"tool": 2}}
    assert config.run.report_to == ("wandb",)
    assert config.run.seed == 3


def test_an_override_can_turn_a_section_on_that_is_null(write: Any) -> None:
    config = load_config(write(VALID), ["model.base=''", "model.warm_start.steps=7"])
    assert config.model.warm_start == WarmStartSection(steps=7)


def test_a_reader_adds_a_role_by_one_block(write: Any, tmp_path: Path) -> None:
    """UC-176: a second agent of a role needs the environment's option only; a role is one block and a policy."""
    data = VALID | {"policies": {"team": {}, "extra": {}}}
    assert "policies.extra: is played by no role" in error_of(data, folder=tmp_path)
    data["roles"] = VALID["roles"] | {"planner": {"policy": "extra"}}
    assert load_config(write(data)).roles["planner"].policy == "extra"


def test_loading_a_configuration_imports_nothing_heavy() -> None:
    program = (
        "import sys; from at_grpo.loading import load_config; load_config('tiny_cpu'); import at_grpo.cli;"
        "print([name for name in ('torch', 'transformers', 'trl', 'peft', 'matplotlib') if name in sys.modules])"
    )
    path = [entry for entry in sys.path if entry]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


# ---- every documented option exists, and a wrong one is refused by its path


def leaves(section: Any = TrainConfig, prefix: str = "") -> list[tuple[str, Any]]:
    """Path and annotation of every option; sections by name get the names of `VALID`."""
    found: list[tuple[str, Any]] = []
    for name, hint in typing.get_type_hints(section).items():
        inner = [hint, *typing.get_args(hint)]
        nested = next((option for option in inner if dataclasses.is_dataclass(option)), None)
        named = {"policies": ".team", "roles": ".tool", "pools": ".team"}.get(name, "")
        if nested is None:
            found.append((prefix + name, hint))
        else:
            found += leaves(nested, f"{prefix}{name}{named}.")
    return found


LEAVES = leaves()
WRONG: dict[Any, str] = {int: "2.5", float: "many", bool: "1", str: "[a]"}


@pytest.mark.parametrize(("path", "hint"), LEAVES, ids=[path for path, _ in LEAVES])
def test_a_value_of_the_wrong_type_is_refused_with_its_path_and_what_is_allowed(
    path: str, hint: Any, tmp_path: Path
) -> None:
    wrong = WRONG.get(hint, "5" if typing.get_origin(hint) in (tuple, dict, types.UnionType) else None)
    assert wrong is not None, hint
    message = error_of(VALID, f"{path}={wrong}", folder=tmp_path)
    assert message.count("\n") == 0
    assert message.startswith(f"{path}=")
    assert "must be" in message


@pytest.mark.parametrize(("path", "hint"), LEAVES, ids=[path for path, _ in LEAVES])
def test_a_misspelt_key_is_refused_with_the_nearest_valid_one(path: str, hint: Any, tmp_path: Path) -> None:
    """UC-175: unknown and misspelt keys are one line with the nearest valid key."""
    prefix, _, name = path.rpartition(".")
    misspelt = f"{prefix}.{name[0]}{name[2:]}x"
    lines = error_of(VALID, f"{misspelt}=1", folder=tmp_path).splitlines()
    unknown = next(line for line in lines if line.startswith(f"{misspelt}=1: no such key."))
    assert path in unknown or f" {name}," in unknown or f" {name}." in unknown


def test_a_key_in_the_wrong_section_is_named_with_the_right_one(tmp_path: Path) -> None:
    """UC-175."""
    assert "Did you mean 'optim.learning_rate'?" in error_of(VALID, "run.learning_rate=1", folder=tmp_path)
    assert "Did you mean 'optim'?" in error_of(VALID | {"optm": {}}, folder=tmp_path)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    """UC-175."""
    data = VALID | {"roles": {"tool": {}, "planner": {"policy": "team"}}}
    assert error_of(data, folder=tmp_path).startswith("roles.tool.policy: is missing; must be one of team, or ")


@pytest.mark.parametrize("key", ["use_rslora=true", "use_dora=true", "modules_to_save=[lm_head]", "lora_bias=true"])
def test_what_servers_do_not_serve_of_an_adapter_is_refused_before_anything_starts(key: str, tmp_path: Path) -> None:
    """UC-155: a policy is a plain LoRA adapter; its rank and its modules are checked elsewhere."""
    assert f"policies.team.{key.partition('=')[0]}" in error_of(VALID, f"policies.team.{key}", folder=tmp_path)


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    message = error_of(VALID, "optim.steps=x", "run.seed=x", "rollout.kk=1", folder=tmp_path)
    assert {line.partition("=")[0] for line in message.splitlines()} == {"optim.steps", "run.seed", "rollout.kk"}


def test_no_library_s_words_reach_the_user(tmp_path: Path) -> None:
    wrong = ("optim.steps=x", "policies.team.target_modules=5", "inference.gpus=0", "run.report_to=wandb")
    message = error_of(VALID, *wrong, folder=tmp_path)
    assert "pydantic" not in message
    assert "tuple[" not in message
    assert message.splitlines() == [
        "policies.team.target_modules=5: must be text or a list of texts.",
        "inference.gpus=0: must be a list of whole numbers.",
        "optim.steps='x': must be a whole number.",
        "run.report_to='wandb': must be a list of texts.",
    ]


@pytest.mark.parametrize("override", ["steps", "=3", "optim..steps=3", "optim.steps.x=3"])
def test_an_override_that_is_none_is_refused(override: str, tmp_path: Path) -> None:
    assert f"override={override!r}" in error_of(VALID | {"optim": {"steps": 1}}, override, folder=tmp_path)


def test_a_name_that_is_neither_file_nor_bundled_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'plan_path/per_role'"):
        load_config("plan_path/perrole")
    with pytest.raises(UsageError, match="no such file"):
        load_config(tmp_path / "absent.yaml")


def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    for text, reason in (
        ("- 1", "must hold the sections"),
        ("a: [", "not valid YAML"),
        ("run: 5", "a section with the keys"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=reason):
            load_config(path)


# ---- YAML

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_yaml_gives_back_what_was_written(data: Any) -> None:
    assert parse_yaml(to_yaml(data), "test") == data


@pytest.mark.parametrize("text", ["1e-3", "1E5", "-.5e2", "2.e+1"])
def test_an_exponent_makes_a_number(text: str) -> None:
    assert parse_yaml(text, "test") == float(text)
    assert isinstance(yaml.safe_load("1e-3"), str), "negative control: YAML 1.1 reads text"


def test_a_key_that_is_written_twice_is_refused() -> None:
    """UC-178: the first of the two would be silently ignored."""
    with pytest.raises(UsageError, match=r"here: steps: written twice \(near line 2\)"):
        parse_yaml("optim:\n  steps: 1\n  steps: 2\n", "here")
    assert yaml.safe_load("steps: 1\nsteps: 2") == {"steps": 2}, "negative control"


@given(
    st.builds(
        PolicySection, rank=st.integers(1, 64), target_modules=st.tuples(st.text(min_size=1)) | st.just("all-linear")
    )
)
def test_parsing_what_was_dumped_gives_the_same_configuration(policy: PolicySection) -> None:
    config = TrainConfig(policies={"team": policy}, roles={"tool": RoleSection("team", stop=("1e5", "yes", ""))})
    assert parse_config(parse_yaml(dump_config(config), "test")) == config


def test_the_sections_are_the_only_source_of_keys() -> None:
    assert loading._keys(TrainConfig) == list(json.loads(json.dumps(dataclasses.asdict(TrainConfig()))))
