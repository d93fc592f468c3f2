"""Which pairs of expressions the library is asked about: none that it would read only in part, or as something else."""

import re

Pair = tuple[str, str]  # normal forms, gold first
LONGEST = 300  # characters of a part that the library is asked about
_KNOWN = re.compile(r"[A-Za-z0-9\\{}()\[\]^_+*/|!.,<>= -]+")
_MISREAD = re.compile(  # a logarithm to an unwritten base, which is 10 to the library; what it takes for sets or names
    r"\\log(?![A-Za-z])(?! *_)|\\(?:pmod|equiv|in|overline)(?![A-Za-z])"
)
_IMAGINARY = re.compile(r"(?<![A-Za-z\\])i(?![A-Za-z])")  # a symbol to the library


def can_be_asked(pair: Pair) -> bool:
    """Whether a verdict of the library on two expressions says something about them."""
    if not all(len(text) <= LONGEST and _KNOWN.fullmatch(text) for text in pair):
        return False
    return not any(map(_is_misread, pair)) and not _differ_by_case("".join(pair))


def _is_misread(text: str) -> bool:
    return _MISREAD.search(text) is not None or (_IMAGINARY.search(text) is not None and "_{i=" not in text)


def _differ_by_case(texts: str) -> bool:
    """Whether a letter stands there as a capital and as a small one, which are the same to the library."""
    letters = set("".join(re.findall(r"(?<![A-Za-z\\])[A-Za-z]+", texts)))
    return any(letter.upper() in letters for letter in letters if letter.islower())
