"""Slow programs for families about texts, which try all that the statement speaks of."""

import itertools
import re
from collections import Counter

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def parts(text: str) -> list[str]:
    """Every contiguous part that is not empty, from left to right by its start."""
    return [text[start:end] for start in range(len(text)) for end in range(start + 1, len(text) + 1)]


def best(found: list[str], *, longest: bool, last: bool) -> str:
    """The longest or shortest text, the first or last of them; empty for none."""
    sizes = [len(part) for part in found]
    wanted = [part for part in found if len(part) == (max(sizes) if longest else min(sizes))]
    return wanted[-1 if last else 0] if wanted else ""


def few_letters(text: str, *, kinds: int, last: bool) -> str:
    return best([part for part in parts(text) if len(set(part)) <= kinds], longest=True, last=last)


def smallest_cover(text: str, needed: str, *, last: bool) -> str:
    return best([part for part in parts(text) if Counter(part) >= Counter(needed)], longest=False, last=last)


def run_lengths(text: str, *, least: int) -> str:
    runs = ["".join(run) for _, run in itertools.groupby(text)]
    return "".join(f"{len(run)}{run[0]}" if len(run) >= least else run for run in runs)


def nested_repeats(text: str, *, mirrored: bool) -> str:
    def unfold(group: re.Match[str]) -> str:
        content = group[2]
        copies = [content, content[::-1] if mirrored else content] * int(group[1])
        return "".join(copies[: int(group[1])])

    while "[" in text:
        text = re.sub(r"(\d+)\[([a-z]*)\]", unfold, text)
    return text


def palindrome(text: str, *, last: bool, odd: bool) -> str:
    fitting = [part for part in parts(text) if part == part[::-1] and (len(part) % 2 or not odd)]
    return best(fitting, longest=True, last=last)


def anagram_groups(words: list[str], *, least: int) -> list[str]:
    lines = []
    for place, word in enumerate(words):
        if not any(sorted(word) == sorted(earlier) for earlier in words[:place]):
            group = sorted(other for other in words if sorted(other) == sorted(word))
            lines += [" ".join(group)] if len(group) >= least else []
    return lines


def smallest_period(text: str, *, divides: bool) -> int:
    for period in range(1, len(text) + 1):
        if text[period:] == text[:-period] and (not divides or len(text) % period == 0):
            return period
    return 0


def shifted_letters(text: str, *, shift: int, growth: int) -> str:
    shifts = itertools.count(shift, growth)
    moved = ""
    for letter in text:
        small = letter.lower()
        if small in ALPHABET:
            small = ALPHABET[(ALPHABET.index(small) + next(shifts)) % 26]
        moved += small if letter == letter.lower() else small.upper()
    return moved


def best_rotation(text: str, *, largest: bool) -> list[str]:
    turns = sorted(((text + text)[n : n + len(text)], n) for n in range(len(text)))
    if not turns:
        return []
    wanted = turns[-1 if largest else 0][0]
    places = [n for turn, n in turns if turn == wanted]
    return [wanted, str(min(places)), str(len(places))]


def unique_prefixes(words: list[str], *, least: int) -> list[str]:
    found = []
    for place, word in enumerate(words):
        others = words[:place] + words[place + 1 :]
        sizes = range(min(least, len(word)), len(word) + 1)
        alone = [word[:size] for size in sizes if not any(other.startswith(word[:size]) for other in others)]
        found.append(alone[0] if alone else word)
    return found


def word_hits(text: str, word: str, *, overlapping: bool) -> list[int]:
    found: list[int] = []
    for place in range(len(text)):
        free = overlapping or not found or place + 1 >= found[-1] + len(word)
        if text[place : place + len(word)] == word and free:
            found.append(place + 1)
    return found


def bracket_error(text: str, *, deepest: int) -> int:
    def rest(part: str) -> str:
        """What no rewriting of neighbouring pairs removes."""
        while (shorter := re.sub(r"\(\)|\[\]|\{\}", "", part)) != part:
            part = shorter
        return part

    for size in range(1, len(text) + 1):
        left = rest(text[:size])
        if re.search(r"[)\]}]", left) or len(left) > deepest:
            return size
    return len(text) + 1 if rest(text) else 0


def infix_value(text: str, *, sum_first: bool) -> int:
    orders = [r"[+-]", r"\*"] if sum_first else [r"\*", r"[+-]"]

    def flat(part: str) -> str:
        """An expression without brackets, worked out from left to right, once for each order of operators."""
        tokens = part.split()
        for order in orders:
            place = 1
            while place < len(tokens):
                if re.fullmatch(order, tokens[place]):
                    left, right = int(tokens[place - 1]), int(tokens[place + 1])
                    value = {"+": left + right, "-": left - right, "*": left * right}[tokens[place]]
                    tokens[place - 1 : place + 2] = [str(value)]
                else:
                    place += 2
        return tokens[0]

    while "(" in text:
        text = re.sub(r"\(([^()]*)\)", lambda group: flat(group[1]), text)
    return int(flat(text))
