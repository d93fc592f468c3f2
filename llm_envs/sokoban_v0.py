"""Sokoban: push every box onto a goal.

| Import | `from llm_envs import sokoban_v0` |
|---|---|
| Registry id | `llm_envs/sokoban-v0` |
| Agents | `["tool_0", "planner_0"]`, `["solver_0"]` or `["planner_0"]` |
| Actions | text, or `Discrete` |
| Observations | text, or `Dict` with a `Box` and an action mask |
| Parallel API | turn-based view |

Rooms of 6x6 to 16x16 cells, the outer walls included, with up to 6 boxes and as many goals. Every generated room comes
with a plan that solves it within the horizon; no box stands on a goal at the start.

### Roles

`tool` writes a Python program, which runs in the sandbox. What it prints is a candidate, which the planner sees in
the same cycle. `planner` answers with the list of moves that is executed. Each move goes one cell `up`, `down`,
`left` or `right`, and pushes a box that stands there one cell on. A move into a wall, or into a box with a wall or
another box behind it, does nothing and counts as a hit. Execution stops as soon as every box is on a goal.

With `roles="single"` one agent, `solver`, does both: a reply with a program runs it and shows its output in the next
turn, a reply with moves executes them. With `roles="planners"` there is no tool, and planners take turns.

### Observations

A self-contained prompt: rules, format of the reply, the room, the candidate (planner) or what the last program did
(tool, solver), the last moves, and why the last reply was not valid. The room is also the program's standard input, in
XSB, the common text format of Sokoban levels:

    #  wall    @  player    +  player on a goal    $  box    *  box on a goal    .  goal    space  floor

`state()` is the room, and a line `candidate: up right` where there is one.

### Actions

Text. Closed `<think>` blocks are ignored. A move list stands in the last closed `<answer>` block, or is the whole
reply; it holds nothing but `up down left right` or `u d l r`, in any case, separated by spaces, commas or line
breaks, and at most `max_moves` of them. A program is the last fenced block tagged as Python, else the last fenced
block. It must print a move list and nothing else. A `solver`'s answer takes precedence over its program.

### Discrete variant

`action_format="discrete"`: no tool; `planner_0`, `planner_1`, ... take turns. The observation is
`{"observation": int8 array of shape (rows, cols), "action_mask": int8 array of shape (4,)}` with the codes 0 floor,
1 wall, 2 goal, 3 box, 4 box on a goal, 5 player, 6 player on a goal. Action 0 goes up, 1 down, 2 left, 3 right; the
mask holds 1 for a move that is not blocked.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].

| reward | of | value |
|---|---|---|
| team | all | change of the potential |
| `format` | all | -1 for a reply without an action |
| `hit_penalty` | planner | -0.05 for each blocked move |
| `program` | tool | -1 for a program that fails or prints no move list of at most `max_moves` |
| `shortfall` | tool | potential after executing its list now, less that after the first `max_moves` moves of a plan |
| `hit_penalty` | tool | -0.05 for each hit in its list |

The potential is a function of where the boxes are: with `n` boxes, `g` of them on goals,

    potential = g / (2 n) + (1 - pushes / longest) / 2,    and 0 in a detected deadlock,

where `pushes` is a lower bound of the pushes to the solution (the least-cost assignment of boxes to goals, each box
pushed as if it were alone) and `longest` the room's largest such sum. It is 1 only when the room is solved. Running
into a deadlock therefore costs all that was gained, and more.

The plan in `shortfall` is the room's own where the position is on its way, else one with the fewest pushes. A list that
moves no box where the plan moves one counts as potential 0. Where no plan is known (in a deadlock, or where the solver
gives up), the shortfall is that to the solution: potential - 1. It is never above 0.

A `solver` is paid like the planner for moves and like the tool for programs. The sum of local terms is floored at -1.

`infos[agent]` holds `role`, `success`, `invalid` (why the last reply had no action, or None), `team_reward`,
`local_reward`, the terms above by name; after moves `moves`, `pushes` and `hits` of this list, `boxes_on_goals`,
`pushes_left` (the lower bound, or None), `deadlock` (`simple`: a box that can reach no goal; `freeze`: a box off the
goals that can't be pushed any more; `bipartite`: boxes with too few goals for them; or None), and of the room's start
`optimal_pushes` (the smallest number of pushes, or None where the solver did not end within `node_budget`) with the
proven bounds `pushes_lower` and `pushes_upper`; after a program `program_ran` and `tool_useful` (its list would raise
the potential).

### Options

| option | default | meaning |
|---|---|---|
| `difficulty` | "easy" | "easy" (7x7, 1 box), "medium" (8x8, 2), "hard" (10x10, 3) or "expert" (10x10, 4) |
| `size` | None | rows and columns, 6 to 16: one number or a pair; None takes the difficulty's, as in the next four |
| `boxes` | None | boxes and goals, 1 to 6, and at most one for every six inner cells |
| `shape` | None | "carved" (corridors and bays) or "scattered" (a hall with single blocks) |
| `walls` | None | share of the inner cells that are walls, 0 to 0.6 |
| `min_pushes` | None | every solution has at least that many pushes, 1 to rows + columns + boxes - 9 |
| `max_moves` | 20 | most moves in one list, 1 to 256; a discrete action is always one |
| `terminate_on_deadlock` | False | whether a detected deadlock ends the episode |
| `node_budget` | 1000 | positions that the solver may look at to find `optimal_pushes` of a room |
| `roles` | "team" | "team", "single" or "planners" |
| `action_format` | "text" | "text" or "discrete" |
| `agents` | one each | agents per role, e.g. `{"tool": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | None | horizon, 8 for text, 200 if discrete; plans of rooms fit into `max_moves * max_cycles` moves |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi", "human" or "rgb_array" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

`reset(options={"split": ..., "index": ...})` picks a room; `{"task": level}` plays a level given in XSB.
`llm_envs.sokoban.levels` reads files of levels, Boxoban's among them.

Rooms are a function of split and index. The content of a room decides which split it is in, mirror images and rotations
alike, so that splits are disjoint whatever the options. Where a split holds hardly a room with the asked shape and
walls, others are taken.

### Version history

* v0: initial version.
"""

