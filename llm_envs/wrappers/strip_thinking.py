"""`StripThinking`: reasoning is taken out of replies before anything else sees them."""

from llm_envs.core.parsing import strip_thinking
from llm_envs.core.stepping import astep
from llm_envs.core.wrapper import TextWrapper


class StripThinking(TextWrapper):
    """Passes on what is left of a reply without its `<think>` blocks.

    Environments ignore closed blocks themselves. This wrapper keeps reasoning from everything else inside it:
    records, histories, and tasks that show one agent what another said. Text before a lone `</think>` goes too, an
    unclosed block hides the rest of the reply.
    """

    def step(self, action: str | None) -> None:
        super().step(_without_thinking(action))

    async def astep(self, action: str | None) -> None:
        await astep(self.env, _without_thinking(action))


def _without_thinking(action: str | None) -> str | None:
    return strip_thinking(action).strip() if isinstance(action, str) else action
