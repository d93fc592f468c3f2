"""More families about texts: ciphers, rotations and prefixes."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, word_list
from llm_envs.code.families.shapes import words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def shifted_letters(text: str, *, shift: int, growth: int) -> str:
    """Letters move round the alphabet; what is no letter stays, and does not count."""
    result = []
    moved = 0
    for letter in text:
        if not letter.isalpha():
            result.append(letter)
            continue
        first = ord("a") if letter.islower() else ord("A")
        result.append(chr(first + (ord(letter) - first + shift + growth * moved) % 26))
        moved += 1
    return "".join(result)


SHIFTED_LETTERS = Family(
    name="shifted_letters",
    idea="arithmetic with letters around the alphabet",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters of either case, digits and hyphens; it may be empty"),),
    result=Kind.TEXT,
    solve=shifted_letters,
    parameters=lambda rng, level: {"shift": whole(rng, 1, 24), "growth": whole(rng, 1, level)},
    statement=lambda parameters: (
        f"Replace the first letter of the text by the one {parameters['shift']} places further on in the alphabet, and "
        f"each next letter by the one as many places further on as for the letter before and {parameters['growth']} "
        "more. After `z` comes `a`; capitals stay capitals. Digits and hyphens stay as they are and do not count as "
        "letters."
    ),
    draw=lambda rng, level, _: (_mixed(rng, length(rng, level)),),
    mutants=(
        Mutant("other characters count too", "result.append(letter)", "result.append(letter)\n            moved += 1"),
        Mutant(
            "capitals become small",
            'ord("a") if letter.islower() else ord("A")',
            'ord("a")\n        letter = letter.lower()',
        ),
        Mutant("the shift does not grow", "growth * moved", "growth * 0"),
        Mutant("does not go around after z", "% 26))", "% 27))"),
        Mutant("moves digits too", "if not letter.isalpha():", "if not letter.isalnum():"),
        Mutant(
            "starts anew after a hyphen",
            "result.append(letter)",
            'result.append(letter)\n            moved = 0 if letter == "-" else moved',
        ),
    ),
)


def _mixed(rng: random.Random, count: int) -> str:
    """Mostly small letters; each other kind of character is absent as often as not."""
    letters = "abcdefghijklmnopqrstuvwxyz" * 3
    letters = pick(rng, (letters, letters, "abcdef"))
    for further in ("ABCXYZ" * 4, "0123456789", "-" * 9):
        if rng.random() < 0.4:
            letters += further
    return words(rng, letters, count)


def best_rotation(text: str, *, largest: bool) -> list[str]:
    """Of the rotations that are equal, the first one is taken."""
    turns = [text[place:] + text[:place] for place in range(len(text))]
    if not turns:
        return []
    best = max(turns) if largest else min(turns)
    return [best, str(turns.index(best)), str(turns.count(best))]


BEST_ROTATION = Family(
    name="best_rotation",
    idea="comparing all rotations of a text",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `c`; it may be empty"),),
    result=Kind.LINES,
    solve=best_rotation,
    parameters=lambda rng, _level: {"largest": pick(rng, (False, True))},
    statement=lambda parameters: (
        "A rotation by n moves the first n letters of the text to its end, in their order, for n from 0 to one less "
        f"than the length. Find the alphabetically {'last' if parameters['largest'] else 'first'} rotation and give "
        "three lines: that rotation, the smallest n that leads to it, and the number of different n that lead to it. "
        "For an empty text give no line."
    ),
    draw=lambda rng, level, _: (_turning(rng, length(rng, level)),),
    mutants=(
        Mutant(
            "does not try the last rotation",
            "for place in range(len(text))",
            "for place in range(len(text) - (len(text) > 1))",
        ),
        Mutant("the wrong end of the alphabet", "if largest else", "if not largest else"),
        Mutant("gives the last n", "turns.index(best)", "len(turns) - 1 - turns[::-1].index(best)"),
        Mutant("counts letters, not rotations", "turns.count(best)", "text.count(best[0])"),
        Mutant(
            "turns the other way", "text[place:] + text[:place]", "text[-place:] + text[:-place] if place else text"
        ),
        Mutant(
            "reverses the letters that it moves", "text[place:] + text[:place]", "text[place:] + text[:place][::-1]"
        ),
    ),
)


def _turning(rng: random.Random, count: int) -> str:
    """A text that is sorted, periodic, or neither."""
    text = words(rng, pick(rng, ("ab", "abc")), count)
    way = pick(rng, (0, 1, 2, 3))
    if way < 2:
        return text
    if way == 2:
        half = text[: max(1, count // 2)]
        return half * 2 if count > 1 else text
    ordered = sorted(text)
    return "".join(ordered[-1:] + ordered[:-1]) if rng.random() < 0.5 else "".join(ordered[1:] + ordered[:1])


def unique_prefixes(words: list[str], *, least: int) -> list[str]:
    """Counts how many words begin with each prefix, as the nodes of a trie would."""
    beginning: dict[str, int] = {}
    for word in words:
        for size in range(1, len(word) + 1):
            beginning[word[:size]] = beginning.get(word[:size], 0) + 1
    found = []
    for word in words:
        size = min(least, len(word))
        while size < len(word) and beginning[word[:size]] > 1:
            size += 1
        found.append(word[:size])
    return found


UNIQUE_PREFIXES = Family(
    name="unique_prefixes",
    idea="a trie that counts how many words begin with each prefix",
    arguments=(Argument("words", Kind.LINES, "up to 14 words of the letters `a` and `b`, none of them empty"),),
    result=Kind.LINES,
    solve=unique_prefixes,
    parameters=lambda rng, level: {"least": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        "For each word, in the order of the input, give its shortest prefix with which no word at another place "
        f"begins, but at least {parameters['least']} of its letters. Where there is no such prefix, because the word "
        "is too short, is there again, or begins another word, give the whole word."
    ),
    draw=lambda rng, level, _: (_kin(rng, level),),
    mutants=(
        Mutant(
            "words that are there twice count once",
            "    for word in words:\n        for size",
            "    for word in set(words):\n        for size",
        ),
        Mutant("forgets the least length", "min(least, len(word))", "1"),
        Mutant(
            "looks at the earlier words only",
            "    found = []\n    for word in words:\n",
            "    found, beginning = [], dict[str, int]()\n    for word in words:\n"
            "        for end in range(1, len(word) + 1):\n"
            "            beginning[word[:end]] = beginning.get(word[:end], 0) + 1\n",
        ),
        Mutant("never gives the whole word", "while size < len(word)", "while size < len(word) - 1"),
        Mutant("a prefix may be shared by two words", "> 1:", "> 2:"),
    ),
)


def _kin(rng: random.Random, level: int) -> list[str]:
    """Words some of which are there again or begin others."""
    found: list[str] = []
    for word in word_list(rng, length(rng, level) // 2, 2 + 2 * level, "ab"):
        found.append(word)
        if rng.random() < 0.3:
            found.append(pick(rng, (word, word + "b", word[:-1] or word)))
    return shuffled(rng, found[:14])


def word_hits(text: str, word: str, *, overlapping: bool) -> list[int]:
    """After a hit the search goes on one letter further, or after the word."""
    found = []
    place = text.find(word)
    while place >= 0:
        found.append(place + 1)
        place = text.find(word, place + (1 if overlapping else len(word)))
    return found


WORD_HITS = Family(
    name="word_hits",
    idea="searching on from the last hit, with or without overlaps",
    arguments=(
        Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `b`; it may be empty"),
        Argument("word", Kind.TEXT, "2 to 4 letters, from `a` to `b`"),
    ),
    result=Kind.INTS,
    solve=word_hits,
    parameters=lambda rng, _level: {"overlapping": pick(rng, (False, True))},
    statement=lambda parameters: (
        "Give the places, counted from 1, at which the word stands in the text, in ascending order; there may be none. "
        + (
            "Hits may overlap."
            if parameters["overlapping"]
            else "Go from left to right and leave out each hit that shares a letter with one that was not left out."
        )
    ),
    draw=lambda rng, level, _: _hits(rng, level),
    mutants=(
        Mutant("allows overlaps, or does not", "1 if overlapping", "1 if not overlapping"),
        Mutant("does not see a hit at the beginning", "while place >= 0", "while place > 0"),
        Mutant("counts places from 0", "found.append(place + 1)", "found.append(place)"),
        Mutant("leaves a letter out after each hit", "len(word)))", "len(word)) + 1)"),
        Mutant(
            "does not see a hit at the end",
            "found.append(place + 1)",
            "found += [place + 1] * (place + len(word) < len(text))",
        ),
        Mutant("gives the first hit only", "while place", "if place"),
    ),
)


def _hits(rng: random.Random, level: int) -> tuple[str, str]:
    """Words that can overlap themselves in one, two or three letters, often."""
    word = pick(rng, ("aa", "aba", "aaa", "abab", "ab", "bb"))
    text = words(rng, "ab", length(rng, level))
    if rng.random() < 0.5:
        place = pick(rng, (0, len(text), whole(rng, 0, len(text))))
        text = (text[:place] + word + word[1:] + text[place:])[:28]
    return text, word


FAMILIES = (SHIFTED_LETTERS, BEST_ROTATION, UNIQUE_PREFIXES, WORD_HITS)
