"""How far a solved episode was from the best possible, where its environment says what that is."""

from collections.abc import Sequence

from llm_envs.episode import Episode, Turn


def excess(episode: Episode) -> float | None:
    """What the episode cost beyond the optimum, in parts of the optimum; 0 is optimal.

    None for an episode that was not solved, and where the environment states no optimum.
    """
    if not episode.success:
        return None
    for measure in (_path_cost, _pushes):
        found = measure(episode.turns)
        if found is not None:
            cost, optimum = found
            return (cost - optimum) / optimum if optimum > 0 else None
    return None


def _path_cost(turns: Sequence[Turn]) -> tuple[float, float] | None:
    """Plan-Path tells the cost of all moves so far and that of a cheapest path."""
    for turn in reversed(turns):
        if "optimal_cost" in turn.info:
            return float(turn.info["cost"]), float(turn.info["optimal_cost"])
    return None


def _pushes(turns: Sequence[Turn]) -> tuple[float, float] | None:
    """Sokoban tells the pushes of each turn and the fewest of the whole room, None where the search did not end."""
    moved = [turn.info for turn in turns if "optimal_pushes" in turn.info]
    if not moved or moved[-1]["optimal_pushes"] is None:
        return None
    return float(sum(info["pushes"] for info in moved)), float(moved[-1]["optimal_pushes"])
