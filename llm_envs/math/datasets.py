r"""Data sets of mathematics questions: `math_v0.env(dataset="gsm8k")`.

| `dataset` | `config`, the default first | on the hub | splits | licence |
|---|---|---|---|---|
| "aime" | "2022-2024" | `AI-MO/aimo-validation-aime` | test | Apache-2.0 |
| | "2024" | `HuggingFaceH4/aime_2024` | test | none stated |
| | "2025" | `opencompass/AIME2025`: "AIME2025-I", "AIME2025-II" | test | MIT |
| "gsm8k" | "main" | `openai/gsm8k` | train, test | MIT |
| "math" | "all", or one subject such as "algebra" | `EleutherAI/hendrycks_math` | train, test | MIT |
| "olympiadbench" | "OE_TO_maths_en_COMP" and the two Chinese ones | `Hothan/OlympiadBench` | test | Apache-2.0 |
| "polaris" | | `POLARIS-Project/Polaris-Dataset-53K` | train | Apache-2.0 |
| "jsonl" | | none: rows of your own, in the common form | as they say | yours |

The licence is what the hub says of the data set; its questions may come from others, with terms of their own.

The hub is read through the library `datasets` (`pip install 'llm-envs[data]'`). With `path=`, a file of JSON Lines or a
folder of them, rows are local: in the fields that they have on the hub, or in the common form, which is

    {"id": "1", "family": "math", "split": "train", "question": "What is 1 + 1?", "answer": "2"}

**Splits.** A row is in the split that its field `split` names, else in the one that its file is named after
(`train.jsonl`, `gsm8k_train.jsonl`), else in the only one that the data set has, else in one that its content decides.
Its content puts one of eight training rows of GSM8K and MATH into validation, and of Polaris one into validation and
one into test. A text that is in the test split is in no other. Rows keep their order. AIME and OlympiadBench are for
testing, though the hub calls their split "train".

**Left out** are rows whose answer the judge can't read (see `docs/math_judging.md`), since all replies would be worth
the same; answers that only a person can judge, or that have a tolerance; questions with a picture; rows without fields
that it takes. They are counted in a warning and listed in `questions(...).faults`. Where none is left, loading fails.
Some answers take math-verify to be read: `pip install 'llm-envs[math]'`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from llm_envs.data.collection import Collection
from llm_envs.data.definition import BENCHMARK, UNDIVIDED, DataSet, own_splits
from llm_envs.data.errors import RowError
from llm_envs.data.fields import Row, items, optional_text, shown, text
from llm_envs.data.hub import HubTable
from llm_envs.data.source import Source, load
from llm_envs.math.judging import check_gold, extract_answer
from llm_envs.math.question import Question

SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)
OLYMPIADS = ("OE_TO_maths_en_COMP", "OE_TO_maths_zh_COMP", "OE_TO_maths_zh_CEE")  # open-ended, text only
_MATH = "EleutherAI/hendrycks_math"
_PERSON = "Need_human_evaluate"


def read_common(name: str, row: Row) -> Question:
    """A row of the common form: `question` and `answer`."""
    return _question(name, text(row, "question"), text(row, "answer"))


def read_gsm8k(name: str, row: Row) -> Question:
    """A row of GSM8K: `question`, and `answer`, which ends with `#### 1,234`."""
    _, mark, gold = text(row, "answer").rpartition("####")
    if not mark:
        raise RowError("'answer' has no line that begins with '####'")
    return _question(name, text(row, "question"), gold.replace(",", ""))


def read_math(name: str, row: Row) -> Question:
    r"""A row of MATH: `problem`, and `solution`, whose last `\boxed{...}` holds the answer."""
    gold = extract_answer(text(row, "solution"))
    if gold is None:
        raise RowError(r"'solution' ends without an answer in \boxed{...}")
    return _question(name, text(row, "problem"), gold)


def read_problem(name: str, row: Row) -> Question:
    """A row of AIME or Polaris: `problem` (or `question`) and `answer`, a text or a whole number."""
    field = "problem" if row.get("problem") is not None else "question"
    gold = row.get("answer")
    whole = isinstance(gold, int) and not isinstance(gold, bool)
    return _question(name, text(row, field), str(gold) if whole else text(row, "answer"))


def read_olympiad_bench(name: str, row: Row) -> Question:
    """A row of OlympiadBench: `question`, `context`, `final_answer` (a list of texts), `unit`, `error` (a tolerance),
    `answer_type`, `modality` or images.
    """
    if row.get("modality") not in (None, "Text-only") or row.get("image_1") is not None:
        raise RowError("the question has a picture")
    if optional_text(row, "answer_type") == _PERSON:
        raise RowError("the answer has to be judged by a person")
    if optional_text(row, "error"):
        raise RowError(f"the answer has a tolerance of {row['error']}, which exact judging has not")
    golds = items(row, "final_answer")
    if not golds or not all(isinstance(gold, str) and gold.strip() for gold in golds):
        raise RowError(f"'final_answer' is {shown(golds)}, not a list of answers")
    parts = [optional_text(row, "context"), text(row, "question")]
    if unit := optional_text(row, "unit"):
        parts.append(f"Give the answer in this unit: {unit}")
    return _question(name, "\n\n".join(filter(None, parts)), ", ".join(golds))


def _question(name: str, asked: str, gold: str) -> Question:
    gold = gold.strip()
    if not gold:
        raise RowError("the answer is empty")
    if unreadable := check_gold(gold):
        raise RowError(f"the judge can't read the answer {shown(gold)} ({unreadable})")
    return Question(name, asked.strip(), gold)


def _or_common(own: Callable[[str, Row], Question]) -> Callable[[str, Row], Question]:
    """Reads a row in the data set's own fields, or in the common form, which has a `family`."""
    return lambda name, row: read_common(name, row) if "family" in row else own(name, row)


