"""OpenEnv's own client against a server of ours; runs in an environment that has openenv. Prints what it found as JSON.

Usage: openenv_client.py URL TOKEN INSTANCES
"""

import asyncio
import json
import sys
import urllib.request
from typing import Any

from openenv.core.env_server.types import (
    EnvironmentMetadata,
    HealthResponse,
    ResetResponse,
    SchemaResponse,
    State,
    StepResponse,
)
from openenv.core.generic_client import GenericEnvClient

REPLY = "<answer>right down right down</answer>"


def headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def ask(url: str, path: str, token: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, headers=headers(token))
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def messages_are_openenvs(url: str, token: str) -> bool:
    """Whether OpenEnv's own models, which take no other fields, read every answer over HTTP."""
    reset = ResetResponse(**ask(url, "/reset", token, {"index": 0, "split": "test", "episode_id": "mine"}))
    assert reset.metadata is not None
    agent = next(iter(reset.metadata["agents"].values()))
    StepResponse(**ask(url, "/step", token, {"action": {"text": ""}, "session_id": reset.metadata["session_id"]}))
    state = State(**ask(url, "/state", agent))
    SchemaResponse(**ask(url, "/schema", token))
    EnvironmentMetadata(**ask(url, "/metadata", token))
    return HealthResponse(**ask(url, "/health", token)).status == "healthy" and state.episode_id == "mine"


def episodes(url: str, token: str, count: int) -> list[Any]:
    """Returns and success of episodes that the synchronous client plays, one session for all of them."""
    found = []
    with GenericEnvClient(base_url=url, headers=headers(token)).sync() as env:
        for index in range(count):
            result = env.reset(index=index, split="test")
            rewards = []
            while not result.done:
                result = env.step({"text": REPLY})
                rewards.append(result.reward)
            found.append([result.metadata["returns"], result.metadata["success"], rewards, env.state()["step_count"]])
    return found


async def teams(url: str, token: str) -> list[str]:
    """What an agent's own client may and may not, while infrastructure's holds the session."""
    told = []
    async with GenericEnvClient(base_url=url, headers=headers(token)) as infrastructure:
        result = await infrastructure.reset(index=0, split="test")
        (agent, own) = next(iter(result.metadata["agents"].items()))
        async with GenericEnvClient(base_url=url, headers=headers(own)) as player:
            result = await player.step({"text": REPLY})
            told.append(f"{agent} acted, reward {result.reward}")
            try:
                await player.reset()
            except RuntimeError as error:
                told.append(str(error))
        told.append(f"steps {(await infrastructure.state())['step_count']}")
    try:
        await GenericEnvClient(base_url=url, headers=headers("wrong")).connect()
    except ConnectionError as error:
        told.append(str(error))
    return told


def main(url: str, token: str, count: str) -> None:
    found = {
        "messages": messages_are_openenvs(url, token),
        "episodes": episodes(url, token, int(count)),
        "teams": asyncio.run(teams(url, token)),
    }
    sys.stdout.write(json.dumps(found))


main(*sys.argv[1:])
