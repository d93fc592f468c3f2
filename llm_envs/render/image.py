"""Pictures of boards as arrays, with NumPy alone: smooth shapes, crisp digits, tiles.

A picture is an array of shape (height, width, 3) and dtype uint8, what PettingZoo's `rgb_array` mode gives. Places are
(row, column) in pixels from the top left corner; pixel (0, 0) has its centre at (0.5, 0.5).
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from llm_envs.render.font import HEIGHT, WIDTH, glyph

Pixels = NDArray[np.uint8]
Distances = NDArray[np.floating[Any]]
Colour = tuple[int, int, int]
Place = tuple[float, float]


class Canvas:
    """A picture to draw on. Edges of shapes are smoothed by how much of each pixel they cover."""

    def __init__(self, pixels: Pixels) -> None:
        """Draw on `pixels`, in place."""
        self.pixels = pixels

    @classmethod
    def plain(cls, height: int, width: int, colour: Colour) -> Self:
        """A new picture of one colour."""
        return cls(np.full((height, width, 3), colour, np.uint8))

    def fill(self, top: int, left: int, height: int, width: int, colour: Colour) -> None:
        """A rectangle of whole pixels."""
        self.pixels[top : top + height, left : left + width] = colour

    def box(self, centre: Place, size: Place, colour: Colour, *, radius: float = 0.0) -> None:
        """A rectangle of height and width `size`, its corners rounded."""
        half = (size[0] / 2, size[1] / 2)
        rows, columns, window = self._window(centre, half)
        down, right = np.abs(rows - centre[0]) - half[0] + radius, np.abs(columns - centre[1]) - half[1] + radius
        outside = np.hypot(np.maximum(down, 0.0), np.maximum(right, 0.0))
        self._paint(window, outside + np.minimum(np.maximum(down, right), 0.0) - radius, colour)

    def disc(self, centre: Place, radius: float, colour: Colour, *, opacity: float = 1.0) -> None:
        """A filled circle."""
        rows, columns, window = self._window(centre, (radius, radius))
        self._paint(window, np.hypot(rows - centre[0], columns - centre[1]) - radius, colour, opacity)

    def ring(self, centre: Place, radius: float, width: float, colour: Colour) -> None:
        """A circle with a line of that width around `radius`."""
        reach = radius + width / 2
        rows, columns, window = self._window(centre, (reach, reach))
        distance = np.abs(np.hypot(rows - centre[0], columns - centre[1]) - radius) - width / 2
        self._paint(window, distance, colour)

    def line(self, begin: Place, end: Place, width: float, colour: Colour) -> None:
        """A straight line with round ends."""
        middle = ((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)
        reach = (abs(end[0] - begin[0]) / 2 + width / 2, abs(end[1] - begin[1]) / 2 + width / 2)
        rows, columns, window = self._window(middle, reach)
        down, right = end[0] - begin[0], end[1] - begin[1]
        length = max(down * down + right * right, 1e-9)
        along = np.clip(((rows - begin[0]) * down + (columns - begin[1]) * right) / length, 0.0, 1.0)
        distance = np.hypot(rows - begin[0] - along * down, columns - begin[1] - along * right) - width / 2
        self._paint(window, distance, colour)

    def character(self, centre: Place, character: str, scale: int, colour: Colour) -> None:
        """A character of `llm_envs.render.font`, its pixels aligned with those of the picture."""
        top, left = round(centre[0] - HEIGHT * scale / 2), round(centre[1] - WIDTH * scale / 2)
        target = self.pixels[top : top + HEIGHT * scale, left : left + WIDTH * scale]
        target[glyph(character, scale)] = colour

    def _window(self, centre: Place, half: Place) -> tuple[Distances, Distances, Pixels]:
        """The centres of the pixels that a shape may touch, as a column of rows and a row of columns, and the pixels.

        Shapes may stand over the edges of the picture.
        """
        spans: list[tuple[int, int]] = []
        for middle, reach, most in zip(centre, half, self.pixels.shape, strict=False):
            spans.append((max(0, int(middle - reach - 1)), min(most, int(middle + reach + 2))))
        (top, bottom), (left, right) = spans
        rows, columns = np.arange(top, bottom)[:, None] + 0.5, np.arange(left, right)[None, :] + 0.5
        return rows, columns, self.pixels[top:bottom, left:right]

    @staticmethod
    def _paint(window: Pixels, distance: Distances, colour: Colour, opacity: float = 1.0) -> None:
        """Blend a colour in where the signed distance to the shape's edge is negative."""
        cover = opacity * np.clip(0.5 - distance, 0.0, 1.0)[..., None]
        window[...] = np.rint(window * (1.0 - cover) + np.array(colour) * cover)


def assemble(tiles: Pixels, codes: NDArray[np.integer[Any]]) -> Pixels:
    """The picture of a board: for each cell the tile with its code.

    Args:
        tiles: shape (number of codes, height, width, 3).
        codes: shape (rows, columns).
    """
    rows, columns = codes.shape
    _, height, width, _ = tiles.shape
    picture: Pixels = tiles[codes].swapaxes(1, 2).reshape(rows * height, columns * width, 3)
    return picture


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The colour between two; `share` of the second."""
    red, green, blue = (round(one + (other - one) * share) for one, other in zip(first, second, strict=True))
    return red, green, blue
