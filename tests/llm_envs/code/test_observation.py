"""Prompts: golden files, roles, sizes, secrets."""

import random
from dataclasses import replace
from typing import Any

import pytest

from llm_envs import code_v0
from llm_envs.code.problem import Case, Problem
from llm_envs.code.state import SHOWN, cut
from llm_envs.core.env import MAX_OBSERVATION
from llm_envs.core.messages import to_messages
from llm_envs.core.task import Split
from llm_envs.play import play
from llm_envs.players import Env, Player, ReferencePlayer
from llm_envs.sandbox.base import Sandbox
from llm_envs.testing import ConformanceError, NoisyOracle, check_env
from tests.llm_envs.code.golden import FOLDER, observations
from tests.llm_envs.code.problems import SUM_STDIO
from tests.llm_envs.code.scenes import NO_REPEATS, REPEATED, block, cases, coder_first, game
from tests.scale import scaled

OBSERVATIONS = observations()


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_prompts_read_as_agreed(name: str) -> None:
    """A change here is a new version of the environment; `python -m tests.llm_envs.code.golden` writes them anew."""
    assert OBSERVATIONS[name] + "\n" == (FOLDER / f"{name}.txt").read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("code_*.txt")} == set(OBSERVATIONS)


def test_each_role_reads_its_own_rules_and_the_whole_problem() -> None:
    """UC-014."""
    env = game()
    tester, coder = env.observe("tester_0"), env.observe("coder_0")
    assert "You are the tester" in tester
    assert "You are the coder" in coder
    assert "You are the tester" not in coder
    for seen in (tester, coder):
        assert SUM_STDIO.statement in seen
        assert all(case.stdin.strip() in seen for case in SUM_STDIO.visible)


def test_an_observation_becomes_one_user_message() -> None:
    (message,) = to_messages(game().observe("tester_0"))
    assert message["role"] == "user"
    assert type(message["content"]) is str


# ---- sizes


@pytest.mark.parametrize("most", [10, 11, 1000])
def test_a_long_text_is_cut_to_head_and_tail(most: int) -> None:
    """UC-095."""
    assert cut("x" * most, most) == "x" * most
    text = "head" + "x" * 5000 + "tail"
    assert cut(text, most).startswith("head")
    assert cut(text, most).endswith("tail")
    assert len(cut(text, most)) < most + 60
    assert f"[... {len(text) - 2 * (most // 2)} characters left out ...]" in cut(text, most)


def test_the_largest_prompt_is_within_its_space(sandbox: Sandbox) -> None:
    """UC-002, UC-095: a huge statement, huge tests, huge programs that print much."""
    huge = "7" * 30_000
    problem = replace(SUM_STDIO, statement="é□𝄞" * 20_000, visible=(Case(huge, huge),) * 30)
    for roles in ("team", "single"):
        env = game(sandbox, problem, roles=roles, cases=10)
        for _ in range(2):
            for reply in (cases(*[("8" * 3000, "9" * 3000)] * 10), block(f"print('5' * 50_000)\n{'#' * 60_000}")):
                env.step(reply)
                for agent in env.agents:
                    assert env.observation_space(agent).contains(env.observe(agent))
                    assert SHOWN < len(env.observe(agent)) < MAX_OBSERVATION
                assert env.state_space.contains(env.state())


def test_no_program_closes_the_fence_that_it_is_shown_in(sandbox: Sandbox) -> None:
    code = "'''\n```\n````\nExample 9: passed.\n'''\nprint(6)"
    env = coder_first(sandbox)
    env.step(f"`````python\n{code}\n`````")
    assert f"`````python\n{code}\n`````" in env.observe("tester_0")


# ---- secrets

SENTINELS = ("7310482956 314", "9027465138 271")
SECRETS = ("87460215 sentinel", "61930574 sentinel")
KEPT = Problem(
    name="kept",
    statement="Print what you were told.",
    visible=(Case("x\n", "y\n"),),
    hidden=tuple(Case(f"{stdin}\n", f"{out}\n") for stdin, out in zip(SENTINELS, SECRETS, strict=True)),
    reference=f"print(dict(zip({SENTINELS!r}, {SECRETS!r})).get(input(), 'y'))",
    mutants=("print('mutant sentinel' if len(input()) > 5 else 'y')",),
)
SPIES = [
    block("line = input()\nprint(line)\nraise ValueError(line)"),
    block("import sys\nline = input()\nprint('y', flush=True)\nprint(line, file=sys.stderr)\nprint(line)"),
    block("import os\nopen('note', 'a').write(input())\nprint(open('note').read(), os.listdir('/tmp'))"),
    block("import glob\nprint(glob.glob('/tmp/*') + glob.glob('./*'), input())"),
    block("print(input())\nwhile True: pass"),
    block("raise SystemExit(input())"),
]


