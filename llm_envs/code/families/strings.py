"""Families about texts."""

import random

from llm_envs.code.families.base import Family, Mutant
from llm_envs.code.families.inputs import length, word_list
from llm_envs.code.families.shapes import words
from llm_envs.code.families.values import Argument, Kind
from llm_envs.core.draws import pick, shuffled, whole


def run_lengths(text: str, *, least: int) -> str:
    """Each run is written where it ends, the last one after the text."""
    parts = []
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or text[place] != text[start]:
            size = place - start
            parts.append(f"{size}{text[start]}" if size >= least else text[start] * size)
            start = place
    return "".join(parts)


RUN_LENGTHS = Family(
    name="run_lengths",
    idea="run-length encoding",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `c`; it may be empty"),),
    result=Kind.TEXT,
    solve=run_lengths,
    parameters=lambda rng, level: {"least": whole(rng, 3, 2 + level)},
    statement=lambda parameters: (
        "Replace every run of equal letters, as long as it goes, by its length and the letter, as in `4a` for `aaaa`; "
        f"but leave runs of fewer than {parameters['least']} letters as they are."
    ),
    draw=lambda rng, level, parameters: (_runs(rng, length(rng, level), parameters["least"]),),
    mutants=(
        Mutant("leaves runs of exactly that length as they are", "if size >= least", "if size > least"),
        Mutant("counts single letters too", "if size >= least", "if size >= least or size == 1"),
        Mutant("writes one letter for a short run", "text[start] * size", "text[start]"),
        Mutant("writes one digit of a length", 'f"{size}{text[start]}"', 'f"{size % 10}{text[start]}"'),
        Mutant(
            "runs end after nine letters",
            "text[place] != text[start]:",
            "text[place] != text[start] or place - start == 9:",
        ),
        Mutant("the letter before its count", 'f"{size}{text[start]}"', 'f"{text[start]}{size}"'),
    ),
)


def _runs(rng: random.Random, count: int, least: int) -> str:
    """Runs of about the length that decides, and now and then one of ten letters or more."""
    text = ""
    while len(text) < count:
        size = whole(rng, 10, 13) if rng.random() < 0.1 else whole(rng, 1, least + pick(rng, (-1, 1)))
        text += pick(rng, "abc") * size
    return text[:28]


def nested_repeats(text: str, *, mirrored: bool) -> str:
    """A stack of what stands before each open bracket, and how often its content is repeated."""
    stack: list[tuple[str, int]] = []
    here, times = "", 0
    for letter in text:
        if letter.isdigit():
            times = times * 10 + int(letter)
        elif letter == "[":
            stack.append((here, times))
            here, times = "", 0
        elif letter == "]":
            before, count = stack.pop()
            copies = [here[::-1] if mirrored and number % 2 else here for number in range(count)]
            here = before + "".join(copies)
        else:
            here += letter
    return here


NESTED_REPEATS = Family(
    name="nested_repeats",
    idea="decoding nested repetitions with a stack of open groups",
    arguments=(Argument("text", Kind.TEXT, "letters, and groups such as `3[ab2[c]]`; it may be empty"),),
    result=Kind.TEXT,
    solve=nested_repeats,
    parameters=lambda rng, _level: {"mirrored": pick(rng, (False, True))},
    statement=lambda parameters: (
        "A group `n[...]` stands for its content, repeated `n` times; `n` may be 0 and may have several digits, and "
        "groups stand within groups. Write the text without groups."
        + (" The second, fourth, sixth ... copy of each group is written backwards." if parameters["mirrored"] else "")
    ),
    draw=lambda rng, level, _: (_groups(rng, pick(rng, (0, 1, 2, level))),),
    mutants=(
        Mutant("reads one digit of a number", "times = times * 10 + int(letter)", "times = int(letter)"),
        Mutant("repeats at least once", "range(count)", "range(max(count, 1))"),
        Mutant("loses what stands before a group", "before + ", ""),
        Mutant("the content after what comes before", 'before + "".join(copies)', '"".join(copies) + before'),
        Mutant("adds digits up", "times * 10 + int(letter)", "times + int(letter)"),
        Mutant("closes the outermost group first", "stack.pop()", "stack.pop(0)"),
        Mutant(
            "mirrors the wrong copies, or all", "mirrored and number % 2", "number % 2 == 0 and (mirrored or count > 2)"
        ),
    ),
)


