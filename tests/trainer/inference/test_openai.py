"""A model behind an OpenAI-compatible server as a player, with a real HTTP server in its place."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from at_grpo.config import PlayerSection, RoleSection, TrainConfig
from at_grpo.inference.base import SamplerError, SamplingParams
from at_grpo.inference.endpoint import Endpoint
from at_grpo.inference.frozen import chat_player, frozen_players
from at_grpo.inference.openai import ChatPlayer, check_trainable
from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages
from llm_envs.episode import Episode
from llm_envs.play import aplay
from llm_envs.players import ReferencePlayer
from tests.trainer.inference.http_server import Handler, serving
from tests.trainer.toy_env import count_env

KEY = "sk-of-nobody"


def completion(content: Any, **message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **message}}]}


def saying(said: Any, status: int = 200) -> tuple[Handler, list[dict[str, Any]]]:
    """A handler that always answers the same, and what it was asked."""
    asked: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        sent = {"path": request.path, "key": request.headers.get("Authorization"), "body": await request.json()}
        asked.append(sent)
        return web.json_response(said, status=status)

    return handle, asked


def ask(said: Any, status: int = 200, **settings: Any) -> tuple[str, dict[str, Any]]:
    """The reply to one observation where the server says this, and what it was asked."""
    handler, asked = saying(said, status)
    with serving(handler) as url:
        endpoint = Endpoint(f"{url}/v1", patience_s=0.1, api_key=settings.pop("key", ""))
        params = settings.pop("params", SamplingParams(temperature=0.7, max_tokens=9))
        reply = asyncio.run(ChatPlayer(endpoint, "m", params, 0, **settings).ask("where to?", 2**40 + 5))
    return reply, asked[0]


# ---- what is asked


def test_the_observation_goes_out_as_the_chat_that_everybody_gets() -> None:
    reply, asked = ask(completion("up"))
    assert reply == "up"
    assert asked["path"] == "/v1/chat/completions"
    assert asked["body"] == {
        "model": "m",
        "messages": to_messages("where to?"),
        "temperature": 0.7,
        "max_tokens": 9,
        "seed": 5,
    }
    assert asked["key"] is None


def test_stop_strings_and_options_are_sent_and_null_leaves_a_field_out() -> None:
    options = {"max_tokens": None, "max_completion_tokens": 30, "top_p": 0.9}
    _, asked = ask(completion("up"), params=SamplingParams(stop=("</a>",)), options=options)
    body = asked["body"]
    assert (body["stop"], body["max_completion_tokens"], body["top_p"]) == (["</a>"], 30, 0.9)
    assert "max_tokens" not in body


def test_the_key_comes_from_the_environment_and_is_sent_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THE_TESTS", KEY)
    handler, asked = saying(completion("3"))
    with serving(handler) as url:
        player = PlayerSection(url=f"{url}/v1", model="m", api_key_env="KEY_OF_THE_TESTS")
        config = TrainConfig(roles={"tool": RoleSection(player=player)})
        asyncio.run(chat_player(config, "tool", player).ask("x", 0))
    assert asked[0]["key"] == f"Bearer {KEY}"


def test_a_key_that_is_not_there_is_one_line_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEY_OF_THE_TESTS", raising=False)
    player = PlayerSection(url="http://127.0.0.1:9/v1", model="m", api_key_env="KEY_OF_THE_TESTS")
    with pytest.raises(UsageError, match=r"roles\.tool\.player\.api_key_env='KEY_OF_THE_TESTS': is not set"):
        frozen_players(TrainConfig(roles={"tool": RoleSection(player=player)}))


# ---- what comes back


@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_reply_is_the_model_s_own_doing(content: Any) -> None:
    assert ask(completion(content))[0] == ""
    assert ask(completion(content, refusal="I won't"))[0] == "I won't"


@pytest.mark.parametrize("said", [{}, [], "fine", {"choices": []}, {"choices": [{"text": "up"}]}])
def test_an_answer_that_is_no_chat_completion_is_an_error_and_no_reply(said: Any) -> None:
    with pytest.raises(SamplerError, match=r"/v1/chat/completions: its answer is no chat completion"):
        ask(said)


def test_a_refused_request_names_the_model_and_what_to_look_at() -> None:
    said = {"error": {"message": "The model `m` does not exist"}}
    with pytest.raises(
        SamplerError, match=r"404: The model `m` does not exist Asked for the model 'm': check its name"
    ):
        ask(said, status=404)


@pytest.mark.parametrize("status", [401, 500])
def test_no_message_shows_the_key_though_the_server_repeats_it(status: int) -> None:
    with pytest.raises(SamplerError) as caught:
        ask({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=status, key=KEY)
    assert "Incorrect API key provided: [key]" in str(caught.value)
    assert KEY not in str(caught.value)


# ---- whole episodes


def play(player: ChatPlayer, indices: list[int]) -> list[Episode]:
    async def all_of_them() -> list[Episode]:
        seats: dict[str, Any] = {"tool": player, "planner": ReferencePlayer("oracle")}
        return await asyncio.gather(*(aplay(count_env(), seats, index=index) for index in indices))

    return asyncio.run(all_of_them())


def test_it_plays_whole_episodes_and_its_seeds_depend_on_the_state_alone() -> None:
    handler, asked = saying(completion("2"))
    with serving(handler) as url:
        player = ChatPlayer(Endpoint(f"{url}/v1"), "m", SamplingParams(), 0)
        episodes = play(player, [1, 2, 3])
        seeds = {asked_for["body"]["messages"][0]["content"]: asked_for["body"]["seed"] for asked_for in asked}
        asked.clear()
        play(player, [3, 1])
        again = {asked_for["body"]["messages"][0]["content"]: asked_for["body"]["seed"] for asked_for in asked}
    assert all(episode.success and episode.players["tool"] == "m" for episode in episodes)
    assert len(set(seeds.values())) == 3
    assert again.items() < seeds.items()


# ---- for policies that are trained


def choice(**changes: Any) -> dict[str, Any]:
    return {"index": 0, "token_ids": [7], "logprobs": {"token_logprobs": [-0.5]}, "finish_reason": "length", **changes}


def examine(said: Any, *, status: int = 200, loads: int = 400) -> list[dict[str, Any]]:
    """What a server is asked that gives this completion, and this status where an adapter is to be loaded."""
    asked: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append({"path": request.path, "body": await request.json()})
        if request.path == "/v1/load_lora_adapter":
            return web.json_response({"error": {"message": "lora_name is missing"}}, status=loads)
        return web.json_response(said, status=status)

    with serving(handle) as url:
        asyncio.run(check_trainable(Endpoint(url, patience_s=0.1), "base"))
    return asked


def test_a_server_that_gives_ids_and_log_probabilities_and_loads_adapters_is_taken() -> None:
    completion, load = examine({"model": "base", "choices": [choice()]})
    assert (completion["path"], load["path"]) == ("/v1/completions", "/v1/load_lora_adapter")
    assert completion["body"]["prompt"] == [1, 2, 3]
    assert (completion["body"]["return_token_ids"], completion["body"]["max_tokens"]) == (True, 1)
    assert load["body"] == {}, "nothing is loaded"


@pytest.mark.parametrize(
    ("said", "lacks"),
    [
        ({"model": "base", "choices": [choice(token_ids=None)]}, "it returns no token ids"),
        (
            {"model": "base", "choices": [{"index": 0, "text": "up", "finish_reason": "stop"}]},
            "it returns no token ids",
        ),
        ({"model": "base", "choices": [choice(logprobs=None)]}, "it returns no log-probability of each token"),
        ({"model": "base", "choices": [choice(logprobs={"token_logprobs": [None]})]}, "it returns no log-probability"),
        ({"model": "base", "choices": [choice(logprobs={"tokens": ["up"]})]}, "it returns no log-probability"),
        ({"model": "gpt", "choices": [choice()]}, "asked for 'base', it names 'gpt'"),
        ({"choices": []}, "its answer is no completion"),
        ("fine", "its answer is no completion"),
    ],
)
def test_a_server_that_lacks_what_training_needs_is_refused_with_the_reason_and_the_remedy(
    said: Any, lacks: str
) -> None:
    """UC-163: never text that was encoded again, never weights that nobody named."""
    with pytest.raises(UsageError, match=lacks) as caught:
        examine(said)
    assert "can't be trained with" in str(caught.value)
    assert "`at-grpo serve`" in str(caught.value)
    assert "roles.<role>.player" in str(caught.value)


def test_a_server_that_wants_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"it refuses a prompt of token ids \(.*400: prompt must be a string"):
        examine({"error": {"message": "prompt must be a string"}}, status=400)


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_that_loads_no_adapters_is_refused(status: int) -> None:
    with pytest.raises(UsageError, match="it has no /v1/load_lora_adapter, by which the weights of every step"):
        examine({"model": "base", "choices": [choice()]}, loads=status)
