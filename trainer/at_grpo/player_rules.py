"""The rules on roles that are not trained, for `validation`."""

from collections.abc import Iterator
from pathlib import Path

from at_grpo.config import PlayerSection, RoleSection, TrainConfig, changed

PLAYABLE = ("config.yaml", "adapter_config.json")  # one of them is in a checkpoint, and in the folder of an adapter


def player_problems(config: TrainConfig) -> Iterator[str]:
    """The roles that are not trained."""
    if config.roles and not config.trained:
        yield "roles: all have a player, so nothing would be trained; let a policy play one (roles.<role>.policy)."
    for role, player in config.frozen.items():
        section, path = config.roles[role], f"roles.{role}.player"
        if section.policy:
            yield f"roles.{role}.policy={section.policy!r}: has no effect beside {path}; remove one of them."
        kinds = [name for name in ("reference", "checkpoint", "url") if getattr(player, name)]
        if len(kinds) != 1:
            yield f"{path}: must name one of reference, checkpoint and url; it names {' and '.join(kinds) or 'none'}."
            continue
        yield from _kind_problems(role, section, player)


def _kind_problems(role: str, section: RoleSection, player: PlayerSection) -> Iterator[str]:
    """What goes with a reference player, a checkpoint or a server, and what with none of these."""
    path = f"roles.{role}.player"
    if player.url and not player.model:
        yield f"{path}.model='': must be what the server calls the model; {player.url.rstrip('/')}/models lists them."
    for name in () if player.url else changed(player, ("model", "api_key_env", "options")):
        yield f"{path}.{name}: has no effect without {path}.url; remove it."
    if player.reference:
        for name in changed(section, ("temperature", "max_tokens", "stop")):
            yield f"roles.{role}.{name}: has no effect on the reference player {player.reference!r}; remove it."
    if player.checkpoint and not any((Path(player.checkpoint) / name).is_file() for name in PLAYABLE):
        yield (
            f"{path}.checkpoint={player.checkpoint!r}: must be a checkpoint-<step> folder of a run, or the folder of "
            "one adapter."
        )
