"""What a run amounts to: success, returns, invalid actions, turns, each with its uncertainty."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llm_envs.core.errors import UsageError
from llm_envs.core.roles import role_of
from llm_envs.episode import Episode, Turn
from llm_envs_bench.stats import Estimate, Scores, mean, paired_difference, wilson
from llm_envs_bench.store import Run

USEFUL = "tool_useful"


@dataclass(frozen=True, slots=True)
class Summary:
    """One run in numbers.

    Attributes:
        label: who played.
        success: share of instances solved, with its Wilson interval.
        returns: role -> return of an episode, the mean over the role's agents.
        invalid: role -> share of its turns whose reply held no action; None where it had no turn.
        turns: turns of an episode, all agents together.
        tool_quality: share of the programs that found something useful (infos key `tool_useful`), whether or not
            another agent made use of it; None where no program was run.
        owed: instances without a score: infrastructure failed, or the run was cut short.
    """

    label: str
    success: Estimate
    returns: Mapping[str, Estimate]
    invalid: Mapping[str, float | None]
    turns: Estimate
    tool_quality: float | None
    owed: int


def summarise(run: Run, label: str | None = None) -> Summary:
    """The numbers of a run, under `label` or the agents' names.

    Raises:
        UsageError: a run without a single scored episode.
    """
    episodes = run.episodes
    if not episodes:
        raise UsageError(f"run={str(run.folder)!r}: has no scored episode; resume it with llm-envs eval --resume.")
    return Summary(
        label=label or run.spec.label,
        success=wilson(sum(episode.success for episode in episodes), len(episodes)),
        returns={role: mean(_by_instance(episodes, _return_of(role))) for role in run.spec.agents},
        invalid={role: _invalid_share(episodes, role) for role in run.spec.agents},
        turns=mean(_by_instance(episodes, lambda episode: len(episode.turns))),
        tool_quality=_share([bool(turn.info[USEFUL]) for turn in _turns(episodes) if USEFUL in turn.info]),
        owed=run.owed,
    )


def success_difference(before: Run, after: Run) -> Estimate:
    """How much more often `after` succeeds, paired over the instances that both runs scored."""
    common = {episode.index for episode in before.episodes} & {episode.index for episode in after.episodes}
    first, second = (
        [pair for pair in _by_instance(run.episodes, lambda episode: episode.success) if pair[0] in common]
        for run in (before, after)
    )
    if not common or _game(before) != _game(after):
        raise UsageError(f"runs={before.folder}, {after.folder}: must hold the same instances of the same environment.")
    return paired_difference(first, second, rates=True)


def _invalid_share(episodes: Sequence[Episode], role: str) -> float | None:
    return _share([turn.invalid is not None for turn in _turns(episodes) if turn.role == role])


def _share(verdicts: Sequence[bool]) -> float | None:
    return sum(verdicts) / len(verdicts) if verdicts else None


def _turns(episodes: Sequence[Episode]) -> Iterator[Turn]:
    return (turn for episode in episodes for turn in episode.turns)


def _return_of(role: str) -> Callable[[Episode], float]:
    def score(episode: Episode) -> float:
        values = [value for agent, value in episode.returns.items() if role_of(agent) == role]
        return sum(values) / len(values)

    return score


def _by_instance(episodes: Sequence[Episode], score: Callable[[Episode], float]) -> Scores:
    return [(episode.index, float(score(episode))) for episode in episodes if episode.index is not None]


def _game(run: Run) -> tuple[str, dict[str, object], str]:
    return run.spec.env, dict(run.spec.options), run.spec.split
