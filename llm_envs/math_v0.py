r"""Math: answer a question of mathematics exactly.

| Import | `from llm_envs import math_v0` |
|---|---|
| Registry id | `llm_envs/math-v0` |
| Agents | `["tool_0", "reasoner_0"]` or `["solver_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

Questions are generated, in families that each take another idea (`llm_envs.math.families.table` lists them), from nine
topics: arithmetic, algebra, number_theory, counting, probability, geometry, sequences, linear_algebra, calculus. Every
question says in which form it wants its answer, and the answer is exact. Judging some forms needs the extra `math`.

### Roles

`tool` writes a Python program, which runs in the sandbox. What it prints, the reasoner sees in the same cycle.
`reasoner` answers. While cycles last it may answer again; the latest answer counts.

With `roles="single"` one agent, `solver`, does both: a reply with a program runs it and shows its output in the next
turn, a reply with an answer answers.

### Observations

`observation="full"` is a self-contained prompt: rules, format of the reply, what ends the work, the question, what the
last program printed (reasoner) or did (tool, solver), the latest answer, and why the last reply was not valid.

`observation="local"` is one line for tiny models, e.g. `reasoner What is 17 + 25? output 42 answer none`: role,
question, but for the tool what the last program printed, the latest answer. After a reply that was not valid the line
ends with `invalid`.

Whether an answer is right is never shown, and nothing in an observation depends on the right answer. Programs read
nothing from their standard input. `state()` is the question, followed by `output: 42` and `answer: 42` where there are
any.

### Actions

Text. Closed `<think>` blocks are ignored, and an unclosed one hides the rest. An answer stands in the last `\boxed{}`
of the reply, in at most 500 characters; a reply without a box has none. A program is the last fenced block tagged as
Python, else the last fenced block, else the whole reply where that is a short Python program. It must print one line of
at most 500 characters: the answer, without a box. A `solver`'s answer takes precedence over its program; a box inside
the program is part of the program.

Answers are judged by `llm_envs.math.judging`, whose page says which forms are equal. Where the judge can't decide (a
tower of powers that nobody could work out), and where a right answer is not worked out (`17 + 25`, or the integral of
the question itself; the page says which are), the answer is *undecided*: it changes nothing of the team reward, whether
the answer before was right or wrong, and it is counted. To a generated question a rounded decimal is a wrong answer.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].

| reward | of | value |
|---|---|---|
| team, right | all | 1 when the latest answer is right and the one before was not |
| team, no longer right | all | -1 when the latest answer is wrong and the one before was right |
| team, else | all | 0 |
| `format` | all | -1 for a reply without an action |
| `program` | tool | -1 for a program that fails or prints no answer |
| `shortfall`, right | tool | 0 for an output that is the right answer |
| `shortfall`, wrong | tool | -1 for one that is not |
| `shortfall`, undecided | tool | -1 for one that the judge can't decide on; 0 while the latest answer is right |

The shortfall is what the team would have earned in all if the output were its answer now, less 1. A `solver` is paid
like the reasoner for answers and like the tool for programs.

`infos[agent]` holds `role`, `success` (the latest answer that was decided on is right), `invalid` (why the last reply
had no action, or None), `team_reward`, `local_reward`, the terms above by name; after an answer and after a program
that printed one `verdict` ("right", "wrong" or "undecided"), `undecided` (whether it is) and `undecided_so_far` (how
many were in this episode); after a program `program_ran` and `tool_useful` (its output is right).

### Options

| option | default | meaning |
|---|---|---|
| `difficulty` | "easy" | "easy", "medium" or "hard": level 1, 2 or 3 of each family |
| `topics` | None | the topics that questions come from, e.g. `["algebra"]`; all where None |
| `families` | None | the families that questions come from; all (of the topics) where None |
| `dataset` | None | the data set that questions come from, e.g. "gsm8k"; generated where None |
| `path` | None | local rows of the data set, see below; from the hub where None |
| `config` | None | the configuration on the hub, e.g. "algebra" of MATH; the usual one where None |
| `stop` | "correct" | what ends an episode before its horizon, see below |
| `observation` | "full" | "full" or "local" |
| `roles` | "team" | "team" or "single" |
| `agents` | one each | agents per role, e.g. `{"reasoner": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | 4 | horizon |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi" or "human" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

| value of `stop` | an episode ends |
|---|---|
| "correct" | when an answer is right |
| "agreement" | when answer and output agree, whichever came last; with one agent also when an answer is repeated |
| "budget" | at its horizon |

Evaluate with `stop="agreement"`: it takes no knowledge of the right answer, whereas to be asked again under "correct"
tells an agent that it was wrong. The answer counts as it is when the episode ends.

`reset(options={"split": ..., "index": ...})` picks an instance; `{"task": {"text": ..., "answer": ...}}` asks a
question of your own, to which a `program` that prints the answer may be added for the oracle.

Generated instances are a function of split, index, difficulty and families. A question's family and numbers decide
which split it is in, so that splits are disjoint whatever the options.

### Data sets

`dataset` takes questions from "aime", "gsm8k", "math", "olympiadbench" or "polaris", read from the Hugging Face hub
(`pip install 'llm-envs[data]'`) or, with `path`, from a local file or folder of JSON Lines; "jsonl" takes rows of your
own. `llm_envs.math.datasets` says what is read, from where, under which licence, and into which splits.

    env = math_v0.env(dataset="gsm8k", path="gsm8k_train.jsonl")
    env.unwrapped.task.data.sizes       # split -> number of questions
    env.unwrapped.task.data.faults      # rows that can't be used, and why; their number is in a warning

Index `i` is the row `i mod n` of the `n` in a split, in the order of the data, so that a random index always means a
row. A benchmark has nothing but a test split: pass `split="test"`. `difficulty` is for generated questions.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.core.env import TextAECEnv
from llm_envs.core.names import Names
from llm_envs.core.options import ShellOptions, entry_points, named_options
from llm_envs.math.task import MathTask

__all__ = ["env", "parallel_env", "raw_env"]


@named_options
def raw_env(
    *,
    difficulty: str = "easy",
    topics: Names | None = None,
    families: Names | None = None,
    stop: str = "correct",
    observation: str = "full",
    roles: str = "team",
    dataset: str | None = None,
    path: str | None = None,
    config: str | None = None,
    max_cycles: int = 4,
    **shell: Unpack[ShellOptions],
) -> TextAECEnv:
    """The environment without wrappers; the module's page explains the options."""
    task = MathTask(
        difficulty=difficulty,
        topics=topics,
        families=families,
        stop=stop,
        observation=observation,
        roles=roles,
        dataset=dataset,
        path=path,
        config=config,
    )
    return TextAECEnv(task, name="math_v0", max_cycles=max_cycles, **shell)


env, parallel_env = entry_points(raw_env)
