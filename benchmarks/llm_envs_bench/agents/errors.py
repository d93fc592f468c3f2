"""How an agent can fail that is no fault of its own."""


class AgentError(RuntimeError):
    """An agent gave no answer for a reason that is not its own doing. The episode is owed, never scored."""
