"""`MathTask`: the rules, rewards and roles of the math environment as pure functions of a state."""

import random
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import UsageError, require, unknown_choice
from llm_envs.core.jobs import Job
from llm_envs.core.names import Names
from llm_envs.core.parsing import Unparsed
from llm_envs.core.task import Split, Transition
from llm_envs.core.tool_use import PROGRAM_OUTPUT, Script, failure, output
from llm_envs.data.collection import Collection
from llm_envs.data.source import choose_source
from llm_envs.math.datasets import DATA_SETS, questions
from llm_envs.math.families.generator import generate
from llm_envs.math.jobs import JudgeAnswer, Judgement, JudgeProgram, Ran
from llm_envs.math.judging import Verdict, check_gold
from llm_envs.math.observation import Stop, View, observe_full, observe_local, rules
from llm_envs.math.players import PLAYERS, reference_reply
from llm_envs.math.question import Question
from llm_envs.math.replies import Answer, read_reply
from llm_envs.math.selection import select_families
from llm_envs.math.state import State, render
from llm_envs.sandbox.base import Program, Status

LEVELS = {"easy": 1, "medium": 2, "hard": 3}
PROGRAM_CPU_S, PROGRAM_WALL_S = 5.0, 15.0  # room for a search that a model writes

Action = Answer | Script


class Team(StrEnum):
    """Who plays: a tool and a reasoner, or a single agent with the same tool access."""

    TEAM = "team"
    SINGLE = "single"


_ROLES = {Team.TEAM: ("tool", "reasoner"), Team.SINGLE: ("solver",)}
_FIELDS = ("text", "answer", "program")  # of a question that a caller gives


class MathTask:
    """Questions of mathematics as a pure task. See `llm_envs.math_v0` for the meaning of the options."""

    players = tuple(PLAYERS)

    def __init__(
        self,
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
    ) -> None:
        """Check the options, and load the data set where they name one.

        Raises:
            UsageError: an option outside what is allowed, or topics and families that have nothing in common.
            ImportError, DataError: see `llm_envs.math.datasets.questions`.
        """
        if difficulty not in LEVELS:
            raise unknown_choice("difficulty", difficulty, LEVELS)
        if stop not in set(Stop):
            raise unknown_choice("stop", stop, Stop)
        if observation not in set(View):
            raise unknown_choice("observation", observation, View)
        if roles not in set(Team):
            raise unknown_choice("roles", roles, Team)
        self.level = LEVELS[difficulty]
        self.families = select_families(topics, families)
        self.stop, self.view = Stop(stop), View(observation)
        self.roles = _ROLES[Team(roles)]
        self._source = choose_source(
            tuple(DATA_SETS), dataset=dataset, path=path, config=config, topics=topics, families=families
        )
        if self._source is not None:
            questions(self._source)  # whatever is wrong with it shows now, not in the first episode

    # ---- instances

    @property
    def data(self) -> Collection[Question] | None:
        """The data set, with its sizes and faults; None where questions are generated."""
        return None if self._source is None else questions(self._source)

    def instance(self, split: Split, index: int) -> State:
        if (data := self.data) is not None:
            return State(data.item(split, index))
        return _start(self.families, self.level, split, index)

    def load(self, description: Any) -> State:
        """The state of a question that is given as `{"text": ..., "answer": ...}`, with or without a `program`."""
        require(isinstance(description, Mapping), "options['task']", description, '{"text": ..., "answer": ...}')
        for key in description:
            if key not in _FIELDS:
                raise unknown_choice("options['task']", key, _FIELDS)
        fields = {key: description.get(key, "") for key in _FIELDS}
        for key, value in fields.items():
            filled = isinstance(value, str) and (key == "program" or bool(value.strip()))
            require(filled, f"options['task'][{key!r}]", value, "text, and not empty")
        if unreadable := check_gold(fields["answer"]):
            given = f"options['task']['answer']={fields['answer']!r}"
            raise UsageError(f"{given}: must be an answer that the judge can read ({unreadable}).")
        return State(Question("given", **fields))

    # ---- turns

    def observe(self, state: State, role: str, feedback: str) -> str:
        if self.view is View.LOCAL:
            return observe_local(state, role, feedback)
        return observe_full(state, role, feedback, self.stop)

    def parse(self, state: State, role: str, text: str) -> Action | Unparsed:
        return read_reply(role, text)

    def jobs(self, state: State, role: str, action: Action) -> tuple[Job, ...]:
        if isinstance(action, Answer):
            # A team agrees where answer and program do; an agent by itself also with what it answered before.
            known = (state.output,) if role == "reasoner" else (state.output, state.answer)
            return (JudgeAnswer(action.text, state.question, self._others(known)),)
        program = Program(action.code, cpu_s=PROGRAM_CPU_S, wall_s=PROGRAM_WALL_S, output_bytes=PROGRAM_OUTPUT)
        return (JudgeProgram(program, state.question, self._others((state.answer,))),)

    def _others(self, known: tuple[str | None, ...]) -> tuple[str, ...]:
        """What an answer is compared with; nothing unless agreement matters, since each comparison costs."""
        if self.stop is not Stop.AGREEMENT:
            return ()
        return tuple(dict.fromkeys(answer for answer in known if answer is not None))

    def apply(self, state: State, role: str, action: Action, results: Sequence[Any]) -> Transition[State]:
        if isinstance(action, Answer):
            return _answer(state, action, results[0])
        return _suggest(state, results[0])

    # ---- the state as a whole

    def potential(self, state: State) -> float:
        return float(state.right)

    def solved(self, state: State) -> bool:
        return state.right

    def finished(self, state: State) -> bool:
        if self.stop is Stop.CORRECT:
            return state.right
        return state.agreed and self.stop is Stop.AGREEMENT

    def text(self, state: State) -> str:
        return render(state)

    def secrets(self, state: State) -> tuple[str, ...]:
        """The right answer, unless it stands in the question or the rules, or an agent has come to it by itself."""
        gold = state.question.answer
        known = [rules(role, self.stop) for role in self.roles]
        known += [state.question.text, state.report, state.output or "", state.answer or ""]
        return () if any(gold in text for text in known) else (gold,)

    def reference(self, player: str, state: State, role: str, rng: random.Random) -> str:
        return reference_reply(player, state, role, rng, full=self.view is View.FULL)


