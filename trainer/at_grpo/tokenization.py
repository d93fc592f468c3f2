"""Between text and token ids: prompts on the way in, replies on the way out, and the ids that end a reply.

Text becomes ids once (the prompt) and ids become text once (the reply, for the environment); nothing goes back again.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from llm_envs.core.errors import UsageError
from llm_envs.core.messages import to_messages

CACHED_PROMPTS = 4096  # siblings and forks see the same observation again and again
# Stands for the observation where the text that a template puts around it is looked for: private-use characters, so
# that no template treats it in a way of its own and no tokenizer merges it with what stands beside it.
_PLACEHOLDER = "\ue000\ue001\ue000"


class UndecodableError(ValueError):
    """Token ids that the tokenizer does not know.

    A model's vocabulary is often padded beyond its tokenizer's. Such a reply is dropped and counted: no environment
    could read it.
    """


class PromptEncoder:
    """Observations to prompt ids and replies to text, for one tokenizer.

    Attributes:
        tokenizer: a transformers tokenizer with a chat template.
    """

    def __init__(self, tokenizer: Any, template: Mapping[str, Any] | None = None) -> None:
        """Read the chat template once.

        Args:
            tokenizer: see above.
            template: what the chat template is told, see `config.ModelSection`.

        Raises:
            UsageError: there is no chat template, one that leaves out the observation, or one that does not know what
                it is told.
        """
        self.tokenizer = tokenizer
        self._template = dict(template or {})
        if not tokenizer.chat_template:
            raise UsageError(
                f"tokenizer={tokenizer.name_or_path!r}: has no chat template; use the model's instruct version, or put "
                "a chat_template.jinja into the folder of the model."
            )
        for name in self._template:
            if not re.search(rf"\b{re.escape(name)}\b", str(tokenizer.chat_template)):
                raise UsageError(
                    f"model.template.{name}: the chat template of {tokenizer.name_or_path!r} does not ask for it; "
                    "remove it, or look at the template for its name."
                )
        self._known = frozenset(tokenizer.get_vocab().values())
        self._special = {token.content: token_id for token_id, token in _special_tokens(tokenizer).items()}
        rendered = self._render(_PLACEHOLDER)
        shown = rendered.count(_PLACEHOLDER)
        if shown != 1:
            raise UsageError(
                f"tokenizer={tokenizer.name_or_path!r}: its chat template shows a user message {shown} times; must be "
                "once. Use another chat template."
            )
        self._before, self._after = rendered.split(_PLACEHOLDER)
        self._controls = self._count_special(self._tokenize(rendered))
        self.encode = lru_cache(maxsize=CACHED_PROMPTS)(self._encode)

    def _encode(self, observation: str) -> tuple[int, ...]:
        """The prompt for an observation: its chat and the start of the reply, as `apply_chat_template` encodes them.

        Text in the observation that looks like a special token is encoded as the characters it is made of: an agent
        must not be able to end its neighbour's message or to speak in another's name.
        """
        text = self._render(observation)
        ids = self._tokenize(text)
        if self._count_special(ids) == self._controls:
            return tuple(ids)
        return tuple(self._encode_apart(text))

    def encode_reply(self, reply: str) -> tuple[int, ...]:
        """A reply as a model would sample it: its text, never a special token, then the end token."""
        return (*self._tokenize(reply, plain=True), int(self.tokenizer.eos_token_id))

    def decode(self, token_ids: Sequence[int]) -> str:
        """The reply as text, special tokens left out.

        Raises:
            UndecodableError: an id that the tokenizer does not know.
        """
        unknown = [token_id for token_id in token_ids if token_id not in self._known]
        if unknown:
            raise UndecodableError(
                f"token ids {unknown}: not among the {len(self._known)} entries of {self.tokenizer.name_or_path!r}"
            )
        return str(self.tokenizer.decode(list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def known(self, token_ids: Sequence[int]) -> tuple[int, ...]:
        """The ids that the tokenizer knows."""
        return tuple(token_id for token_id in token_ids if token_id in self._known)

    def _render(self, observation: str) -> str:
        chat = to_messages(observation)
        return str(
            self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True, **self._template)
        )

    def _tokenize(self, text: str, *, plain: bool = False) -> list[int]:
        encoded = self.tokenizer(text, add_special_tokens=False, split_special_tokens=plain)
        return list(encoded["input_ids"])

    def _count_special(self, ids: Sequence[int]) -> int:
        special = self._special.values()
        return sum(token_id in special for token_id in ids)

    def _encode_apart(self, text: str) -> list[int]:
        """The template's own special tokens as such, and what lies between the nearest two around the observation as
        plain text. A special token ends what a tokenizer may merge, so cutting there changes no other token.
        """
        start = max((end for _, end in self._special_spans(self._before)), default=0)
        stop = min((begin for begin, _ in self._special_spans(self._after)), default=len(self._after))
        tail = len(self._after) - stop
        head, middle, rest = text[:start], text[start : len(text) - tail], text[len(text) - tail :]
        return [*self._tokenize(head), *self._tokenize(middle, plain=True), *self._tokenize(rest)]

    def _special_spans(self, text: str) -> list[tuple[int, int]]:
        spans = []
        for token in self._special:
            begin = text.find(token)
            while begin >= 0:
                spans.append((begin, begin + len(token)))
                begin = text.find(token, begin + 1)
        return spans


def _special_tokens(tokenizer: Any) -> dict[int, Any]:
    """id -> added token, of the tokens that control a model and are not text."""
    return {token_id: token for token_id, token in tokenizer.added_tokens_decoder.items() if token.special}


def stop_token_ids(generation_config: Any, tokenizer: Any) -> frozenset[int]:
    """Every id that ends a reply: those of the model's generation configuration and the tokenizer's own.

    Chat models often end on more than one (the end of the turn and the end of the text), and a completion that ended
    on the second is finished, not cut.

    Raises:
        UsageError: there is none, so that no reply would ever end.
    """
    found: set[int] = set()
    for owner in (generation_config, tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        found.update([ids] if isinstance(ids, int) else ids or ())
    if not found:
        raise UsageError(
            f"tokenizer={tokenizer.name_or_path!r}: neither it nor the model names an end token; set eos_token_id in "
            "the model's generation_config.json."
        )
    return frozenset(found)