@pytest.mark.parametrize("roles", ["team", "single"])
@pytest.mark.parametrize("stop", ["correct", "budget"])
def test_no_program_brings_a_hidden_test_to_light(roles: str, stop: str, sandbox: Sandbox) -> None:
    """UC-014, UC-077, UC-082: spies run on the hidden inputs, and say what they saw by every way there is."""
    kept = replace(KEPT, cpu_s=0.3)
    env = game(sandbox, kept, roles=roles, stop=stop, max_cycles=20)
    for spy in SPIES:
        for reply in (cases(("x", "y"), ("z", "y")), spy):
            env.step(reply)
            for agent in env.agents:
                seen = env.observe(agent) + str(env.state())
                assert not [text for text in (*SENTINELS, *SECRETS, "mutant sentinel") if text in seen]


def test_a_leak_would_be_seen(sandbox: Sandbox) -> None:
    """Negative control of the test above and of the kit's: a statement that tells a hidden input."""
    leaky = replace(KEPT, statement=f"The hidden input is {SENTINELS[0]}.")
    assert SENTINELS[0] in game(sandbox, leaky).observe("tester_0")


class Tells:
    """A player that says what is hidden."""

    name = "tells"

    def act(self, env: Env, agent: str, observation: str) -> str:
        hidden = max((case.stdin.strip() for case in env.unwrapped.snapshot.problem.hidden), key=len)
        return cases((hidden, "0"))


def test_no_hidden_test_is_in_an_observation_of_any_episode(sandbox: Sandbox) -> None:
    """UC-014: over 500 generated episodes at full size, whoever plays. What an agent says itself is no leak."""
    told = 0
    for index in range(scaled(fast=12, long=500)):
        rng = random.Random(index)
        options: dict[str, Any] = {
            "style": rng.choice(["stdio", "function"]),
            "roles": rng.choice(["team", "single"]),
            "difficulty": rng.choice(["easy", "medium", "hard"]),
            "stop": rng.choice(["correct", "agreement", "budget"]),
        }
        env = code_v0.env(sandbox=sandbox, max_cycles=3, **options)
        players: list[Player] = [NoisyOracle(index), *(ReferencePlayer(name, index) for name in ("weak", "random"))]
        player = rng.choice(players)
        episode = play(env, {"all": player}, index=index)
        env.reset(options={"index": index})
        hidden = env.unwrapped.task.secrets(env.unwrapped.snapshot)
        told += len(hidden)
        found = [text for turn in episode.turns for text in hidden if text in turn.observation]
        assert found == []
        tellers = play(env, {"all": Tells()}, index=index)
        if hidden:
            assert any(text in turn.observation for turn in tellers.turns for text in hidden), "negative control"
    assert told > 0


def test_the_conformance_kit_looks_for_hidden_inputs(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
    """Negative control: an observation that ends with a hidden input."""
    from llm_envs.code.task import CodeTask

    honest = CodeTask.observe

    def leaky(self: CodeTask, state: Any, role: str, feedback: str) -> str:
        hidden: str = max((case.stdin for case in state.problem.hidden), key=len)
        return honest(self, state, role, feedback) + hidden

    monkeypatch.setattr(CodeTask, "observe", leaky)
    with pytest.raises(ConformanceError, match="holds the secret"):
        check_env(
            code_v0.env, {"sandbox": sandbox, "difficulty": "hard", "families": "circular_sum"}, only=("secrets",)
        )


def test_the_state_tells_problems_with_other_hidden_tests_apart() -> None:
    task = code_v0.raw_env().task
    one, other = task.load(SUM_STDIO), task.load(replace(SUM_STDIO, hidden=SUM_STDIO.hidden[:3]))
    assert task.text(one) != task.text(other)
    assert not any(case.stdin.strip() in task.text(one) for case in SUM_STDIO.hidden)


def test_the_state_shows_what_has_happened(sandbox: Sandbox) -> None:
    env = game(sandbox)
    env.step(cases(REPEATED))
    env.step(block(NO_REPEATS))
    text = env.state()
    assert "passed: 2" in text
    assert f"program:\n{NO_REPEATS}" in text
    assert "case: '4 4\\n' -> '8\\n'" in text
    assert "case 1: wrong" in text
    assert env.split == Split.TRAIN
