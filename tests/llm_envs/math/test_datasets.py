"""Data sets of questions: GSM8K from `../shared/data`, and rows of our own in the fields that each has on the hub."""

import json
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_envs import math_v0
from llm_envs.core.errors import UsageError
from llm_envs.core.task import Split
from llm_envs.data.collection import Collection
from llm_envs.data.errors import DataError
from llm_envs.data.source import Source
from llm_envs.math.datasets import DATA_SETS, questions
from llm_envs.math.judging import Verdict, judge
from llm_envs.math.question import Question
from llm_envs.math.task import MathTask
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import check_env
from tests.architecture.paths import ROOT
from tests.llm_envs.data.hub import FolderHub, folder_hub
from tests.llm_envs.data.lines import write_lines
from tests.scale import scaled

Row = dict[str, Any]

GSM8K = ROOT.parent / "shared" / "data" / "gsm8k_train.jsonl"
EACH = scaled(fast=10, long=1)  # every so many rows

COMMON: Row = {"id": "1", "family": "math", "split": "train", "question": "What is 1 + 1?", "answer": "2"}
# Data set -> (repository, configuration, split, rows).
HUB: dict[str, tuple[str, str | None, str, list[Row]]] = {
    "aime": (
        "AI-MO/aimo-validation-aime",
        None,
        "train",
        [{"id": 0, "problem": "What is 10 + 15?", "solution": r"\boxed{025}", "answer": "025", "url": ""}],
    ),
    "gsm8k": (
        "openai/gsm8k",
        "main",
        "train",
        [
            {
                "question": "Ann has 900 stamps and buys 330. How many?",
                "answer": "900 + 330 = <<900+330=1230>>1230\n#### 1,230",
            }
        ],
    ),
    "math": (
        "EleutherAI/hendrycks_math",
        "algebra",
        "test",
        [
            {
                "problem": "Solve $2x = 1$.",
                "level": "Level 1",
                "type": "Algebra",
                "solution": r"Not $\boxed{2}$ but $x = \boxed{\frac{1}{2}}$.",
            }
        ],
    ),
    "olympiadbench": (
        "Hothan/OlympiadBench",
        "OE_TO_maths_en_COMP",
        "train",
        [
            {
                "id": 1,
                "question": "Find all such $n$.",
                "solution": ["They are 3 and 5."],
                "final_answer": ["$3$", "$5$"],
                "context": "Let $n$ be an odd prime below 7.",
                "image_1": None,
                "modality": "Text-only",
                "is_multiple_answer": True,
                "unit": None,
                "answer_type": "Numerical",
                "error": None,
            }
        ],
    ),
    "polaris": (
        "POLARIS-Project/Polaris-Dataset-53K",
        None,
        "train",
        [{"problem": "What is $2^{10}$?", "answer": "1024", "difficulty": "7/8"}],
    ),
}
GOLDS = {"aime": "025", "gsm8k": "1230", "math": r"\frac{1}{2}", "olympiadbench": "$3$, $5$", "polaris": "1024"}


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    questions.cache_clear()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderHub:
    return folder_hub(tmp_path, monkeypatch)


def all_of(data: Collection[Question]) -> list[Question]:
    return [data.item(split, index) for split in Split for index in range(data.sizes[split])]


# ---- GSM8K


@pytest.fixture
def gsm8k() -> str:
    if not GSM8K.exists():
        pytest.skip(f"{GSM8K.name} is not beside the checkout")
    return str(GSM8K)


@pytest.mark.needs("data")
def test_every_row_of_gsm8k_becomes_a_question_in_training_or_validation(gsm8k: str) -> None:
    data = questions(Source("gsm8k", gsm8k))
    rows = [json.loads(line) for line in GSM8K.read_text().splitlines()]
    assert (data.faults, sum(data.sizes.values()), data.sizes[Split.TEST]) == ((), 500, 0)
    assert 40 <= data.sizes[Split.VALIDATION] <= 90
    assert {(item.text, item.answer) for item in all_of(data)} == {(row["question"], row["answer"]) for row in rows}
    order = [row["id"] for row in rows]
    for split in (Split.TRAIN, Split.VALIDATION):
        places = [order.index(data.item(split, index).name) for index in range(data.sizes[split])]
        assert places == sorted(places)


@pytest.mark.needs("data")
def test_the_answer_of_the_hub_is_the_one_of_the_common_form(gsm8k: str) -> None:
    for line in GSM8K.read_text().splitlines():
        row = json.loads(line)
        on_the_hub = {"question": row["question"], "answer": row["solution"]}
        assert DATA_SETS["gsm8k"].read("x", on_the_hub).answer == row["answer"]


