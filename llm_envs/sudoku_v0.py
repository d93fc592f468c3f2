"""Sudoku: fill a grid so that every row, column and box holds every digit once.

| Import | `from llm_envs import sudoku_v0` |
|---|---|
| Registry id | `llm_envs/sudoku-v0` |
| Agents | `["tool_0", "planner_0"]`, `["solver_0"]` or `["planner_0"]` |
| Actions | text, or `Discrete` |
| Observations | text, or `Dict` with a `Box` and an action mask |
| Parallel API | turn-based view |

Grids of 4x4 (boxes of 2 rows and 2 columns), 6x6 (2 and 3), 9x9 (3 and 3) and 16x16 (4 and 4). Generated puzzles have
exactly one solution. Clues can't be changed; every other cell can be filled, changed and cleared.

### Roles

`tool` writes a Python program, which runs in the sandbox. What it prints, placements or a whole grid, is a candidate,
which the planner sees in the same cycle. `planner` answers with placements or a whole grid, which is executed.

With `roles="single"` one agent, `solver`, does both: a reply with a program runs it and shows its output in the next
turn, a reply with an answer executes it. With `roles="planners"` there is no tool, and planners take turns.

### Observations

A self-contained prompt: rules, format of the reply, the puzzle, the grid as it is now, the candidate (planner) or what
the last program did (tool, solver), what the last placements did, and why the last reply was not valid. The puzzle is
also the program's standard input, one row a line, cells separated by spaces, `.` for an empty one. 16x16 grids write
10 to 16 as A to G.

The only placement that a prompt spells out is a clue, so that no answer stands in it. After placements it names those
without effect and, as a *rule check*, digits that now repeat in a row, column or box; nothing says whether a digit that
breaks no rule is right.

`state()` is the puzzle, after `now:` the grid where it differs, after `candidate:` the candidate where there is one.

### Actions

Text. Closed `<think>` blocks are ignored. An answer stands in the last closed `<answer>` block, else in the last fenced
block, else it is the whole reply. It is one of

* placements, `r1c2=3` for a 3 in row 1, column 2 (from 1, at the top left), separated by spaces, commas or line
  breaks; `r1c2=.` or `r1c2=0` clears a cell;
* triples `1 2 3` of row, column and digit, one a line or separated by `;`;
* a whole grid: rows of digits, spaced or not, with or without `|` and `---`, one line of all cells, comma separated
  values, a list of lists; `. 0 _ ?` leave a cell as it is. In 16x16 grids digits above 9 are A to G or, where cells are
  separated, numbers.

and nothing else. Placements are executed in order. One that changes or clears a clue, or puts a digit where a clue in
the same row, column or box holds it, is *illegal*: it has no effect. A digit that repeats another one that was filled
in is put, since either may be the wrong one. A program is the last fenced block tagged as Python, else the last fenced
block. It must print an answer in one of these forms and nothing else. A `solver`'s answer takes precedence over its
program.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].

| reward | of | value |
|---|---|---|
| team | all | change of max(0, right - wrong) / blanks, over the cells that are no clues |
| `format` | all | -1 for a reply without an action |
| `illegal_penalty` | planner | -0.05 for each illegal placement |
| `program` | tool | -1 for a program that fails or prints no answer |
| `shortfall` | tool | max(0, right - wrong) / blanks after its answer, if it were executed now, less 1 |
| `illegal_penalty` | tool | -0.05 for each illegal placement in its answer |

A `solver` is paid like the planner for answers and like the tool for programs. The sum of local terms is floored at -1.
On a board that is admitted with several solutions, 1 when it is solved and else 0 stands for the share of right cells.

`infos[agent]` holds `role`, `success`, `invalid` (why the last reply had no action, or None), `team_reward`,
`local_reward`, the terms above by name, and after an answer `placed`, `illegal` (numbers of placements), `empty` (cells
left) and `blanks` (cells empty at the start), after a program `program_ran` and `tool_useful` (its answer would raise
the team reward).

### Discrete variant

With `action_format="discrete"` planners `planner_0`, ... take turns on the board, without a tool. Observation:
`Dict(observation=Box(int8), action_mask=Box(int8))`; `observation` has shape (size, size, 2): the digit of each cell, 0
for an empty one, and 1 where it is a clue. Action `Discrete(size * size * (size + 1))`: `cell * (size + 1) + digit`
puts a digit into a cell, cells counted row by row from 0; digit 0 clears it. The mask holds the placements that are
legal and change something. Rewards are the planner's; `state()` is the array.

### Options

| option | default | meaning |
|---|---|---|
| `size` | 9 | 4, 6, 9 or 16 |
| `difficulty` | "easy" | "easy", "medium" or "hard", by blanks and techniques; see below |
| `blanks` | None | number of blank cells, or two bounds, in place of the preset's |
| `hardest` | None | puzzles yield to techniques up to this one: "naked_single", "hidden_single", "pairs", "guessing" |
| `roles` | "team" | "team", "single" or "planners" |
| `action_format` | "text" | "text" or "discrete" |
| `engine` | "auto" | "python", "numba" (extra `fast`), or "auto": numba where it is installed, from 9x9. Same puzzles |
| `agents` | one each | agents per role, e.g. `{"tool": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | 8 | horizon; 512 in the discrete variant |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi", "human" or "rgb_array" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

`reset(options={"split": ..., "index": ...})` picks an instance; `{"task": grid}` plays a grid of this size given as
text in any form above; `{"task": {"puzzle": grid, "allow_multiple": True}}` admits one with several solutions.

| preset | 4x4 | 6x6 | 9x9 | 16x16 |
|---|---|---|---|---|
| easy | 4-6 blanks | 10-14, naked singles | 36-40, naked singles | 80-95, naked singles |
| medium | 7-8 | 17-20, hidden singles | 45-49, hidden singles needed | 110-125, hidden singles needed |
| hard | 9-11 | 23-25, hidden singles needed | 51-54, pairs or guessing needed | 135-145, pairs or guessing needed |

Most blanks: 12, 27, 60 and 150. Instances are a function of split, index and these options. The content of a puzzle, up
to the names of its digits, decides which split it is in, so that splits are disjoint whatever the options.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.options import ShellOptions, entry_points, named_options
from llm_envs.sudoku.discrete import SudokuView
from llm_envs.sudoku.picture import draw
from llm_envs.sudoku.render import show
from llm_envs.sudoku.task import SudokuTask

__all__ = ["env", "parallel_env", "raw_env"]

HORIZON = {"text": 8, "discrete": 512}  # a discrete action fills one cell
RENDERERS = {"human": show, "rgb_array": draw}


@named_options
def raw_env(
    *,
    size: int = 9,
    difficulty: str = "easy",
    blanks: int | tuple[int, int] | None = None,
    hardest: str | None = None,
    roles: str = "team",
    action_format: str = "text",
    engine: str = "auto",
    max_cycles: int | None = None,
    **shell: Unpack[ShellOptions],
) -> TextAECEnv:
    """The environment without wrappers; the module's page explains the options."""
    if action_format not in HORIZON:
        raise unknown_choice("action_format", action_format, HORIZON)
    discrete = action_format == "discrete"
    if discrete and roles == "single":
        raise UsageError("roles='single': must be 'planners' (or be left out) with action_format='discrete'.")
    task = SudokuTask(
        size=size,
        difficulty=difficulty,
        blanks=blanks,
        hardest=hardest,
        roles="planners" if discrete else roles,
        engine=engine,
    )
    horizon = HORIZON[action_format] if max_cycles is None else max_cycles
    if discrete:
        view = SudokuView(task.recipe.size)
        return DiscreteAECEnv(task, view, name="sudoku_v0", max_cycles=horizon, renderers=RENDERERS, **shell)
    return TextAECEnv(task, name="sudoku_v0", max_cycles=horizon, renderers=RENDERERS, **shell)


env, parallel_env = entry_points(raw_env)
