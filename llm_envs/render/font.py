"""A bitmap font of 5 by 7 pixels for what boards show: digits, and the letters that 16x16 Sudokus need."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 5, 7
# Each glyph row by row, `#` for ink.
_GLYPHS = {
    "0": ".###. #...# #..## #.#.# ##..# #...# .###.",
    "1": "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    "2": ".###. #...# ....# ...#. ..#.. .#... #####",
    "3": "##### ...#. ..#.. ...#. ....# #...# .###.",
    "4": "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "5": "##### #.... ####. ....# ....# #...# .###.",
    "6": "..##. .#... #.... ####. #...# #...# .###.",
    "7": "##### ....# ...#. ..#.. .#... .#... .#...",
    "8": ".###. #...# #...# .###. #...# #...# .###.",
    "9": ".###. #...# #...# .#### ....# ...#. .##..",
    "A": ".###. #...# #...# ##### #...# #...# #...#",
    "B": "####. #...# #...# ####. #...# #...# ####.",
    "C": ".###. #...# #.... #.... #.... #...# .###.",
    "D": "####. #...# #...# #...# #...# #...# ####.",
    "E": "##### #.... #.... ####. #.... #.... #####",
    "F": "##### #.... #.... ####. #.... #.... #....",
    "G": ".###. #...# #.... #.### #...# #...# .####",
}


@cache
def glyph(character: str, scale: int) -> NDArray[np.bool_]:
    """The ink of a character, each of its pixels `scale` wide and high; shape (7 * scale, 5 * scale), read-only.

    Raises:
        KeyError: a character that the font lacks.
    """
    ink = np.array([[mark == "#" for mark in row] for row in _GLYPHS[character].split()])
    scaled = ink.repeat(scale, axis=0).repeat(scale, axis=1)
    scaled.flags.writeable = False
    return scaled
