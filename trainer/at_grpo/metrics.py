"""What one iteration's groups say, as flat numbers in TRL's manner: one pure function, keys by role."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from at_grpo.samples import TEAM_RETURN, Group, Sample

# Infos that are no `info/` metric: they have one of their own, or are no property of the reply.
OWN_METRIC = frozenset({"role", "success", "invalid", "team_reward", "local_reward", TEAM_RETURN})
SHORTEST_LOOP = 8  # tokens; a straight walk may repeat a move a few times


def step_metrics(groups: Iterable[Group]) -> dict[str, float]:
    """Metrics of one iteration's scored groups.

    Per role:
        reward, reward_std: mean, and mean over groups of the std within.
        team_reward, local_reward, invalid_rate, info/<key>: means of what the environment says of each reply.
        constant_groups, constant_groups/cycle_<t>: share of groups without any signal, and the same by turn.
        completion_length, completion_length_min, completion_length_max: tokens.
        truncated: share of replies cut by the token limit.
        samples, groups, lost: counts; `lost` are siblings that infrastructure took.
        turns: mean turns an agent took in an episode.
        distinct_actions: mean share of different replies in a group.
        identical_groups: share of groups whose replies are all the same.
        repeated_token: share of replies that are one token over and over.

    A number that the environment does not give is left out.

    Raises:
        ValueError: groups that have no advantages yet.
    """
    by_role: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_role[group.role].append(group)
    metrics: dict[str, float] = {}
    for role, own in by_role.items():
        values = {**_rewards(own), **_signal(own), **_replies(own), **_counts(own), **_infos(own)}
        metrics |= {f"{role}/{key}": value for key, value in values.items() if not math.isnan(value)}
    return metrics


def version_lag(groups: Sequence[Group]) -> dict[str, float]:
    """How many versions older than the ones that are trained the weights were that sampled an iteration: mean over its
    samples, and most. 0 with `rollout.staleness` 0.
    """
    lags = [group.key.step - sample.version for group in groups for sample in group.samples]
    return {"version_lag": _mean(lags), "version_lag_max": float(max(lags))} if lags else {}


def sampling_speed(groups: Sequence[Group], seconds: float) -> dict[str, float]:
    """Tokens that each policy's servers sampled a second while an iteration was played."""
    tokens: Counter[str] = Counter()
    for sample in _samples(groups):
        tokens[sample.policy] += len(sample.completion_ids)
    return {f"{policy}/tokens_per_second": count / seconds for policy, count in tokens.items()}


def _rewards(groups: Sequence[Group]) -> dict[str, float]:
    """A sibling counts once, however many turns its episode had (trajectory grouping)."""
    by_group = [list({sample.sibling: sample.reward for sample in group.samples}.values()) for group in groups]
    return {
        "reward": _mean(reward for rewards in by_group for reward in rewards),
        "reward_std": _mean(_std(rewards) for rewards in by_group),
        "team_reward": _mean(float(sample.info.get("team_reward", math.nan)) for sample in _samples(groups)),
        "local_reward": _mean(float(sample.info.get("local_reward", math.nan)) for sample in _samples(groups)),
        "invalid_rate": _mean(sample.info.get("invalid") is not None for sample in _samples(groups)),
    }


def _signal(groups: Sequence[Group]) -> dict[str, float]:
    by_cycle: dict[int, list[bool]] = defaultdict(list)
    for group in groups:
        advantages = [sample.advantage for sample in group.samples]
        if any(map(math.isnan, advantages)):
            raise ValueError(f"{group.key}: has no advantages; pass the group through advantages.score first")
        by_cycle[group.key.cycle].append(not any(advantages))
    metrics = {"constant_groups": _mean(flag for flags in by_cycle.values() for flag in flags)}
    return metrics | {f"constant_groups/cycle_{cycle}": _mean(flags) for cycle, flags in sorted(by_cycle.items())}


