"""Plan-Path: find a cheapest way through a grid with walls.

| Import | `from llm_envs import plan_path_v0` |
|---|---|
| Registry id | `llm_envs/plan_path-v0` |
| Agents | `["tool_0", "planner_0"]`, `["solver_0"]` or `["planner_0"]` |
| Actions | text, or `Discrete` |
| Observations | text, or `Dict` with a `Box` and an action mask |
| Parallel API | turn-based view |

A square grid with walls, a start and a goal. Every instance can be solved within the horizon. Every move costs 1, or,
with `weights`, what the cell costs that it enters.

### Roles

`tool` writes a Python program, which runs in the sandbox. What it prints is a candidate, which the planner sees in
the same cycle. `planner` answers with the list of moves that is executed. Each move goes one cell `up`, `down`,
`left` or `right`, with `diagonal=True` also `up-left`, `up-right`, `down-left` or `down-right`. A move into a wall or
off the grid does not move, costs nothing and counts as a hit; so does a diagonal move that passes a wall on either
side, since corners can't be cut. Execution stops at the goal.

With `roles="single"` one agent, `solver`, does both: a reply with a program runs it and shows its output in the next
turn, a reply with moves executes them. With `roles="planners"` there is no tool, and planners take turns.

### Observations

`observation="full"` is a self-contained prompt: rules, format of the reply, the grid, the candidate (planner) or what
the last program did (tool, solver), and why the last reply was not valid. The grid is also the program's standard
input. Its symbols:

    #  wall      .  free      S  start      G  goal      @  the agent      +  the agent on the goal
    2 to 9  free, and costs as many to enter (with `weights`; all other cells cost 1)

Without `S` the agent stands on the start. `state()` is this grid, followed by lines for what it can't show:
`diagonal: yes` where such moves are allowed, `here: 3` where the agent stands on a cell that costs more than 1,
`candidate: up right` where there is one.

`observation="local"` is one line of words for tiny models, e.g. `planner at 3 4 goal up 2 right 1 blocked 0 1 0 0 tool
up right`: role, own row and column, how many rows and columns away the goal lies and where (`level 0` for none), for
each move whether it is blocked (in the order above; with `weights` the word `costs` and what each move costs, 0 where
it is blocked), and, but for the tool and for planners without one, the candidate or `none`. The walls beyond the next
cell are not shown. After a reply that was not valid the line ends with `invalid`. The program's standard input is
empty.

### Actions

Text. Closed `<think>` blocks are ignored. A move list stands in the last closed `<answer>` block, or is the whole
reply; it holds nothing but moves, in full or by their letters (`u d l r`, `ul ur dl dr`), in any case, separated by
spaces, commas or line breaks, and at most `max_moves` of them. A program is the last fenced block tagged as Python,
else the last fenced block, else the whole reply where that is a short Python program. It must print a move list and
nothing else. A `solver`'s answer takes precedence over its program.

### Discrete variant

`action_format="discrete"`: no tool; `planner_0`, `planner_1`, ... take turns. The observation is
`{"observation": int8 array of shape (size, size, 4), "action_mask": int8 array of shape (n,)}`. The planes are what
entering each cell costs (0 for a wall), and a 1 where the agent, the goal and the start are. Action 0 goes up, 1 down,
2 left, 3 right, and with diagonal moves 4 up-left, 5 up-right, 6 down-left, 7 down-right; n is 4 or 8. The mask holds
1 for a move that is not blocked. `state()` is the array; rewards are the planner's.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].
Below, d is the least cost from a cell to the goal, on a plain grid the number of moves on a shortest path.

| reward | of | value |
|---|---|---|
| team | all | change of max(0, 1 - d(position) / d(start)) |
| `format` | all | -1 for a reply without an action |
| `hit_penalty` | planner | -0.05 for each blocked move |
| `waste_penalty` | planner | -0.005 for each unit of cost beyond the least: -0.01 for a step away on a plain grid |
| `program` | tool | -1 for a program that fails or prints no move list of at most `max_moves` |
| `shortfall` | tool | what executing its list now would earn the team, less what `max_moves` of a cheapest path earn |
| `hit_penalty` | tool | -0.05 for each hit in its list |

A `solver` is paid like the planner for moves and like the tool for programs. The sum of local terms is floored at -1.

`infos[agent]` holds `role`, `success`, `invalid` (why the last reply had no action, or None), `team_reward`,
`local_reward`, the terms above by name; after moves `hits`, `wasted` (moves that no cheapest path has), `progress` (how
much d fell) and `optimal_moves` (moves on a cheapest path from where these began), and of the whole episode `cost` (of
all moves so far), `optimal_cost` (of a cheapest path) and `excess_cost` (what is already lost: the best that can still
be reached is `optimal_cost + excess_cost`); after a program `program_ran` and `tool_useful` (its list would end nearer
to the goal).

### Options

| option | default | meaning |
|---|---|---|
| `difficulty` | "easy" | "easy", "medium" or "hard": the next three options, unless they are given; see below |
| `size` | None | rows and columns, 4 to 16 |
| `walls` | None | share of the cells that are walls, 0 to 0.5 |
| `min_path` | None | least cost of a cheapest path, 1 to 2 * (size - 1), or size - 1 with `diagonal` |
| `weights` | 1 | cells cost 1 to this to enter, each as likely, 1 to 9; 1 is a plain grid |
| `diagonal` | False | whether moves may be diagonal; they cost no more than others |
| `max_moves` | 20 | most moves in one list, 1 to 256; a discrete action is always one |
| `observation` | "full" | "full" or "local" |
| `roles` | "team" | "team", "single" or "planners" |
| `action_format` | "text" | "text" or "discrete" |
| `agents` | one each | agents per role, e.g. `{"tool": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | None | horizon, 8 for text, 200 if discrete; no cheapest path costs over `max_moves * max_cycles` |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi", "human" or "rgb_array" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

| difficulty | `size` | `walls` | `min_path` |
|---|---|---|---|
| easy | 8 | 0.2 | 4 |
| medium | 10 | 0.3 | 10 |
| hard | 14 | 0.35 | 20 |

A difficulty stands for these three options and nothing else. One that is given wins over it, e.g.
`difficulty="hard", size=10`; a difficulty's `min_path` is lowered to what the grid has room for.

`reset(options={"split": ..., "index": ...})` picks an instance; `{"task": grid}` plays a grid given as text, of any
size, with costs up to `weights`.

Instances are a function of split, index and these options: `size`, `walls`, `min_path`, `weights`, `diagonal` and,
where it is too short for some, the horizon. The content of a board decides which split it is in, so that splits are
disjoint whatever the options. Where a split holds no board with the asked share of walls, another share is taken.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.core.discrete import DiscreteAECEnv
from llm_envs.core.env import TextAECEnv
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.options import ShellOptions, entry_points, named_options
from llm_envs.plan_path.discrete import PlanPathView
from llm_envs.plan_path.picture import draw
from llm_envs.plan_path.render import show
from llm_envs.plan_path.task import PlanPathTask

__all__ = ["env", "parallel_env", "raw_env"]

HORIZON = {"text": 8, "discrete": 200}  # a discrete action is one move
RENDERERS = {"human": show, "rgb_array": draw}


@named_options
def raw_env(
    *,
    difficulty: str = "easy",
    size: int | None = None,
    walls: float | None = None,
    min_path: int | None = None,
    weights: int = 1,
    diagonal: bool = False,
    max_moves: int = 20,
    observation: str = "full",
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
    task = PlanPathTask(
        difficulty=difficulty,
        size=size,
        walls=walls,
        min_path=min_path,
        weights=weights,
        diagonal=diagonal,
        max_moves=1 if discrete else max_moves,
        observation=observation,
        roles="planners" if discrete else roles,
        max_cycles=horizon,
    )
    if discrete:
        view = PlanPathView(task.dials.size, task.dials.weights, diagonal=task.dials.diagonal)
        return DiscreteAECEnv(task, view, name="plan_path_v0", max_cycles=horizon, renderers=RENDERERS, **shell)
    return TextAECEnv(task, name="plan_path_v0", max_cycles=horizon, renderers=RENDERERS, **shell)


env, parallel_env = entry_points(raw_env)