from collections.abc import Sequence
from typing import Unpack

from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.options import ShellOptions, entry_points, named_options
from llm_envs.sokoban.discrete import SokobanView
from llm_envs.sokoban.picture import draw
from llm_envs.sokoban.render import show
from llm_envs.sokoban.task import SokobanTask

__all__ = ["env", "parallel_env", "raw_env"]

HORIZON = {"text": 8, "discrete": 200}  # a discrete action is one move
RENDERERS = {"human": show, "rgb_array": draw}


@named_options
def raw_env(
    *,
    difficulty: str = "easy",
    size: int | Sequence[int] | None = None,
    boxes: int | None = None,
    shape: str | None = None,
    walls: float | None = None,
    min_pushes: int | None = None,
    max_moves: int = 20,
    terminate_on_deadlock: bool = False,
    node_budget: int = 1000,
    roles: str = "team",
    action_format: str = "text",
    max_cycles: int | None = None,
    **shell: Unpack[ShellOptions],
) -> TextAECEnv:
    """The environment without wrappers; the module's page explains the options."""
    if action_format not in HORIZON:
        raise unknown_choice("action_format", action_format, HORIZON)
    discrete = action_format == "discrete"
    if discrete and roles == "single":
        raise UsageError("roles='single': must be 'planners' (or be left out) with action_format='discrete'.")
    horizon = HORIZON[action_format] if max_cycles is None else max_cycles
    task = SokobanTask(
        difficulty=difficulty,
        size=size,
        boxes=boxes,
        shape=shape,
        walls=walls,
        min_pushes=min_pushes,
        max_moves=1 if discrete else max_moves,
        terminate_on_deadlock=terminate_on_deadlock,
        node_budget=node_budget,
        roles="planners" if discrete else roles,
        max_cycles=horizon,
    )
    if discrete:
        view = SokobanView(task.dials.rows, task.dials.cols)
        return DiscreteAECEnv(task, view, name="sokoban_v0", max_cycles=horizon, renderers=RENDERERS, **shell)
    return TextAECEnv(task, name="sokoban_v0", max_cycles=horizon, renderers=RENDERERS, **shell)


env, parallel_env = entry_points(raw_env)
