"""What a run amounts to: success, returns, invalid actions, turns, optimality, each with its uncertainty."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from llm_envs.core.errors import UsageError
from llm_envs.core.roles import role_of
from llm_envs.episode import Episode, Turn
from llm_envs_bench.costs import RoleCost, role_costs
from llm_envs_bench.optimality import excess
from llm_envs_bench.prices import Price
from llm_envs_bench.stats import Estimate, Scores, mean, paired_difference, pass_at_k, pass_hat_k, rate, share
from llm_envs_bench.store import Run

USEFUL = "tool_useful"


@dataclass(frozen=True, slots=True)
class PassRate:
    """The chance that one of `k` samples is right (pass@k), and that all of them are (pass^k)."""

    k: int
    once: Estimate
    always: Estimate


@dataclass(frozen=True, slots=True)
class Summary:
    """One entry of a run in numbers.

    Attributes:
        entry: name of the entry.
        label: who played.
        success: share of episodes solved.
        returns: role -> return of an episode, the mean over the role's agents.
        invalid: role -> share of its turns whose reply held no action; None where it had no turn.
        turns: turns of an episode, all agents together.
        passes: for each k up to the number of samples; empty where there is one sample, or some instance lacks any.
        tool_quality: share of the programs that found something useful (infos key `tool_useful`), whether or not
            another agent made use of it; None where no program was run.
        gap: how much more a solved episode cost than the best possible, in parts of that; None where no solved episode
            has a known optimum.
        costs: role -> what its replies took; empty where nothing was timed.
        owed: episodes without a score: infrastructure failed, or the run was cut short.
    """

    entry: str
    label: str
    success: Estimate
    returns: Mapping[str, Estimate]
    invalid: Mapping[str, Estimate | None]
    turns: Estimate
    passes: tuple[PassRate, ...]
    tool_quality: Estimate | None
    gap: Estimate | None
    costs: Mapping[str, RoleCost]
    owed: int


@dataclass(frozen=True, slots=True)
class Estimators:
    """How success and return are estimated."""

    rate: Callable[[Scores], Estimate] = rate
    mean: Callable[[Scores], Estimate] = mean


def summarise(
    run: Run, label: str | None = None, *, prices: Mapping[str, Price] | None = None, by: Estimators | None = None
) -> Summary:
    """The numbers of a run, under `label` or the agents' names.

    Args:
        run: one entry of a run folder.
        label: its name.
        prices: model -> price.
        by: how they are estimated.

    Raises:
        UsageError: a run without a single scored episode.
    """
    episodes, by = run.episodes, by or Estimators()
    if not episodes:
        raise UsageError(f"run={str(run.folder)!r}: has no scored episode; resume it with llm-envs eval --resume.")
    solved = by_instance(episodes, lambda episode: episode.success)
    useful = _counted(episodes, lambda turn: bool(turn.info[USEFUL]), lambda turn: USEFUL in turn.info)
    return Summary(
        entry=run.spec.entry,
        label=label or run.spec.label,
        success=by.rate(solved),
        returns={role: by.mean(by_instance(episodes, _return_of(role))) for role in run.spec.agents},
        invalid={role: _invalid_share(episodes, role) for role in run.spec.agents},
        turns=mean(by_instance(episodes, lambda episode: len(episode.turns))),
        passes=_pass_rates(solved, run.spec.samples),
        tool_quality=useful,
        gap=_gap(episodes),
        costs=role_costs(run, prices or {}),
        owed=run.owed,
    )


def success_difference(before: Run, after: Run) -> Estimate:
    """How much more often `after` succeeds, paired over the instances that both runs scored."""
    return score_difference(before, after, lambda episode: episode.success, rates=True)


def return_difference(before: Run, after: Run, role: str) -> Estimate:
    """How much more a role earns in `after`, paired over the instances that both runs scored."""
    return score_difference(before, after, _return_of(role), rates=False)


def score_difference(before: Run, after: Run, score: Callable[[Episode], float], *, rates: bool) -> Estimate:
    """Mean difference of a score, paired over the instances that both runs scored; see `paired_difference`."""
    common = common_instances([before, after])
    first, second = (
        [pair for pair in by_instance(run.episodes, score) if pair[0] in common] for run in (before, after)
    )
    return paired_difference(first, second, rates=rates)


def common_instances(runs: Sequence[Run]) -> frozenset[int]:
    """The instances that every run has scored.

    Raises:
        UsageError: none, or runs of different environments.
    """
    common = frozenset.intersection(*(frozenset(index for index, _ in by_instance(run.episodes)) for run in runs))
    if not common or any(_game(run) != _game(runs[0]) for run in runs):
        folders = ", ".join(str(run.folder) for run in runs)
        raise UsageError(f"runs={folders}: must hold the same instances of the same environment.")
    return common


def by_instance(episodes: Sequence[Episode], score: Callable[[Episode], float] = lambda _: 1.0) -> Scores:
    """(instance, score) of each episode."""
    return [(episode.index, float(score(episode))) for episode in episodes if episode.index is not None]


def _pass_rates(solved: Scores, samples: int) -> tuple[PassRate, ...]:
    found = []
    for k in range(1, samples + 1):
        once, always = pass_at_k(solved, k), pass_hat_k(solved, k)
        if samples > 1 and once is not None and always is not None:
            found.append(PassRate(k, once, always))
    return tuple(found)


def _invalid_share(episodes: Sequence[Episode], role: str) -> Estimate | None:
    return _counted(episodes, lambda turn: turn.invalid is not None, lambda turn: turn.role == role)


def _counted(
    episodes: Sequence[Episode], hit: Callable[[Turn], bool], among: Callable[[Turn], bool]
) -> Estimate | None:
    """The share of hits among turns, clustered by instance; None where there is no such turn."""
    verdicts = [(episode.index or 0, [hit(turn) for turn in episode.turns if among(turn)]) for episode in episodes]
    if not any(found for _, found in verdicts):
        return None
    return share([(index, float(sum(found)), float(len(found))) for index, found in verdicts])


def _gap(episodes: Sequence[Episode]) -> Estimate | None:
    found = [(episode.index or 0, gap) for episode in episodes if (gap := excess(episode)) is not None]
    return mean(found) if found else None


def _return_of(role: str) -> Callable[[Episode], float]:
    def score(episode: Episode) -> float:
        values = [value for agent, value in episode.returns.items() if role_of(agent) == role]
        return sum(values) / len(values)

    return score


def _game(run: Run) -> tuple[str, dict[str, object], str]:
    return run.spec.env, dict(run.spec.options), run.spec.split