def _groups(rng: random.Random, depth: int) -> str:
    """A text whose groups are nested to that depth."""
    parts = [words(rng, "abc", whole(rng, 0, 2))]
    for _ in range(whole(rng, 1, 2) if depth else 0):
        times = whole(rng, 10, 12) if rng.random() < 0.2 and depth == 1 else whole(rng, 0, 3)
        parts += [f"{times}[{_groups(rng, depth - 1)}]", words(rng, "abc", whole(rng, 0, 1))]
    return "".join(parts)


def palindrome(text: str, *, last: bool, odd: bool) -> str:
    """Grown from each centre, a letter or a gap between two."""
    best = ""
    for centre in range(2 * len(text) - 1):
        if odd and centre % 2:
            continue
        left, right = centre // 2, (centre + 1) // 2
        while left >= 0 and right < len(text) and text[left] == text[right]:
            left, right = left - 1, right + 1
        found = text[left + 1 : right]
        if len(found) > len(best) or (last and len(found) == len(best)):
            best = found
    return best


PALINDROME = Family(
    name="palindrome",
    idea="growing palindromes from their centres",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `c`; it may be empty"),),
    result=Kind.TEXT,
    solve=palindrome,
    parameters=lambda rng, level: {"last": pick(rng, (False, True)), "odd": level > 1 and pick(rng, (False, True))},
    statement=lambda parameters: (
        "Give the longest contiguous part of the text that reads the same backwards"
        f"{' and has an odd number of letters' if parameters['odd'] else ''}; of several longest the one that begins "
        f"{'last' if parameters['last'] else 'first'}. The part of an empty text is empty."
    ),
    draw=lambda rng, level, _: (_mirrors(rng, length(rng, level)),),
    mutants=(
        Mutant("the wrong one of two longest", "(last and", "(not last and"),
        Mutant("the wrong lengths", "if odd and centre % 2:", "if not odd and centre % 2:"),
        Mutant("misses those that begin with the first letter", "while left >= 0", "while left > 0"),
        Mutant("misses those that end with the last letter", "right < len(text)", "right < len(text) - 1"),
        Mutant("grows by one step only", "while left", "if left"),
        Mutant("tries the first half of the centres", "range(2 * len(text) - 1)", "range(len(text))"),
    ),
)


