"""Units: which words are one, and which are the same."""

import re

MULTIPLES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}  # powers of ten
_SAME = {
    "cm": "centimeter centimetre", "m": "meter metre", "mm": "millimeter millimetre", "km": "kilometer kilometre",
    "in": "inch inches", "ft": "foot feet", "yd": "yard", "mi": "mile",
    "g": "gram", "kg": "kilogram", "mg": "milligram", "lb": "pound", "oz": "ounce",
    "s": "sec second", "min": "minute", "h": "hr hour", "day": "", "week": "", "month": "", "year": "yr",
    "l": "L liter litre", "ml": "mL milliliter millilitre", "mph": "", "km/h": "kph kmh", "m/s": "",
    "degree": r"deg ^\circ \circ", "degree c": "", "degree f": "",
    "dollar": r"\$ USD", "cent": r"\cent ¢", "€": "euro EUR", "£": "GBP",
    "radian": "rad", "unit": "", "point": "pt", "gal": "gallon", "qt": "quart",
}  # fmt: skip
_NAMES = {other: name for name, others in _SAME.items() for other in (name, *others.split())}
_CHANGING = (
    "or and not no to than less more about over under approximately around at least most from between minus plus times "
    "negative half quarter third dozen score squared cubed mod modulo base if when where for is are remainder percent "
    "otherwise"
)
_NOT_UNITS = frozenset(_CHANGING.split())
_WORDS = re.compile(r"[A-Za-z$€£¢\\]+(?:[ /-][A-Za-z]+)*\.?(?: ?\^ ?\{?[23]\}?)?|\^ ?\{? ?\\circ ?\}?(?: ?[CF])?")


def unit_named(text: str) -> str | None:
    """The name of a unit, the same for all its spellings; None where the text is no unit.

    Any words are one, since answers count apples and dollars per day, but for those that could change the number.
    """
    text = text.strip().removesuffix(".")
    if not _WORDS.fullmatch(text):
        return None
    head, power, exponent = text.partition("^") if not text.startswith("^") else (text, "", "")
    words = [word for word in head.strip().split(" ") if word]
    if any(word.lower() in _NOT_UNITS or word.lower() in MULTIPLES for word in words):
        return None
    if len(words) == 2 and words[0] in {"square", "sq", "cubic"}:
        power, exponent = "^", "3" if words[0] == "cubic" else "2"
        words = words[1:]
    name = " ".join(_singular(word) for word in words)
    name = name.replace("degree celsius", "degree c").replace("degree fahrenheit", "degree f")
    return name + (f"^{exponent.strip(' {}')}" if power else "")


def is_known_unit(text: str) -> bool:
    """Whether a bare word behind a number is a unit and no product of variables."""
    return text in _NAMES or _singular(text) in _SAME


def _singular(word: str) -> str:
    if word in _NAMES:
        return _NAMES[word]
    lower = word.lower()
    for candidate in (lower, lower.removesuffix("s")):
        if candidate in _NAMES:
            return _NAMES[candidate]
    return lower.removesuffix("s") if len(lower) > 3 else lower
