"""What a vLLM server does for a run, done by transformers in the tests' own process: adapters by name, real tokens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from at_grpo.config import PolicySection
from at_grpo.inference.base import Completion, SampleRequest, SamplingParams
from at_grpo.inference.base_model import load_base
from at_grpo.inference.plan import BASE
from at_grpo.inference.transformers import TransformersSampler
from at_grpo.policies import build_policies
from at_grpo.tokenization import stop_token_ids
from tests.trainer.inference.http_server import serving

ZERO = "zero"  # an adapter that changes nothing


@dataclass(slots=True)
class StandIn:
    """The server and what it was asked: requests of each model."""

    url: str
    asked: list[tuple[str, tuple[int, ...], int]]


@contextmanager
def stand_in(base: Path) -> Iterator[StandIn]:
    """A server of this base model, for as long as the context is open."""
    plain, tokenizer = load_base(str(base), "float32")
    model: Any = build_policies(plain, {ZERO: PolicySection(rank=1)}, seed=0)
    sampler = TransformersSampler(
        model,
        stop_token_ids=stop_token_ids(plain.generation_config, tokenizer),
        pad_id=tokenizer.pad_token_id,
        merge=False,
    )
    server = StandIn("", [])

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.method == "POST" else {}
        match request.path:
            case "/v1/models":
                return web.json_response({"data": [{"id": BASE, "max_model_len": 4096}]})
            case "/v1/load_lora_adapter":
                model.load_adapter(body["lora_path"], adapter_name=body["lora_name"])
                sampler.versions = dict.fromkeys(model.peft_config, 0)
            case "/v1/unload_lora_adapter":
                model.delete_adapter(body["lora_name"])
            case "/forget":
                for name in [name for name in model.peft_config if name != ZERO]:
                    model.delete_adapter(name)
            case "/v1/completions":
                server.asked.append((body["model"], tuple(body["prompt"]), body["seed"]))
                return web.json_response({"model": body["model"], "choices": _choices(sampler, body)})
        return web.json_response({})

    with serving(handle) as url:
        server.url = url
        yield server


def _choices(sampler: TransformersSampler, body: dict[str, Any]) -> list[dict[str, Any]]:
    name = ZERO if body["model"] == BASE else body["model"]
    params = SamplingParams(body["temperature"], body["max_tokens"], tuple(body["stop"]))
    (completions,) = sampler.generate([SampleRequest(name, tuple(body["prompt"]), body["n"], body["seed"], params)])
    return [_choice(index, completion) for index, completion in enumerate(completions)]


def _choice(index: int, completion: Completion) -> dict[str, Any]:
    return {
        "index": index,
        "token_ids": completion.token_ids,
        "logprobs": {"token_logprobs": completion.logprobs},
        "finish_reason": completion.finish_reason,
    }
