"""An evaluation by verifiers' own runner; runs in an environment that has it. Prints what it found as JSON.

Usage: verifiers_eval.py ENDPOINT FOLDER ENVIRONMENT, the last one as JSON
"""

import asyncio
import json
import sys
from typing import Any

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig


def told(episode: Any) -> dict[str, Any]:
    return {
        "task": episode.task.key,
        "ok": episode.ok,
        "errors": [error.message for error in episode.errors],
        "rewards": [trace.reward for trace in episode.traces],
        "metrics": [trace.metrics for trace in episode.traces],
        "seats": [[trace.agent.name, trace.info.get("agent")] for trace in episode.traces],
        "messages": [
            [message.content for branch in trace.branches for message in branch.messages] for trace in episode.traces
        ],
    }


def main(url: str, folder: str, environment: str) -> None:
    config = EvalConfig(
        env=json.loads(environment),
        model="tiny",
        client={"type": "eval", "base_url": url, "api_key_var": "NO_KEY"},
        push=False,
        rich=None,
        output_dir=folder,
    )
    sys.stdout.write(json.dumps([told(episode) for episode in asyncio.run(run_eval(config))]))


main(*sys.argv[1:])
