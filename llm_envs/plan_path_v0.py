"""Plan-Path: find a shortest way through a grid with walls.

| Import | `from llm_envs import plan_path_v0` |
|---|---|
| Registry id | `llm_envs/plan_path-v0` |
| Agents | `["tool_0", "planner_0"]`, or `["solver_0"]` |
| Actions | text |
| Observations | text |
| Parallel API | turn-based view |

A square grid with walls, a start and a goal. Every instance can be solved within the horizon.

### Roles

`tool` writes a Python program, which runs in the sandbox. What it prints is a candidate, which the planner sees in
the same cycle. `planner` answers with the list of moves that is executed. Each move goes one cell `up`, `down`,
`left` or `right`. A move into a wall or off the grid does not move and counts as a hit; execution stops at the goal.

With `roles="single"` one agent, `solver`, does both: a reply with a program runs it and shows its output in the next
turn, a reply with moves executes them.

### Observations

`observation="full"` is a self-contained prompt: rules, format of the reply, the grid, the candidate (planner) or what
the last program did (tool, solver), and why the last reply was not valid. The grid is also the program's standard
input. Its symbols:

    #  wall      .  free      S  start      G  goal      @  the agent      +  the agent on the goal

Without `S` the agent stands on the start. `state()` is this grid, and a line `candidate: up right` where there is one.

`observation="local"` is one line of words for tiny models, e.g. `planner at 3 4 goal up 2 right 1 blocked 0 1 0 0 tool
up right`: role, own row and column, how many rows and columns away the goal lies and where (`level 0` for none), whether
up, down, left and right are blocked, and, but for the tool, the candidate or `none`. The walls beyond the next cell are
not shown. After a reply that was not valid the line ends with `invalid`. The program's standard input is empty.

### Actions

Text. Closed `<think>` blocks are ignored. A move list stands in the last closed `<answer>` block, or is the whole
reply; it holds nothing but `up down left right` or `u d l r`, in any case, separated by spaces, commas or line
breaks, and at most `max_moves` of them. A program is the last fenced block tagged as Python, else the last fenced
block, else the whole reply where that is a short Python program. It must print a move list and nothing else. A
`solver`'s answer takes precedence over its program.

### Rewards

Every agent receives `alpha` times the team reward on each step, the acting agent also its local reward in [-1, 0].

| reward | of | value |
|---|---|---|
| team | all | change of max(0, 1 - d(position, goal) / d(start, goal)) along shortest paths |
| `format` | all | -1 for a reply without an action |
| `hit_penalty` | planner | -0.05 for each move into a wall or off the grid |
| `waste_penalty` | planner | -0.01 for each move that leads away from the goal |
| `program` | tool | -1 for a program that fails or prints no move list of at most `max_moves` |
| `shortfall` | tool | team reward that executing its list now would earn, less the most that `max_moves` moves could |
| `hit_penalty` | tool | -0.05 for each hit in its list |

A `solver` is paid like the planner for moves and like the tool for programs. The sum of local terms is floored at -1.

`infos[agent]` holds `role`, `success`, `invalid` (why the last reply had no action, or None), `team_reward`,
`local_reward`, the terms above by name, and after moves `hits`, `wasted`, `progress` (moves nearer to the goal) and
`optimal_moves` (length of the shortest path from where the moves began), after a program `program_ran` and
`tool_useful` (its list would end nearer to the goal).

### Options

| option | default | meaning |
|---|---|---|
| `size` | 8 | rows and columns, 4 to 16 |
| `walls` | 0.2 | share of the cells that are walls, 0 to 0.5 |
| `min_path` | 4 | shortest path's least length in moves, 1 to 2 * (size - 1) |
| `max_moves` | 20 | most moves in one list, 1 to 256 |
| `observation` | "full" | "full" or "local" |
| `roles` | "team" | "team" or "single" |
| `agents` | one each | agents per role, e.g. `{"tool": 2}` |
| `turn_order` | as above | the roles in the order in which they act |
| `alpha` | 1.0 | weight of the team reward |
| `max_cycles` | 8 | horizon; no shortest path is longer than `max_moves * max_cycles` |
| `on_invalid` | "noop" | "noop", or "terminate": a reply without an action ends the episode |
| `split` | "train" | "train", "validation" or "test" |
| `render_mode` | None | "ansi" or "human" |
| `sandbox` | "auto" | the cage that programs run in, see `llm_envs.sandbox` |

`reset(options={"split": ..., "index": ...})` picks an instance; `{"task": grid}` plays a grid given as text.

Instances are a function of split and index. The content of a board decides which split it is in, so that splits are
disjoint whatever the options. Where a split holds no board with the asked share of walls, another share is taken.

### Version history

* v0: initial version.
"""

from typing import Unpack

from llm_envs.core.env import TextAECEnv
from llm_envs.core.options import ShellOptions, entry_points, named_options
from llm_envs.plan_path.render import show
from llm_envs.plan_path.task import PlanPathTask

__all__ = ["env", "parallel_env", "raw_env"]


@named_options
def raw_env(
    *,
    size: int = 8,
    walls: float = 0.2,
    min_path: int = 4,
    max_moves: int = 20,
    observation: str = "full",
    roles: str = "team",
    max_cycles: int = 8,
    **shell: Unpack[ShellOptions],
) -> TextAECEnv:
    """The environment without wrappers; the module's page explains the options."""
    task = PlanPathTask(
        size=size,
        walls=walls,
        min_path=min_path,
        max_moves=max_moves,
        observation=observation,
        roles=roles,
        max_cycles=max_cycles,
    )
    return TextAECEnv(task, name="plan_path_v0", max_cycles=max_cycles, renderers={"human": show}, **shell)


env, parallel_env = entry_points(raw_env)
