"""Hidden tests of LiveCodeBench: JSON, or JSON as a pickled text, compressed, in base64.

A pickle is a program for a little machine and may do anything when it is loaded. So none is loaded here: its
instructions are read, and whatever they do beyond stating one text is refused.
"""

import base64
import pickletools
import zlib
from typing import Any

from llm_envs.data.errors import RowError
from llm_envs.data.fields import parse_json

MOST_BYTES = 1 << 29  # of a text when it is unpacked; the largest that is known has a tenth of it
_TEXTS = frozenset({"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"})
_FRAME = frozenset({"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP"})  # do nothing to the text


def decode_tests(payload: str) -> Any:
    """The JSON value in a field `private_test_cases`.

    Raises:
        RowError: it is neither JSON nor such a pack, or holds anything but one text.
    """
    if payload.lstrip().startswith(("[", "{")):
        return parse_json(payload, "'private_test_cases'")
    try:
        packed = base64.b64decode(payload, validate=True)
        unpacker = zlib.decompressobj()
        pickled = unpacker.decompress(packed, MOST_BYTES)
    except (ValueError, zlib.error) as error:
        raise RowError(f"'private_test_cases' can't be unpacked ({error})") from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise RowError(f"'private_test_cases' is cut off, or has more than {MOST_BYTES} bytes when it is unpacked")
    return parse_json(_pickled_text(pickled), "'private_test_cases'")


def _pickled_text(pickled: bytes) -> str:
    """The text that a pickle states."""
    texts: list[str] = []
    try:
        for instruction, argument, _ in pickletools.genops(pickled):
            if instruction.name in _TEXTS:
                texts.append(str(argument))
            elif instruction.name not in _FRAME:
                raise RowError(f"'private_test_cases' is a pickle that does more than state a text: {instruction.name}")
    except (ValueError, IndexError, UnicodeError) as error:
        if isinstance(error, RowError):
            raise
        raise RowError(f"'private_test_cases' is no pickle ({error})") from error
    if len(texts) != 1:
        raise RowError(f"'private_test_cases' is a pickle of {len(texts)} texts, not of one")
    return texts[0]
