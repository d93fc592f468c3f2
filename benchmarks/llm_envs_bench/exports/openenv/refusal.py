"""What a client may not do or what can't be done for it, in words that it is sent."""

from enum import StrEnum


class Code(StrEnum):
    """Why; the first seven are OpenEnv's own."""

    INVALID_JSON = "INVALID_JSON"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    CAPACITY_REACHED = "CAPACITY_REACHED"
    FACTORY_ERROR = "FACTORY_ERROR"
    SESSION_ERROR = "SESSION_ERROR"

    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    OUT_OF_TURN = "OUT_OF_TURN"
    NO_EPISODE = "NO_EPISODE"
    BUSY = "BUSY"


STATUS = {
    Code.INVALID_JSON: 400,
    Code.UNKNOWN_TYPE: 400,
    Code.VALIDATION_ERROR: 422,
    Code.EXECUTION_ERROR: 503,
    Code.CAPACITY_REACHED: 503,
    Code.FACTORY_ERROR: 500,
    Code.SESSION_ERROR: 404,
    Code.UNAUTHORIZED: 401,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.OUT_OF_TURN: 409,
    Code.NO_EPISODE: 409,
    Code.BUSY: 409,
}


LONGEST_MESSAGE = 1000  # characters; it may quote what a client sent


class Refusal(Exception):  # noqa: N818  no error of the server
    """Sent to the client as it is: the message holds nothing that a client may not know."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message[:LONGEST_MESSAGE]
