"""Agent specifications: the strings that users write, and what they come to."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from llm_envs.core.errors import UsageError, unknown_choice
from llm_envs_bench.agents.references import HUMAN

CHECKPOINT, OPENAI, COMMAND, PYTHON = "checkpoint:", "openai:", "command:", "python:"
FORMS = (HUMAN, CHECKPOINT + "FOLDER", OPENAI + "MODEL@URL", COMMAND + "PROGRAM", PYTHON + "MODULE:FACTORY")
_MARKERS = ("adapter_config.json", "config.yaml")  # one of them is in every folder that the trainer saves weights to


def agent_name(text: str) -> str:
    """The specification in full: `MODEL@URL` is a served model, and a folder of the trainer's a checkpoint.

    Raises:
        UsageError: a URL that holds a password or key, which would end up on the disk.
    """
    if text.startswith((CHECKPOINT, COMMAND, PYTHON)):
        return text
    if not text.startswith(OPENAI) and "@http" in text:
        text = OPENAI + text
    if text.startswith(OPENAI):
        _check_url(text, model_and_url(text)[1])
        return text
    if any((Path(text) / marker).is_file() for marker in _MARKERS):
        return CHECKPOINT + text
    return text


def model_and_url(agent: str) -> tuple[str, str | None]:
    """`openai:MODEL@URL` -> model and URL; the model's name may hold an `@` itself."""
    text = agent.removeprefix(OPENAI)
    place = text.rfind("@http")
    return (text, None) if place < 0 else (text[:place], text[place + 1 :])


def assign_roles(roles: Sequence[str], everyone: str | None, by_role: Mapping[str, str]) -> dict[str, str]:
    """Agent specification of each role: `everyone` plays each role that `by_role` does not name.

    Raises:
        UsageError: a role that does not exist, or one that nobody plays.
    """
    for role in by_role:
        if role not in roles:
            raise unknown_choice("role", role, roles)
    agents = {role: by_role.get(role, everyone) for role in roles}
    empty = [role for role, agent in agents.items() if agent is None]
    if empty:
        raise UsageError(f"agent: nobody plays {', '.join(empty)}; add --agent AGENT, or --role {empty[0]}=AGENT.")
    return {role: agent_name(agent) for role, agent in agents.items() if agent is not None}


def checkpoint_folders(agents: Mapping[str, str]) -> dict[str, Path]:
    """Role -> folder, for the roles that a checkpoint plays."""
    return {
        role: Path(agent.removeprefix(CHECKPOINT)) for role, agent in agents.items() if agent.startswith(CHECKPOINT)
    }


def _check_url(agent: str, url: str | None) -> None:
    parts = urlsplit(url or "")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            f"agent={agent.partition('@')[0]!r}: the URL must hold no user, password or query, since it is written to "
            "run.json; put the key into OPENAI_API_KEY."
        )