@lru_cache(maxsize=1024)  # K branches of an instance and repeated evaluations share the question
def _start(families: tuple[str, ...], level: int, split: Split, index: int) -> State:
    return State(generate(families, level, split, index))


def _answer(state: State, answer: Answer, found: Judgement) -> Transition[State]:
    after = _judged(state, found)._replace(answer=answer.text, right=_right_after(state, found.verdict))
    return Transition(after, {}, _news(after, found))


def _suggest(state: State, ran: Ran) -> Transition[State]:
    did = {"program_ran": ran.outcome.status is Status.OK}
    if isinstance(ran.output, Unparsed) or ran.judgement is None:
        after = state._replace(output=None, report=_report(ran), agreed=False)
        return Transition(after, {"program": -1.0}, did | {"tool_useful": False})
    found = ran.judgement
    after = _judged(state, found)._replace(output=ran.output, report=_report(ran))
    # Were an output without a verdict free, printing noise would beat an honest mistake.
    penalties = {"shortfall": float(_right_after(state, found.verdict)) - 1.0}
    return Transition(after, penalties, did | {"tool_useful": found.verdict is Verdict.RIGHT} | _news(after, found))


def _right_after(state: State, verdict: Verdict) -> bool:
    """Whether the team is right once this is its answer: one without a verdict leaves that as it was, so that it is
    never paid, and never costs what was earned before.
    """
    return state.right if verdict is Verdict.UNDECIDED else verdict is Verdict.RIGHT


def _judged(state: State, found: Judgement) -> State:
    undecided = state.undecided + (found.verdict is Verdict.UNDECIDED)
    return state._replace(agreed=found.agrees, undecided=undecided)


def _news(after: State, found: Judgement) -> dict[str, Any]:
    return {
        "verdict": str(found.verdict),
        "undecided": found.verdict is Verdict.UNDECIDED,
        "undecided_so_far": after.undecided,
    }


def _report(ran: Ran) -> str:
    """What a program did, in words for its author."""
    if failed := failure(ran.outcome):
        return f"{failed}."
    if isinstance(ran.output, Unparsed):
        return f"{ran.output.reason}, which is no answer: {output(ran.outcome)}."
    return f"printed: {ran.output}"
