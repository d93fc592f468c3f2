"""A position in the tokens of an expression."""

from llm_envs.math.judging.errors import UnreadError
from llm_envs.math.judging.tokens import DEEPEST, Tokens, partner


class Cursor:
    """Takes tokens one by one, or a whole group in braces."""

    def __init__(self, tokens: Tokens, depth: int) -> None:
        """`depth` is how many expressions this one stands in. Raises UnreadError where they are too many."""
        self._tokens = list(tokens)
        self._at = 0
        self._depth = depth
        self._check_depth()

    @property
    def next(self) -> str | None:
        """The token that comes next; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    @property
    def last(self) -> str | None:
        """The token that was passed last; None at the beginning."""
        return self._tokens[self._at - 1] if self._at else None

    def ahead(self, count: int) -> list[str]:
        """The next tokens, `count` at most."""
        return self._tokens[self._at : self._at + count]

    def take(self) -> str:
        """The next token, passed. Raises UnreadError at the end."""
        token = self.next
        if token is None:
            raise UnreadError("the expression ends too early")
        self._at += 1
        return token

    def skip(self, count: int) -> None:
        """Pass tokens."""
        self._at += count

    def take_character(self) -> str:
        """The first character of a number or of letters in a row, the token else: what a command takes in LaTeX."""
        token = self.take()
        if token[0].isalnum() and len(token) > 1:
            self._at -= 1
            self._tokens[self._at] = token[1:]
            return token[0]
        return token

    def take_group(self, opening: str, closing: str) -> list[str]:
        """What stands in the brackets that open next. Raises UnreadError where others do."""
        if self.next != opening:
            raise UnreadError(f"{opening!r} is missing")
        end = partner(self._tokens, self._at)
        if self._tokens[end] != closing:
            raise UnreadError("brackets of different kinds")
        inside = self._tokens[self._at + 1 : end]
        self._at = end + 1
        return inside

    def take_until(self, mark: str) -> list[str]:
        """What stands before the next mark, which is passed, too. Raises UnreadError where there is none."""
        if mark not in self._tokens[self._at :]:
            raise UnreadError(f"{mark!r} is missing")
        end = self._tokens.index(mark, self._at)
        inside = self._tokens[self._at : end]
        self._at = end + 1
        return inside

    def deeper(self) -> None:
        """Enter an operand that may hold another; `shallower` leaves it."""
        self._depth += 1
        self._check_depth()

    def shallower(self) -> None:
        """Leave an operand."""
        self._depth -= 1

    def _check_depth(self) -> None:
        if self._depth > DEEPEST:
            raise UnreadError("it nests too deep")
