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

from at_grpo import choices, loading, validation
from at_grpo.config import EnvSection, ModelSection, PolicySection, RoleSection, TrainConfig, WarmStartSection
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


def test_the_paper_s_settings_are_in_the_configurations_of_real_models() -> None:
    for name in ("plan_path/per_role", "plan_path/shared", "plan_path/single_agent"):
        config = load_config(name)
        assert (config.rollout.k, config.env.options["max_cycles"], config.env.options["alpha"]) == (4, 4, 1.0)
    assert list(load_config("plan_path/single_agent").roles) == ["solver"]
    assert len(load_config("plan_path/shared").policies) == 1
    assert len(load_config("plan_path/per_role").policies) == 2


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
        named = {"policies": ".team", "roles": ".tool"}.get(name, "")
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
    assert error_of(data, folder=tmp_path) == "roles.tool.policy: is missing; must be text."


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    message = error_of(VALID, "optim.steps=x", "run.seed=x", "rollout.kk=1", folder=tmp_path)
    assert {line.partition("=")[0] for line in message.splitlines()} == {"optim.steps", "run.seed", "rollout.kk"}


def test_no_library_s_words_reach_the_user(tmp_path: Path) -> None:
    message = error_of(VALID, "optim.steps=x", "policies.team.target_modules=5", folder=tmp_path)
    assert "pydantic" not in message
    assert "tuple[" not in message
    assert message.splitlines()[0] == "policies.team.target_modules=5: must be text or a list of texts."


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


# ---- values, each by itself

OUTSIDE: dict[str, str] = {
    "model.dtype": "int8",
    "model.warm_start.player": "''",
    "model.warm_start.steps": "0",
    "model.warm_start.batch_size": "0",
    "model.warm_start.learning_rate": "0.0",
    "model.warm_start.hidden_size": "0",
    "model.warm_start.layers": "0",
    "model.warm_start.heads": "0",
    "model.warm_start.seed": "-1",
    "policies.team.rank": "0",
    "policies.team.lora_alpha": "0",
    "policies.team.target_modules": "[]",
    "policies.team.beta": "-0.1",
    "roles.tool.temperature": "0.0",
    "roles.tool.max_tokens": "0",
    "roles.tool.stop": "['']",
    "rollout.instances": "0",
    "rollout.k": "1",
    "rollout.grouping": "turns",
    "rollout.select": "best",
    "rollout.max_prompt_tokens": "0",
    "rollout.max_lost_share": "1.0",
    "rollout.sandbox": "''",
    "optim.steps": "0",
    "optim.learning_rate": "0.0",
    "optim.adam_beta1": "1.0",
    "optim.adam_beta2": "-0.1",
    "optim.weight_decay": "-1.0",
    "optim.max_grad_norm": "0.0",
    "optim.scheduler": "cosinus",
    "optim.warmup_steps": "-1",
    "optim.scale_rewards": "batch",
    "optim.advantage_factor": "0.0",
    "optim.micro_batch_size": "0",
    "optim.loss_type": "grpo",
    "optim.epsilon": "0.0",
    "optim.importance_cap": "0.5",
    "run.output_dir": "''",
    "run.seed": "-1",
    "run.save_steps": "0",
    "run.keep_checkpoints": "0",
    "run.eval_steps": "-1",
    "run.eval_instances": "0",
    "run.log_steps": "0",
    "run.log_turns": "-1",
    "run.report_to": "[wandbb]",
}


def test_every_option_with_a_rule_has_a_case_here() -> None:
    ruled = {
        path
        for path, _ in LEAVES
        for section, rules in validation.RULES.items()
        if path.rpartition(".")[2] in rules and path in {p for p, _ in leaves_of(section)}
    }
    assert ruled == set(OUTSIDE)


def leaves_of(section: type) -> list[tuple[str, Any]]:
    prefixes = {
        ModelSection: "model.",
        WarmStartSection: "model.warm_start.",
        PolicySection: "policies.team.",
        RoleSection: "roles.tool.",
    }
    prefix = prefixes.get(section, f"{section.__name__.removesuffix('Section').lower()}.")
    return [(f"{prefix}{field.name}", field.type) for field in dataclasses.fields(section)]


@pytest.mark.parametrize(("path", "value"), OUTSIDE.items(), ids=OUTSIDE)
def test_a_value_outside_its_range_is_refused_with_its_path_and_what_is_allowed(
    path: str, value: str, tmp_path: Path
) -> None:
    message = error_of(VALID, f"{path}={value}", folder=tmp_path)
    assert message.startswith(f"{path}=")
    assert "must be" in message


