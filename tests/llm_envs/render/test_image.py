"""Shapes, characters, tiles."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs.render.font import HEIGHT, WIDTH, glyph
from llm_envs.render.image import Canvas, assemble, mix

WHITE, BLACK = (255, 255, 255), (0, 0, 0)
CHARACTERS = "0123456789ABCDEFG"


def ink(canvas: Canvas) -> float:
    """How many pixels are covered, partly covered ones in part."""
    return float((255.0 - canvas.pixels[..., 0]).sum() / 255.0)


def test_every_character_is_five_by_seven_and_looks_like_no_other() -> None:
    shapes = [glyph(character, 1) for character in CHARACTERS]
    assert {shape.shape for shape in shapes} == {(HEIGHT, WIDTH)}
    for one, other in itertools.combinations(shapes, 2):
        assert (one != other).sum() >= 2


def test_a_character_is_scaled_by_whole_pixels_and_shared_unchanged() -> None:
    assert glyph("8", 3).shape == (21, 15)
    assert (glyph("8", 3)[1::3, 1::3] == glyph("8", 1)).all()
    with pytest.raises(ValueError, match="read-only"):
        glyph("8", 3)[0, 0] = True
    with pytest.raises(KeyError):
        glyph("?", 1)


def test_a_character_is_drawn_around_its_middle_in_its_own_colour_only() -> None:
    canvas = Canvas.plain(40, 40, WHITE)
    canvas.character((20.0, 20.0), "1", 3, BLACK)
    assert {tuple(pixel) for pixel in canvas.pixels.reshape(-1, 3).tolist()} == {WHITE, BLACK}
    rows, columns = np.nonzero(canvas.pixels[..., 0] == 0)
    assert (rows.min(), rows.max()) == (10, 30)
    assert columns.min() + columns.max() == pytest.approx(39, abs=1)


@given(
    row=st.floats(15, 45),
    column=st.floats(15, 45),
    radius=st.floats(2, 12),
    height=st.floats(2, 25),
    width=st.floats(2, 25),
)
def test_shapes_cover_their_area_wherever_they_stand(
    row: float, column: float, radius: float, height: float, width: float
) -> None:
    disc, box, ring = (Canvas.plain(60, 60, WHITE) for _ in range(3))
    disc.disc((row, column), radius, BLACK)
    assert ink(disc) == pytest.approx(np.pi * radius**2, rel=0.06, abs=1.5)
    box.box((row, column), (height, width), BLACK)
    assert ink(box) == pytest.approx(height * width, rel=0.06, abs=3)
    ring.ring((row, column), radius, 2.0, BLACK)
    assert ink(ring) == pytest.approx(2 * np.pi * radius * 2.0, rel=0.1, abs=3)


def test_a_line_has_the_same_width_in_every_direction() -> None:
    for angle in np.linspace(0, np.pi, 7):
        canvas = Canvas.plain(60, 60, WHITE)
        down, right = 20 * np.sin(angle), 20 * np.cos(angle)
        canvas.line((30 - down, 30 - right), (30 + down, 30 + right), 4.0, BLACK)
        assert ink(canvas) == pytest.approx(40 * 4 + np.pi * 4, rel=0.05)


def test_rounded_corners_take_area_away_at_the_corners_only() -> None:
    plain, rounded = Canvas.plain(40, 40, WHITE), Canvas.plain(40, 40, WHITE)
    plain.box((20.0, 20.0), (30.0, 30.0), BLACK)
    rounded.box((20.0, 20.0), (30.0, 30.0), BLACK, radius=8.0)
    changed = np.argwhere((plain.pixels != rounded.pixels).any(axis=-1))
    assert changed.size
    assert (np.abs(changed + 0.5 - 20) > 6).all()
    assert ink(plain) - ink(rounded) == pytest.approx((4 - np.pi) * 64, rel=0.05)


def test_shapes_may_stand_over_the_edges_or_outside() -> None:
    canvas = Canvas.plain(20, 20, WHITE)
    canvas.disc((0.0, 0.0), 8.0, BLACK)
    assert ink(canvas) == pytest.approx(np.pi * 16, rel=0.05)
    before = canvas.pixels.copy()
    canvas.disc((-50.0, 70.0), 8.0, BLACK)
    canvas.box((90.0, 90.0), (4.0, 4.0), BLACK)
    assert (canvas.pixels == before).all()


def test_a_board_is_its_tiles_in_their_places() -> None:
    tiles = np.arange(3 * 2 * 4 * 3, dtype=np.uint8).reshape(3, 2, 4, 3)
    codes = np.array([[0, 1, 2], [2, 2, 0]])
    picture = assemble(tiles, codes)
    assert picture.shape == (4, 12, 3)
    for row, column in np.ndindex(2, 3):
        assert (picture[2 * row : 2 * row + 2, 4 * column : 4 * column + 4] == tiles[codes[row, column]]).all()
    picture[:] = 0
    assert tiles.any(), "a picture is no view on the tiles"


def test_colours_mix() -> None:
    assert [mix(WHITE, BLACK, share) for share in (0.0, 1.0)] == [WHITE, BLACK]
    assert mix((0, 100, 200), (100, 0, 200), 0.5) == (50, 50, 200)
