"""Code: write a program that passes tests which nobody has seen.

| Import | `from llm_envs import code_v0` |
|---|---|
| Registry id | `llm_envs/code-v0` |
| Agents | `["tester_0", "coder_0"]` or `["solver_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Problems are generated, in families that each take another algorithm (`llm_envs.code.families.table` lists them). Every
problem has a statement, visible tests, hidden tests, a reference program, and mutants: wrong programs, each a plausible
mistake in the reference. It asks for a Python program from standard input to standard output, or for a function.

### Roles

`tester` writes test cases: inputs and the outputs that a right program gives. `coder` writes the program. It sees the
tester's cases and which of them its latest program fails, and how. While cycles last it may hand in another one; the
latest program counts. The cases of testers take the place of those that are older than the latest program.

With `roles="single"` one agent, `solver`, may do what both may: a reply with a program hands it in; a reply with test
cases has the program that was handed in last run on them, and those that are handed in later; a reply with both has the
program run on the visible tests and on the cases, without handing it in. The agent sees the results in its next turn.

### Observations

A self-contained prompt: rules, format of the reply, what ends the work, the problem, the visible tests, the cases, the
latest program and how it did on both, and why the last reply was not valid. A failed test comes with what the program
gave, or its last line of error. Long texts are cut to head and tail.

Hidden tests are never shown, nor how many of them a program passes, nor whether a case of the tester is right.
`state()` is all of this, with the number of hidden tests passed, and a digest in the place of the hidden tests.

### Actions

Text. Closed `<think>` blocks are ignored, and an unclosed one hides the rest. A program is the last fenced block tagged
as Python, else the last fenced block, else the whole reply where that is a short Python program. Test cases are pairs

    <input>
    3
    1 2 3
    </input>
    <output>
    6
    </output>

of which at most `cases` may stand in a reply; one that is not closed is left out. The input is what the program reads;
where the problem asks for a function it is the arguments, each as JSON on a line, and the output is the result as JSON.
A `solver`'s cases stand outside its program.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].

| reward | of | value |
|---|---|---|
| team | all | change of the share of hidden tests that the latest program passes |
| `format` | all | -1 for a reply without an action |
| `program` | coder | -1 for a program that comes to its end on no test |
| `visible` | coder | share of visible tests passed, less 1 |
| `shortfall` | tester | share of its cases that count x share of wrong programs that these find out, less 1 |

A program that ends at a limit of time, memory or output on every visible test is not run on the hidden ones: it has
passed none of them.

A case counts where the reference gives its output, and its input has the form that the problem says and is neither that
of a visible test nor that of a case before it in the same reply, however it is written: 07 is 7, and a line that nobody
reads makes no other input. The wrong programs are the mutants and the last three wrong programs
of the episode that passed a visible test; a case finds a program out that does not pass it. So trivial, copied and
wrong cases earn what no reply earns: -1. Where there is no wrong program, the share of cases that count stands alone;
where a problem comes without a reference, cases are neither paid nor punished.

A `solver` is paid like the coder for programs that it hands in and like the tester for cases. The sum of local terms is
floored at -1. How programs and outputs are judged is told in `docs/code_judging.md`.

`infos[agent]` holds `role`, `success` (the latest program passes all hidden tests), `invalid` (why the last reply had
no action, or None), `team_reward`, `local_reward`, the terms above by name; after a program `verdict` ("pass", or how
it did on the first hidden test that it did not pass), `passed_visible`, `visible_tests`, `passed_hidden`,
`hidden_tests`, `passed_cases` and `cases`; after test cases `cases`, `valid` (how many count), `suspects` (how many
wrong programs there are) and `killed` (how many were found out), `valid` and `killed` None without a reference.

### Options

| option | default | meaning |
|---|---|---|
| `difficulty` | "easy" | "easy", "medium" or "hard": level 1, 2 or 3 of each family |
| `families` | None | the families that problems come from; all where None |
| `dataset` | None | the data set that problems come from, e.g. "mbpp"; generated where None |
| `path` | None | local rows of the data set, see below; from the hub where None |
| `config` | None | the configuration on the hub, e.g. "full" of MBPP; the usual one where None |
| `style` | "stdio" | "stdio": a program from standard input to standard output; "function": a function |
| `cases` | 5 | most test cases in one reply, 1 to 10 |
| `stop` | "correct" | what ends an episode before its horizon, see below |
| `roles` | "team" | "team" or "single" |
| `agents` | one each | agents per role, e.g. `{"tester": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | 4 | horizon |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi" or "human" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

| value of `stop` | an episode ends |
|---|---|
| "correct" | when a program passes all hidden tests |
| "agreement" | when the latest program passes the visible tests and all cases, of which there must be one |
| "budget" | at its horizon |

One agent also agrees with itself, by handing in the same program twice in a row.

Evaluate with `stop="agreement"`: it takes no knowledge of the hidden tests, whereas to be asked again under "correct"
tells an agent that its program was wrong. The latest program counts as it is when the episode ends.

`reset(options={"split": ..., "index": ...})` picks an instance; `{"task": {"statement": ..., "hidden": [{"stdin": ...,
"expected": ...}]}}` gives a problem of your own, with any other fields of `llm_envs.code.problem.Problem`.

Generated instances are a function of split, index, difficulty and families; `style` changes their form only. A
problem's family, parameters and inputs decide which split it is in, so that splits are disjoint whatever the options.

### Data sets

`dataset` takes problems from "apps", "code_contests", "humaneval", "livecodebench", "mbpp" or "taco", read from the
Hugging Face hub (`pip install 'llm-envs[data]'`) or, with `path`, from a local file or folder of JSON Lines; "jsonl"
takes rows of your own. `llm_envs.code.datasets` says what is read, from where, under which licence, and into which
splits.

    env = code_v0.env(dataset="mbpp", path="mbpp_train.jsonl")
    env.unwrapped.task.data.sizes       # split -> number of problems
    env.unwrapped.task.data.faults      # rows that can't be used, and why; their number is in a warning

Index `i` is the row `i mod n` of the `n` in a split, in the order of the data, so that a random index always means a
row. A benchmark has nothing but a test split: pass `split="test"`. `difficulty` and `style` are for generated problems.
Where a data set has no solutions, as LiveCodeBench, cases are neither paid nor punished, and there is no oracle.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.code.task import CodeTask
from llm_envs.core.env import TextAECEnv
from llm_envs.core.names import Names
from llm_envs.core.options import ShellOptions, entry_points, named_options

__all__ = ["env", "parallel_env", "raw_env"]


@named_options
def raw_env(
    *,
    difficulty: str = "easy",
    families: Names | None = None,
    style: str = "stdio",
    cases: int = 5,
    stop: str = "correct",
    roles: str = "team",
    dataset: str | None = None,
    path: str | None = None,
    config: str | None = None,
    max_cycles: int = 4,
    **shell: Unpack[ShellOptions],
) -> TextAECEnv:
    """The environment without wrappers; the module's page explains the options."""
    sandbox = shell.get("sandbox", "auto")
    task = CodeTask(
        difficulty=difficulty,
        families=families,
        style=style,
        cases=cases,
        stop=stop,
        roles=roles,
        dataset=dataset,
        path=path,
        config=config,
        sandbox=sandbox if isinstance(sandbox, str) else sandbox.name,
    )
    return TextAECEnv(task, name="code_v0", max_cycles=max_cycles, **shell)


env, parallel_env = entry_points(raw_env)
