r"""The reader of whole answers: from a normal form to a value of a kind.

It looks for what stands outermost (words, lists, unions, relations, brackets, units) and leaves the rest to the reader
of scalars. `read` never raises: what it cannot read is `Unread`, or a `Scalar` without a value.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from llm_envs.math.judging.containers import read_bracketed, read_matrix, read_ratio, read_several, read_union
from llm_envs.math.judging.errors import AmbiguousError, TooLargeError, UnreadError
from llm_envs.math.judging.exact import Expression
from llm_envs.math.judging.functions import read_number
from llm_envs.math.judging.marks import read_base, read_currency, read_percent, read_unit
from llm_envs.math.judging.normal_form import LONGEST, squeezed
from llm_envs.math.judging.relations import read_relation
from llm_envs.math.judging.scalars import read_scalar
from llm_envs.math.judging.tokens import DEEPEST, Read, Tokens, stripped, tokenized
from llm_envs.math.judging.values import Infinity, Scalar, Unordered, Unread, Value
from llm_envs.math.judging.words import read_words

_PLAIN = re.compile(r"[-+]?(?:\d+(?:\.(\d+))?|\.(\d+))")
MOST_WORDS = 12
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{3,}")
_INFINITIES = frozenset({r"\infty", "infinity", "inf", "oo"})
_READERS: tuple[Callable[[Tokens, Read], Value | None], ...] = (
    read_words,
    read_several,
    read_union,
    read_relation,
    read_bracketed,
    read_matrix,
    read_ratio,
    read_percent,
    read_currency,
    read_unit,
    read_base,
)


@lru_cache(maxsize=1 << 12)
def read(normal: str) -> Value:
    """What a normal form says. Cached, so that a gold answer is read once for all answers to it."""
    if len(normal) > LONGEST:
        return Unread(normal, f"it has {len(normal)} characters, at most {LONGEST} are read")
    try:
        plain = _PLAIN.fullmatch(normal)
        if plain is not None:
            number = read_number(normal.lstrip("+-"))
            return Scalar(normal, Expression.number(-number if normal[0] == "-" else number), _places(plain))
        if len(_WORD.findall(normal)) > MOST_WORDS:
            return Unread(normal, f"it is prose: more than {MOST_WORDS} words")
        if r"\ldots" in normal:
            return Unread(normal, "dots stand for what is not written")
        return _read(tokenized(normal), 0)
    except TooLargeError:
        return Scalar(normal, None, too_large=True)
    except UnreadError as error:
        return Unread(normal, str(error))


def _places(plain: re.Match[str]) -> int | None:
    decimals = plain.group(1) or plain.group(2)
    return len(decimals) if decimals else None


def _read(tokens: Tokens, depth: int) -> Value:
    """The value of a part of an answer. Raises UnreadError."""
    tokens = stripped(tokens)
    if not tokens:
        raise UnreadError("it is empty")
    if depth > DEEPEST:
        raise UnreadError("it nests too deep")

    def read_part(part: Tokens) -> Value:
        return _read(part, depth + 1)

    for reader in _READERS:
        value = reader(tokens, read_part)
        if value is not None:
            return value
    return _read_scalar(tokens)


def _read_scalar(tokens: Tokens) -> Value:
    if tokens[-1] in _INFINITIES and tokens[:-1] in (["+"], ["-"], []):
        return Infinity(positive=tokens[0] != "-")
    if r"\pm" in tokens or r"\mp" in tokens:
        return Unordered(tuple(_scalar(tokens, sign) for sign in (1, -1)))
    return _scalar(tokens, 1)


def _scalar(tokens: Tokens, sign: int) -> Value:
    text = squeezed("".join(tokens))
    if any(token.startswith(r"\text") for token in tokens):
        return Unread(text, "it mixes a formula with words")
    plain = _PLAIN.fullmatch(text)
    try:
        return Scalar(text, read_scalar(tokens, sign), None if plain is None else _places(plain))
    except TooLargeError:
        return Scalar(text, None, too_large=True)
    except UnreadError as error:
        known_to_library = not isinstance(error, AmbiguousError) and not {r"\pm", r"\mp"} & set(tokens)
        return Scalar(text, None) if known_to_library else Unread(text, str(error))
