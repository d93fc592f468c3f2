r"""Data sets of programming problems: `code_v0.env(dataset="mbpp")`.

| `dataset` | `config`, the default first | on the hub | splits | licence |
|---|---|---|---|---|
| "apps" | | `codeparrot/apps`: `train.jsonl`, `test.jsonl` | train, test | MIT |
| "code_contests" | | `deepmind/code_contests` | train, valid, test | CC BY 4.0 |
| "humaneval" | | `openai/openai_humaneval` | test | MIT |
| "livecodebench" | "release_v6" to "release_v1" | `livecodebench/code_generation_lite`: `test*.jsonl` | test | CC |
| "mbpp" | "sanitized", "full" | `google-research-datasets/mbpp` | train, validation, test | CC BY 4.0 |
| "taco" | | `BAAI/TACO`: `ALL/*.parquet` | train, test | Apache-2.0 |
| "jsonl" | | none: rows of your own, in the common form | as they say | yours |

The licence is what the hub says of the data set; its problems may come from others, with terms of their own.

The hub is read through the library `datasets` (`pip install 'llm-envs[data]'`); no code of a repository is run. With
`path=`, a file of JSON Lines or a folder of them, rows are local: in the fields that they have on the hub, or in the
common form, which is

    {"id": "1", "family": "code", "split": "train", "question": "...", "solution": "def add(a, b): ...",
     "tests": {"entry_point": "add", "stdio": [{"input": "1\n2\n", "output": "3"}]}}

with each argument as JSON on a line and the result as JSON. Without an `entry_point`, `stdio` is what a program reads
and prints. In the place of `stdio` there may be assertions, as `read_common` in `functions` tells.

**Splits.** A row is in the split that its field `split` names, else in the one that its file is named after
(`train.jsonl`, `mbpp_train.jsonl`), else in the only one that the data set has, else in one that its content decides.
Where a data set has no validation split, its content puts one of eight training rows into it. A text that is in the
test split is in no other. Rows keep their order.

**Tests.** Hidden are the private and generated tests of CodeContests and LiveCodeBench, all tests of HumanEval, whose
prompts have examples of their own, and all but the first test of the others. Assertions about a function are read as
calls with a result, and never run beside a program. Those that must run to be read (loops, random inputs) run once with
the solution, in the sandbox, and decide as a checker. Arguments are JSON: a tuple arrives as a list.

**References.** The first solution that is Python 3; whether it is right and fast enough, the data set answers for.
There are no mutants: wrong submissions that a data set may have are often right but slow, which no case finds out.

**Left out** are rows without hidden tests, with more inputs than outputs, with tests that can't be unpacked, or without
fields that it takes. They are counted in a warning and listed in `problems(...).faults`. Where none is left, loading
fails.
"""

from collections.abc import Callable
from functools import lru_cache, partial

from llm_envs.code.datasets.contests import read_apps, read_code_contests, read_live_code_bench
from llm_envs.code.datasets.functions import GetSandbox, read_common, read_human_eval, read_mbpp
from llm_envs.code.problem import Problem
from llm_envs.core.task import Split
from llm_envs.data.collection import Collection
from llm_envs.data.definition import BENCHMARK, DataSet, own_splits
from llm_envs.data.fields import Row
from llm_envs.data.hub import HubFiles, HubTable
from llm_envs.data.source import Source, load
from llm_envs.sandbox import get_sandbox

NAMES = ("apps", "code_contests", "humaneval", "jsonl", "livecodebench", "mbpp", "taco")

_APPS = HubTable("codeparrot/apps", files=(HubFiles("train", ("train.jsonl",)), HubFiles("test", ("test.jsonl",))))
_TACO = HubTable(
    "BAAI/TACO",
    files=(HubFiles("train", ("ALL/train-*.parquet",)), HubFiles("test", ("ALL/test-*.parquet",))),
)
_MBPP = "google-research-datasets/mbpp"
_LIVE_RELEASES = range(6, 0, -1)


@lru_cache(maxsize=8)
def problems(source: Source, sandbox: str = "auto") -> Collection[Problem]:
    """The problems of a data set, loaded once in a process.

    Args:
        source: which one, from where; `source.dataset` is one of `NAMES`.
        sandbox: the cage in which tests run that can't be read otherwise.

    Raises:
        UsageError: a path or configuration that is not there.
        ImportError: the hub is asked for, and `datasets` is not installed.
        DataError: the hub can't be reached, or no row can be used.
        SandboxError: there are such tests, and the sandbox failed.
    """
    known = {data_set.name: data_set for data_set in data_sets(partial(get_sandbox, sandbox))}
    return load(known[source.dataset], source)


def data_sets(sandbox: GetSandbox) -> tuple[DataSet[Problem], ...]:
    """Every data set, in the order of `NAMES`."""
    common = partial(read_common, sandbox=sandbox)
    human_eval, mbpp = partial(read_human_eval, sandbox=sandbox), partial(read_mbpp, sandbox=sandbox)
    trained, tested, parted = own_splits(), own_splits(train=BENCHMARK), own_splits(train=(Split.TRAIN,))
    releases = {f"release_v{number}": (_live_code_bench(number),) for number in _LIVE_RELEASES}
    versions = {config: (HubTable(_MBPP, config),) for config in ("sanitized", "full")}
    return (
        DataSet("apps", _or_common(read_apps, common), _statement, trained, {"default": (_APPS,)}),
        DataSet(
            "code_contests",
            _or_common(read_code_contests, common),
            _statement,
            parted,
            {"default": (HubTable("deepmind/code_contests"),)},
        ),
        DataSet(
            "humaneval",
            _or_common(human_eval, partial(common, example=False)),
            _statement,
            tested,
            {"default": (HubTable("openai/openai_humaneval"),)},
            BENCHMARK,
        ),
        DataSet("jsonl", common, _statement, trained),
        DataSet("livecodebench", _or_common(read_live_code_bench, common), _statement, tested, releases, BENCHMARK),
        DataSet("mbpp", _or_common(mbpp, common), _statement, parted, versions),
        DataSet("taco", _or_common(read_apps, common), _statement, trained, {"default": (_TACO,)}),
    )


def _live_code_bench(release: int) -> HubTable:
    """A release has the file of its number, and those of the releases before it."""
    names = ("test.jsonl", *(f"test{number}.jsonl" for number in range(2, release + 1)))
    return HubTable("livecodebench/code_generation_lite", files=(HubFiles("test", names),))


def _or_common(
    own: Callable[[str, Row], Problem], common: Callable[[str, Row], Problem]
) -> Callable[[str, Row], Problem]:
    """Reads a row in the data set's own fields, or in the common form, which has a `family`."""
    return lambda name, row: common(name, row) if "family" in row else own(name, row)


def _statement(problem: Problem) -> str:
    return problem.statement