@pytest.mark.parametrize("path", [path for path, hint in LEAVES if hint is float])
def test_a_number_that_is_not_finite_is_refused(path: str, tmp_path: Path) -> None:
    for value in (".nan", ".inf"):
        assert error_of(VALID, f"{path}={value}", folder=tmp_path).startswith(f"{path}=")


def test_a_group_of_one_is_refused_with_the_reason(tmp_path: Path) -> None:
    """UC-110: k=1 is refused with a reason."""
    assert "a group of one has no baseline" in error_of(VALID, "rollout.k=1", folder=tmp_path)


# ---- values together


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["roles.tool.policy=tem"], "roles.tool.policy='tem': must be one of team. Did you mean 'team'?"),
        (["policies.other.rank=4"], "policies.other: is played by no role"),
        (["policies.mlp={}", "roles.tool.policy=mlp"], "policies.mlp: must be a word"),
        (["policies.default={}", "roles.tool.policy=default"], "policies.default: must be a word"),
        (["policies.Team={}", "roles.tool.policy=Team"], "policies.Team: must be a word"),
        (["model.base=''"], "model.base='': name a base model"),
        (["model.warm_start.steps=3"], "model.base='some/model': must be empty"),
        (["model.base=''", "model.warm_start.heads=3"], "hidden_size=128: must be a multiple"),
        (["env.eval_split=train"], "env.eval_split='train': must differ"),
        (["env.options.split=test"], "env.options.split='test': must be set as env.train_split"),
        (["env.options.sandbox=locked"], "env.options.sandbox='locked': must be set as rollout.sandbox"),
        (["rollout.grouping=trajectory", "rollout.select=uniform"], "rollout.select='uniform': has no effect"),
        (["optim.warmup_steps=5"], "optim.warmup_steps=5: the constant schedule has no warm-up"),
        (["optim.scheduler=linear", "optim.warmup_steps=500"], "optim.warmup_steps=500: must be at most"),
        (["optim.loss_type=cispo"], "optim.epsilon=0.2: must be above 1 with loss_type='cispo'"),
        (["optim.epsilon=1.5"], "optim.epsilon=1.5: must be below 1 with loss_type='dapo'"),
    ],
)
def test_values_that_contradict_each_other_are_refused(overrides: list[str], expected: str, tmp_path: Path) -> None:
    """UC-176, UC-178: contradictions, and options that would be read by nobody."""
    assert expected in error_of(VALID, *overrides, folder=tmp_path)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["env.id=llm_envs/plan_pth-v0"], "env.id='llm_envs/plan_pth-v0': must be one of"),
        (["env.options.sise=6"], "size"),
        (["env.options.size=99"], "size=99"),
        (["env.train_split=trian"], "Did you mean 'train'?"),
        (["env.eval_split=val"], "env.eval_split: "),
        (["env.options.roles=single"], "roles.solver: is missing"),
        (["roles.judge.policy=team"], "roles='judge': must be one of planner, tool"),
        (["env.options.agents={judge: 2}"], "judge"),
        (["model.base=''", "model.warm_start.player=wek"], "Did you mean 'weak'?"),
    ],
)
def test_the_environment_itself_is_asked(overrides: list[str], expected: str, tmp_path: Path) -> None:
    """UC-176, and the issue's bad input: unknown env option, role, split."""
    assert expected in error_of(VALID, *overrides, folder=tmp_path)


def test_an_environment_of_someone_else_is_asked_too(write: Any) -> None:
    from pettingzoo.env_registry.registration import aec_registry, register

    if "toy/count-v0" not in aec_registry:
        register("aec", "toy/count-v0", entry_point="tests.trainer.toy_env:count_env")
    config = load_config(write(VALID), ["env.id=toy/count-v0"])
    assert config.env == EnvSection(id="toy/count-v0")
    with pytest.raises(UsageError, match=r"env\.options: .*'no_such'"):
        load_config(write(VALID), ["env.id=toy/count-v0", "env.options.no_such=1"])


# ---- the closed sets are those of the libraries


def test_the_closed_sets_are_those_of_the_code_that_reads_them() -> None:
    from transformers import SchedulerType
    from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

    from at_grpo.advantages import Scale
    from at_grpo.at_grpo_trainer import PLAIN_SUMS

    assert set(choices.ScaleRewards) == set(Scale)
    assert set(choices.LossType) == set(PLAIN_SUMS)
    assert set(choices.Scheduler) <= {scheduler.value for scheduler in SchedulerType}
    assert set(choices.Tracker) == set(INTEGRATION_TO_CALLBACK)


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