@pytest.mark.needs("data")
def test_the_oracle_answers_every_row_and_a_random_player_none(gsm8k: str) -> None:
    """UC-061: all rows at full size."""
    env = math_v0.env(dataset="gsm8k", path=gsm8k, sandbox="unsafe", turn_order=("reasoner", "tool"))
    task = env.unwrapped.task
    for split, size in task.data.sizes.items():
        for index in range(0, size, EACH):
            assert play(env, {"all": ReferencePlayer("oracle")}, split=split, index=index).success
            env.reset(options={"split": split, "index": index})
            env.step(task.reference("random", env.unwrapped.snapshot, "reasoner", random.Random(index)))
            assert not env.unwrapped.infos["reasoner_0"]["success"]


# ---- the fields of each data set


@pytest.mark.parametrize("name", HUB)
def test_every_data_set_is_read_from_the_hub(name: str, hub: FolderHub) -> None:
    repository, config, split, rows = HUB[name]
    hub.table(repository, {split: rows}, config)
    data = questions(Source(name, config=config if name == "math" else None))
    (question,) = all_of(data)
    assert data.faults == ()
    assert question.name.startswith(name)
    assert question.answer == GOLDS[name]
    assert judge(gold=question.answer, answer=GOLDS[name]) is Verdict.RIGHT
    assert data.sizes[Split.TEST] == (1 if name in {"aime", "math", "olympiadbench"} else data.sizes[Split.TEST])


@pytest.mark.parametrize("name", HUB)
def test_the_same_rows_are_read_from_a_local_file(name: str, tmp_path: Path) -> None:
    """Without a split in its name: a benchmark tests, the others are shared out."""
    rows = HUB[name][3]
    data = questions(Source(name, write_lines(tmp_path / "rows.jsonl", rows)))
    assert [question.answer for question in all_of(data)] == [GOLDS[name]]


def test_all_subjects_of_math_are_one_data_set() -> None:
    tables = DATA_SETS["math"].configs
    assert next(iter(tables)) == "all"
    assert [table.config for table in tables["all"]] == [config for config in tables if config != "all"]


def read(name: str, **changes: Any) -> Question:
    return DATA_SETS[name].read("x", {**HUB[name][3][0], **changes})


def test_an_answer_with_leading_zeros_is_the_number_that_it_says() -> None:
    assert judge(gold=read("aime").answer, answer="25") is Verdict.RIGHT
    assert judge(gold=read("aime").answer, answer="26") is Verdict.WRONG


def test_whole_numbers_are_taken_as_answers() -> None:
    assert read("aime", answer=73).answer == "73"
    assert read("aime", problem=None, question="What is 70 + 3?", answer=73).text == "What is 70 + 3?"


def test_context_and_unit_belong_to_the_question() -> None:
    question = read("olympiadbench", unit="cm")
    assert question.text.startswith("Let $n$ be an odd prime below 7.\n\nFind all")
    assert question.text.endswith("Give the answer in this unit: cm")
    assert judge(gold=question.answer, answer="5, 3") is Verdict.RIGHT


@pytest.mark.parametrize("gold", [r"\sqrt{17}", r"\left( 3, \frac{\pi}{2} \right)", r"\dfrac{9}{7}", r"1 - \sqrt2"])
def test_an_answer_without_dollars_is_taken_whole(gold: str) -> None:
    """UC-052."""
    answer = read("math", solution=rf"It is $\boxed{{{gold}}}$.").answer
    assert answer == gold
    assert judge(gold=answer, answer=gold) is Verdict.RIGHT
    assert judge(gold=answer, answer="1") is not Verdict.RIGHT
    assert judge(gold=answer, answer="3") is not Verdict.RIGHT


