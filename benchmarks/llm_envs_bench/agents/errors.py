"""How an agent can fail that is no fault of its own."""

from llm_envs_bench.attempts import Event


class AgentError(RuntimeError):
    """An agent gave no answer for a reason that is not its own doing. The episode is owed, never scored.

    Attributes:
        event: under which name it is counted.
        retry_after: seconds after which the endpoint asked to be tried again, or None.
    """

    def __init__(self, event: Event, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.event = event
        self.retry_after = retry_after
