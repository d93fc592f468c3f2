"""`llm-envs play ENV`: watch an episode, or play a role of it."""

import argparse
from pathlib import Path

from llm_envs.commands.arguments import add_env, add_instance, env_options, make_env, pairs
from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs.core.roles import role_of
from llm_envs.episode import Ending, Episode, Turn, write_episodes
from llm_envs.play import play
from llm_envs.players import Env, Player, ReferencePlayer
from llm_envs.players.human import HumanPlayer
from llm_envs.registry import normalise_id

HELP = "watch reference players, or play a role in the terminal"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which environment, which instance, who plays."""
    add_env(parser)
    add_instance(parser)
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="ROLE=PLAYER",
        help="who plays a role: human, or a reference player such as oracle; the role `all` stands for those not named "
        "(default: all=oracle, or what the environment has instead)",
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="append the episode to a JSONL file")


def run(args: argparse.Namespace) -> int:
    """Play; 0 whoever wins, 1 if the sandbox failed."""
    options = env_options(args.set)
    env = make_env(args.env, {"render_mode": "human", **options})
    known = _reference_players(env)
    names = {"all": "oracle" if "oracle" in known else known[0], **pairs("role", args.role)}
    seats = {role: _player(name, known, args.seed or 0) for role, name in names.items()}
    played_by = {role: names.get(role, names["all"]) for role in map(role_of, env.possible_agents)}
    watched = "human" not in played_by.values()  # a person sees what the role may see, and the whole state at the end

    def follow(turn: Turn) -> None:
        said = "" if played_by[turn.role] == "human" else f"\n{turn.reply}"
        print(f"\n[cycle {turn.cycle + 1}] {turn.agent} ({played_by[turn.role]}){said}")
        why = f", not valid: {turn.invalid}" if turn.invalid else ""
        print(f"reward {turn.reward:+.3f} (team {turn.team_reward:+.3f}, local {turn.local_reward:+.3f}{why})")
        if watched:
            env.render()

    index = 0 if args.index is None and args.seed is None else args.index
    episode = play(
        env,
        seats,
        env_id=normalise_id(args.env),
        split=args.split,
        index=index,
        seed=args.seed,
        options=options,
        on_turn=follow,
        on_start=env.render if watched else None,
    )
    if not watched:
        env.render()
    print(f"\n{_summary(episode)}")
    if args.save:
        write_episodes(args.save, [episode])
    return 1 if episode.ending is Ending.ERROR else 0


def _reference_players(env: Env) -> tuple[str, ...]:
    """The players that the environment brings. Raises `UsageError` where it is no text environment."""
    task = getattr(env.unwrapped, "task", None)
    if task is None:
        raise UsageError(f"env {env}: is no text environment; llm_envs.wrappers.textualize makes one of it.")
    players: tuple[str, ...] = task.players
    return players


def _player(name: str, known: tuple[str, ...], seed: int) -> Player:
    if name == "human":
        return HumanPlayer()
    if name not in known:
        raise unknown_choice("player", name, ("human", *known))
    return ReferencePlayer(name, seed)


def _summary(episode: Episode) -> str:
    returns = ", ".join(f"{agent} {value:+.3f}" for agent, value in episode.returns.items())
    cycles = episode.turns[-1].cycle + 1 if episode.turns else 0
    if episode.ending is Ending.ERROR:
        return f"the sandbox failed in cycle {cycles + 1}: {episode.error}"
    verdict = "success" if episode.success else "no success"
    return f"{verdict} after {cycles} {'cycle' if cycles == 1 else 'cycles'} ({episode.ending}); returns: {returns}"