def _mirrors(rng: random.Random, count: int) -> str:
    """A text with a palindrome in it, now and then at its beginning or end."""
    half = words(rng, "abc", whole(rng, 0, count // 2))
    whole_part = half + half[::-1] if rng.random() < 0.5 else half + half[-2::-1]
    rest = max(0, count - len(whole_part))
    before = pick(rng, (0, rest, whole(rng, 0, rest)))
    return words(rng, "abc", before) + whole_part + words(rng, "abc", rest - before)


def anagram_groups(words: list[str], *, least: int) -> list[str]:
    """Words are anagrams if their sorted letters are the same."""
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault("".join(sorted(word)), []).append(word)
    return [" ".join(sorted(group)) for group in groups.values() if len(group) >= least]


ANAGRAM_GROUPS = Family(
    name="anagram_groups",
    idea="grouping by a canonical form",
    arguments=(Argument("words", Kind.LINES, "up to 28 words of the letters `a` to `c`, none of them empty"),),
    result=Kind.LINES,
    solve=anagram_groups,
    parameters=lambda rng, level: {"least": whole(rng, 2, 1 + level)},
    statement=lambda parameters: (
        "Two words are in one group if they consist of the same letters, each the same number of times. For each group "
        f"of at least {parameters['least']} words (a word that is there twice counts twice) write a line with its "
        "words in alphabetical order, separated by single spaces. The order of the lines is that in which the first "
        "words of the groups stand in the input."
    ),
    draw=lambda rng, level, parameters: (_anagrams(rng, level, parameters["least"]),),
    mutants=(
        Mutant("leaves out groups of exactly that size", ">= least", "> least"),
        Mutant("forgets how often a letter is there", "sorted(word)", "sorted(set(word))"),
        Mutant("words in the order of the input", "sorted(group)", "group"),
        Mutant(
            "a word that is there twice counts once",
            "sorted(group)) for group in groups.values() if len(group)",
            "sorted(group)) for group in groups.values() if len(set(group))",
        ),
        Mutant("groups in alphabetical order", "groups.values()", "dict(sorted(groups.items())).values()"),
        Mutant("words of the same length are a group", '"".join(sorted(word))', "str(len(word))"),
    ),
)


def _anagrams(rng: random.Random, level: int, least: int) -> list[str]:
    """Words and rearrangements of some of them."""
    found: list[str] = []
    count = length(rng, level)
    for word in word_list(rng, count, 3 + level // 2, "abc"):
        copies = pick(rng, (1, least - 1, least, least + 1))
        found += ["".join(shuffled(rng, word)) for _ in range(copies)]
    return shuffled(rng, found[:count])


def smallest_period(text: str, *, divides: bool) -> int:
    """The prefix function of Knuth, Morris and Pratt: the longest border gives the smallest period."""
    border = [0] * len(text)
    for place in range(1, len(text)):
        size = border[place - 1]
        while size and text[place] != text[size]:
            size = border[size - 1]
        border[place] = size + (text[place] == text[size])
    size = border[-1] if text else 0
    while divides and size and len(text) % (len(text) - size):
        size = border[size - 1]
    return len(text) - size


SMALLEST_PERIOD = Family(
    name="smallest_period",
    idea="the prefix function of a text (Knuth, Morris and Pratt)",
    arguments=(Argument("text", Kind.TEXT, "up to 28 letters, from `a` to `c`; it may be empty"),),
    result=Kind.INT,
    solve=smallest_period,
    parameters=lambda rng, _level: {"divides": pick(rng, (False, True))},
    statement=lambda parameters: (
        "A number p from 1 up to the length of the text is a period if each letter equals the one p places further on, "
        "where there is one. "
        + ("It must divide the length of the text. " if parameters["divides"] else "It need not divide the length. ")
        + "Give the smallest period; an empty text has the period 0."
    ),
    draw=lambda rng, level, _: (_periodic(rng, length(rng, level)),),
    mutants=(
        Mutant("a period must divide the length, or need not", "while divides and", "while not divides and"),
        Mutant("does not look at the last letter", "range(1, len(text))", "range(1, len(text) - 1)"),
        Mutant("looks once for a shorter border", "while size and text[place]", "if size and text[place]"),
        Mutant("gives the length of the border", "return len(text) - size", "return size or len(text)"),
        Mutant(
            "a text of one letter has no period",
            "return len(text) - size",
            "return len(text) - size if len(set(text)) > 1 else 0",
        ),
    ),
)


def _periodic(rng: random.Random, count: int) -> str:
    """A repeated word, cut at any place or whole, now and then with another letter in it or at its end."""
    word = words(rng, "aab", whole(rng, 1, 4))
    if rng.random() < 0.4:
        word = word + word[: whole(rng, 0, 2)] + words(rng, "ab", 1) if rng.random() < 0.5 else "aaab"
    text = (word * 28)[:count]
    if rng.random() < 0.5:
        text = text[: count - count % len(word)]
    if text and rng.random() < 0.4:
        place = pick(rng, (len(text) - 1, whole(rng, 0, len(text) - 1)))
        text = text[:place] + pick(rng, "abc") + text[place + 1 :]
    return text


FAMILIES = (RUN_LENGTHS, NESTED_REPEATS, PALINDROME, ANAGRAM_GROUPS, SMALLEST_PERIOD)