# ---- faults


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("aime", {"answer": ""}, "'answer' is empty"),
        ("aime", {"answer": None}, "no 'answer'"),
        ("aime", {"answer": True}, "'answer' is of type bool, not text"),
        ("aime", {"answer": "..."}, "can't read the answer '...'"),
        ("aime", {"problem": None}, "no 'question'"),
        ("gsm8k", {"answer": "It is 1,230."}, "no line that begins with '####'"),
        ("gsm8k", {"answer": "#### "}, "the answer is empty"),
        ("gsm8k", {"answer": "#### ,"}, "the answer is empty"),
        ("math", {"solution": "It is $2$."}, "ends without an answer"),
        ("math", {"solution": r"It is $\boxed{\frac{1}$."}, "ends without an answer"),
        ("math", {"solution": r"It is $\boxed{}$."}, "the answer is empty"),
        ("math", {"solution": r"It is $\boxed{\frac{1}}$."}, "can't read the answer"),
        ("olympiadbench", {"final_answer": None}, "not a list of answers"),
        ("olympiadbench", {"final_answer": []}, "not a list of answers"),
        ("olympiadbench", {"final_answer": [""]}, "not a list of answers"),
        ("olympiadbench", {"final_answer": "3"}, "'final_answer' is of type str, not a list"),
        ("olympiadbench", {"error": "1e-1"}, "has a tolerance of 1e-1"),
        ("olympiadbench", {"answer_type": "Need_human_evaluate"}, "judged by a person"),
        ("olympiadbench", {"modality": "Multimodal"}, "has a picture"),
        ("olympiadbench", {"image_1": {"bytes": "..."}}, "has a picture"),
        ("polaris", {"problem": " "}, "'problem' is empty"),
        ("jsonl", {"answer": 2}, "'answer' is of type int, not text"),
        ("jsonl", {"question": None}, "no 'question'"),
    ],
)
def test_a_row_that_cannot_be_judged_is_left_out_with_the_reason(
    name: str, changes: Row, words: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """UC-052, UC-053: never a reward that is the same whatever is answered."""
    good = COMMON if name == "jsonl" else HUB[name][3][0]
    bad = {**good, **changes}
    data = questions(Source(name, write_lines(tmp_path / "rows.jsonl", [bad, good])))
    assert [words in fault.reason for fault in data.faults] == [True], data.faults
    assert "1 of 2 rows are left out" in caplog.text
    assert sum(data.sizes.values()) == 1
    with pytest.raises(DataError, match="none of its 1 rows can be used"):
        math_v0.env(dataset=name, path=write_lines(tmp_path / "bad.jsonl", [bad]))


# ---- the hub, when it is not there


@pytest.mark.parametrize("name", HUB)
def test_a_hub_out_of_reach_is_told_in_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)  # where no folder has the name of a repository
    with pytest.raises(DataError, match=rf"{HUB[name][0]} can't be loaded from the hub .*give path="):
        math_v0.env(dataset=name)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ImportError, match=r"pip install 'llm-envs\[data\]'"):
        math_v0.env(dataset="polaris")


# ---- the environment


@pytest.fixture
def path(tmp_path: Path) -> str:
    rows = [
        {**COMMON, "id": f"{n}", "split": None, "question": f"What is {n} + {n * n}?", "answer": f"{n + n * n}"}
        for n in range(7, 67)
    ]
    return write_lines(tmp_path / "rows.jsonl", rows)


@pytest.mark.parametrize("roles", ["team", "single"])
def test_an_environment_on_a_data_set_conforms(roles: str, path: str, sandbox: Sandbox) -> None:
    """UC-001, UC-002, UC-004, UC-005, UC-007, UC-010, UC-011, UC-014."""
    options = {"dataset": "jsonl", "path": path, "roles": roles, "sandbox": sandbox}
    check_env(math_v0.env, options, episodes=scaled(fast=1, system=3, long=20))


def test_seeds_draw_rows_and_indices_begin_anew(path: str) -> None:
    env = math_v0.raw_env(dataset="jsonl", path=path)
    size = env.task.data.sizes[Split.TRAIN]
    seen = []
    for seed in (3, 3, 4):
        env.reset(seed=seed)
        seen.append(env.snapshot.question)
    assert seen[0] == seen[1] != seen[2]
    for index in (0, size):
        env.reset(options={"index": index})
        seen.append(env.snapshot.question)
    assert seen[-1] == seen[-2]


def test_an_environment_pickles_without_its_data(path: str) -> None:
    env = math_v0.raw_env(dataset="jsonl", path=path)
    env.reset(options={"index": 3})
    pickled = pickle.dumps(env)
    assert pickled.count(b"What is") == 1
    questions.cache_clear()  # as in another process
    copy = pickle.loads(pickled)
    copy.reset(options={"index": 4})
    env.reset(options={"index": 4})
    assert copy.snapshot == env.snapshot


def test_data_sets_and_options_of_generated_questions_exclude_each_other(path: str) -> None:
    for option, value in (("topics", "algebra"), ("families", "work_rate")):
        with pytest.raises(UsageError, match=f"{option}='{value}': is for generated instances"):
            math_v0.env(dataset="jsonl", path=path, **{option: value})
    with pytest.raises(UsageError, match=r"dataset='gsm8': must be one of .* Did you mean 'gsm8k'"):
        math_v0.env(dataset="gsm8")
    assert MathTask().data is None


def test_a_split_without_rows_is_refused_with_those_that_have_some(tmp_path: Path) -> None:
    env = math_v0.raw_env(dataset="aime", path=write_lines(tmp_path / "rows.jsonl", HUB["aime"][3]))
    with pytest.raises(UsageError, match=r"split='train': aime has nothing there; it has test \(1\)"):
        env.reset(seed=1)