def _data_set(name: str, read: Callable[[str, Row], Question], **fields: Any) -> DataSet[Question]:
    return DataSet(name, _or_common(read), lambda question: question.text, **fields)


_AIME_CONFIGS = {
    "2022-2024": (HubTable("AI-MO/aimo-validation-aime"),),
    "2024": (HubTable("HuggingFaceH4/aime_2024"),),
    "2025": (HubTable("opencompass/AIME2025", "AIME2025-I"), HubTable("opencompass/AIME2025", "AIME2025-II")),
}
_MATH_CONFIGS = {"all": tuple(HubTable(_MATH, subject) for subject in SUBJECTS)} | {
    subject: (HubTable(_MATH, subject),) for subject in SUBJECTS
}
_TESTED = {"splits": own_splits(train=BENCHMARK), "otherwise": BENCHMARK}

DATA_SETS = {
    data_set.name: data_set
    for data_set in (
        _data_set("aime", read_problem, configs=_AIME_CONFIGS, **_TESTED),
        _data_set("gsm8k", read_gsm8k, configs={"main": (HubTable("openai/gsm8k", "main"),)}, splits=own_splits()),
        _data_set("jsonl", read_common, splits=own_splits()),
        _data_set("math", read_math, configs=_MATH_CONFIGS, splits=own_splits()),
        _data_set(
            "olympiadbench",
            read_olympiad_bench,
            configs={config: (HubTable("Hothan/OlympiadBench", config),) for config in OLYMPIADS},
            **_TESTED,
        ),
        _data_set(
            "polaris",
            read_problem,
            configs={"default": (HubTable("POLARIS-Project/Polaris-Dataset-53K"),)},
            splits=own_splits(train=UNDIVIDED),
        ),
    )
}


@lru_cache(maxsize=8)
def questions(source: Source) -> Collection[Question]:
    """The questions of a data set, loaded once in a process; `source.dataset` is one of `DATA_SETS`.

    Raises:
        UsageError: a path or configuration that is not there.
        ImportError: the hub is asked for, and `datasets` is not installed.
        DataError: the hub can't be reached, or no row can be used.
    """
    return load(DATA_SETS[source.dataset], source)