def _replies(groups: Sequence[Group]) -> dict[str, float]:
    samples = _samples(groups)
    lengths = [len(sample.completion_ids) for sample in samples]
    distinct = [_distinct_and_all(group) for group in groups]
    return {
        "completion_length": _mean(lengths),
        "completion_length_min": float(min(lengths)),
        "completion_length_max": float(max(lengths)),
        "truncated": _mean(sample.truncated for sample in samples),
        "repeated_token": _mean(is_one_token(sample.completion_ids) for sample in samples),
        "distinct_actions": _mean(different / siblings for different, siblings in distinct),
        "identical_groups": _mean(different == 1 and siblings > 1 for different, siblings in distinct),
    }


def _counts(groups: Sequence[Group]) -> dict[str, float]:
    turns = Counter((group.key.instance, group.key.agent, line) for group in groups for line in _lines(group))
    return {
        "samples": float(len(_samples(groups))),
        "groups": float(len(groups)),
        "turns": _mean(turns.values()),
        "lost": float(sum(group.lost for group in groups)),
    }


def _lines(group: Group) -> Iterable[int]:
    """The episodes that the group's chosen replies belong to: the tree's one line, or a line a sibling."""
    chosen = [sample.sibling for sample in group.samples if sample.chosen]
    return chosen if len(chosen) > 1 else [0]


def _infos(groups: Sequence[Group]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for sample in _samples(groups):
        for key, value in sample.info.items():
            if key not in OWN_METRIC and isinstance(value, (int, float)) and math.isfinite(value):
                values[f"info/{key}"].append(float(value))
    return {key: _mean(numbers) for key, numbers in sorted(values.items())}


def is_one_token(completion_ids: Sequence[int]) -> bool:
    """Whether a reply is one token over and over, its stop token aside: the look of a collapsed policy."""
    body = completion_ids[:-1]
    return len(body) >= SHORTEST_LOOP and len(set(body)) == 1


def _distinct_and_all(group: Group) -> tuple[int, int]:
    """How many siblings differ in what they said, and how many there are."""
    ordered = sorted(group.samples, key=lambda sample: sample.sibling)
    said = [
        tuple(sample.completion_ids for sample in samples)
        for _, samples in groupby(ordered, key=lambda sample: sample.sibling)
    ]
    return len(set(said)), len(said)


def _samples(groups: Sequence[Group]) -> list[Sample]:
    return [sample for group in groups for sample in group.samples]


def _mean(values: Iterable[float]) -> float:
    """Mean of the numbers that are there; NaN where none is."""
    numbers = [float(value) for value in values if not math.isnan(value)]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _std(rewards: Sequence[float]) -> float:
    """Sample standard deviation, as the advantages use it; 0 for a group of one."""
    if len(rewards) < 2:
        return 0.0
    mean = math.fsum(rewards) / len(rewards)
    return math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / (len(rewards) - 1))


def step_times(measured: Mapping[str, float], total: float, train: float) -> dict[str, float]:
    """Where an iteration's seconds went, beside its `time/rollout` and `time/publish` where those were measured.

    Args:
        measured: metrics of the collection.
        total: seconds of the iteration up to its gradients.
        train: of these, in forward and backward passes.

    Returns:
        time/train: as given; time/wait: without anything to train on; time/hidden_share: the share of the shorter of
        rollouts and training that went on behind the other one: 0 one after the other, 1 all of it.
    """
    times = {"time/train": train, "time/wait": total - train - measured.get("time/publish", 0.0)}
    shorter = min(train, measured.get("time/rollout", 0.0))
    if shorter > 0:
        hidden = (measured["time/rollout"] - times["time/wait"]) / shorter
        times["time/hidden_share"] = min(1.0, max(0.0, hidden))
    return times


def roles_of(metrics: Mapping[str, float]) -> list[str]:
    """The roles that a step's metrics speak of."""
    return [key.removesuffix("/reward") for key in metrics if key.endswith("/reward") and key.count("/") == 1]
