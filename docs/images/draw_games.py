"""Draws one animation per game into this folder: `python docs/images/draw_games.py` (needs the extra `video`).

The players are the games' own: what the pictures show is what the environments' `rgb_array` mode gives.
"""

# ruff: noqa: INP001  # a script, beside what it writes

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from llm_envs import plan_path_v0, sokoban_v0, sudoku_v0
from llm_envs.players import Env, ReferencePlayer
from llm_envs.render.image import Pixels
from llm_envs.sandbox.base import Sandbox

FOLDER = Path(__file__).parent
FRAME_MS, LAST_MS = 300, 2000
COLOURS = 96


def plan_path(sandbox: str | Sandbox = "auto") -> Iterator[Pixels]:
    """The tool finds the cheapest way from where the agent stands (dots), the planner goes a step, and so on."""
    env = plan_path_v0.env(weights=9, min_path=10, max_cycles=40, render_mode="rgb_array", sandbox=sandbox)
    env.reset(options={"index": 18})
    for agent in env.agent_iter():
        if env.terminations[agent]:
            yield env.render()
            return
        reply = ReferencePlayer("oracle").act(env, agent, str(env.observe(agent)))
        if agent == "planner_0":
            yield env.render()
            reply = first_word(reply)
        env.step(reply)


def sokoban() -> Iterator[Pixels]:
    """The oracle's plan, move by move."""
    env = sokoban_v0.env(difficulty="medium", roles="planners", max_cycles=200, render_mode="rgb_array")
    return one_at_a_time(env, "oracle", index=5)


def sudoku() -> Iterator[Pixels]:
    """Digits that are the only ones possible, one after the other."""
    env = sudoku_v0.env(roles="planners", max_cycles=100, render_mode="rgb_array")
    return one_at_a_time(env, "greedy", index=0)


def one_at_a_time(env: Env, player: str, index: int) -> Iterator[Pixels]:
    """A planner who takes the first move of what the player would say."""
    env.reset(options={"index": index})
    yield env.render()
    for agent in env.agent_iter():
        if env.terminations[agent] or env.truncations[agent]:
            return
        env.step(first_word(ReferencePlayer(player).act(env, agent, str(env.observe(agent)))))
        yield env.render()


def first_word(reply: str) -> str:
    """A list in answer tags, cut to its first item."""
    items = reply.removeprefix("<answer>").removesuffix("</answer>").split()
    return f"<answer>{items[0]}</answer>"


GAMES: dict[str, Callable[[], Iterator[Pixels]]] = {"plan_path": plan_path, "sokoban": sokoban, "sudoku": sudoku}


def main() -> None:
    """Write all files."""
    for name, frames in GAMES.items():
        drawn = list(frames())
        # One palette for all frames, without dithering: flat colours stay flat, and files small.
        palette = Image.fromarray(np.vstack([drawn[0], drawn[-1]])).quantize(COLOURS, dither=Image.Dither.NONE)
        first, *others = [Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in drawn]
        durations = [FRAME_MS] * len(others) + [LAST_MS]
        path = FOLDER / f"{name}.gif"
        first.save(path, save_all=True, append_images=others, duration=durations, loop=0, optimize=True)


if __name__ == "__main__":
    main()
