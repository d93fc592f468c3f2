"""Whatever the Docker SDK raises becomes a lost cage, or a sandbox that cannot be had; never a verdict on a program."""

from collections.abc import Iterator
from contextlib import contextmanager

from llm_envs.sandbox.base import SandboxError
from llm_envs.sandbox.cage import CageLostError

_PERHAPS_LATER = (408, 409, 425, 429)  # client errors by number, of the moment by meaning


@contextmanager
def engine_errors(doing: str, *, refusable: bool = False) -> Iterator[None]:
    """Raise CageLostError for what a second try may mend, SandboxError for what it will not.

    Args:
        doing: what is asked of the engine, for the message.
        refusable: the engine may refuse this for good, as with an image that it does not have.
    """
    from docker.errors import APIError, DockerException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except APIError as error:
        message = f"the engine does not {doing}: {error.explanation or error}"
        if refusable and error.is_client_error() and error.status_code not in _PERHAPS_LATER:
            raise SandboxError(message) from error
        raise CageLostError(message) from error
    except (DockerException, HTTPError, OSError) as error:  # OSError: the errors of requests and of sockets, too
        raise CageLostError(f"the engine does not {doing}: {type(error).__name__}: {error}") from error
