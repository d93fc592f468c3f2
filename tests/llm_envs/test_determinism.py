"""The same seed gives the same episode everywhere, and playing loads nothing that a game does not need."""

import subprocess
import sys
from typing import Any

import pytest

from llm_envs import make
from llm_envs.play import play
from llm_envs.players import ReferencePlayer
from llm_envs.sandbox.base import Sandbox

# Text variants, played by every reference player that acts by chance and by noise.
TEXT: dict[str, list[dict[str, Any]]] = {
    "math_v0": [{"observation": "local"}, {"roles": "single", "stop": "agreement"}],
    "plan_path_v0": [{"observation": "local"}, {"roles": "single", "weights": 5, "diagonal": True}],
    "sokoban_v0": [{"difficulty": "medium"}, {"roles": "single"}],
    "sudoku_v0": [{"size": 4}, {"size": 6, "roles": "single"}],
}
DISCRETE: dict[str, dict[str, Any]] = {
    "plan_path_v0": {"weights": 3, "diagonal": True},
    "sokoban_v0": {"boxes": 3},
    "sudoku_v0": {"size": 9, "engine": "python"},
}
PROGRAM = """
import sys
from llm_envs import make
from llm_envs.play import play
from llm_envs.players import ReferencePlayer

name, rows, discrete = sys.argv[1], eval(sys.argv[2]), eval(sys.argv[3])
for options in rows:
    env = make(name, sandbox="unsafe", max_cycles=3, **options)
    for player in sorted({"greedy", "random", "weak"} & set(env.unwrapped.task.players)):
        print(play(env, {"all": ReferencePlayer(player)}, index=None, seed=7, options=options).to_json())
    env.reset(seed=3)
    for agent in env.possible_agents:
        env.action_space(agent).seed(1)
    while not any(env.truncations.values()):
        env.step(env.action_space(env.agent_selection).sample())
        print(env.state(), env.rewards, env.infos)
if discrete is None:
    sys.exit()
env = make(name, action_format="discrete", max_cycles=150, **discrete)
env.reset(seed=3)
env.action_space("planner_0").seed(1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    print(observation["observation"].tobytes().hex(), reward, info)
"""
HEAVY = """
import sys
from llm_envs import make

env = make(sys.argv[1], **eval(sys.argv[2]))
env.reset(seed=0)
env.last()
env.step("up")
heavy = {"docker", "numba", "pygame", "sympy", "torch", "transformers", "vllm"}
print(sorted(heavy & sys.modules.keys()))
"""


@pytest.mark.parametrize("name", TEXT)
def test_transcripts_are_byte_equal_in_processes_with_different_hash_seeds(name: str) -> None:
    """UC-010, UC-022."""
    command = [sys.executable, "-c", PROGRAM, name, repr(TEXT[name]), repr(DISCRETE.get(name))]
    runs = [
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=False)
        for seed in ("0", "4242")
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr.decode()
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout) > 10_000


@pytest.mark.parametrize("name", TEXT)
def test_another_seed_gives_another_episode(name: str, sandbox: Sandbox) -> None:
    """Negative control of the test above."""
    env = make(name, roles="single", sandbox=sandbox)
    players = {"all": ReferencePlayer("weak")}
    assert play(env, players, index=None, seed=7) == play(env, players, index=None, seed=7)
    assert play(env, players, index=None, seed=7) != play(env, players, index=None, seed=8)


@pytest.mark.parametrize(
    ("name", "options"), [("math_v0", {}), ("plan_path_v0", {}), ("sokoban_v0", {}), ("sudoku_v0", {"size": 4})]
)
def test_playing_loads_nothing_heavy(name: str, options: dict[str, Any]) -> None:
    """UC-028."""
    done = subprocess.run(
        [sys.executable, "-c", HEAVY, name, repr(options)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
