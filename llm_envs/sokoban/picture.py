"""Sokoban as a picture."""

from functools import cache

import numpy as np

from llm_envs.render.image import Canvas, Colour, Pixels, assemble, mix
from llm_envs.sokoban.board import BOX, BOX_ON_GOAL, FLOOR, GOAL, PLAYER, PLAYER_ON_GOAL, WALL
from llm_envs.sokoban.state import State

TILE = 40  # pixels; even, as most video formats need

_FLOOR: Colour = (250, 248, 243)
_SEAM: Colour = (233, 229, 219)
_WALL: Colour = (61, 68, 84)
_WOOD: Colour = (198, 134, 66)
_DONE: Colour = (46, 152, 104)
_GOAL: Colour = (34, 139, 92)
_PLAYER: Colour = (37, 99, 196)
_WHITE: Colour = (255, 255, 255)
_BLACK: Colour = (0, 0, 0)

_MIDDLE = (TILE / 2, TILE / 2)
_SYMBOLS = (FLOOR, WALL, GOAL, BOX, BOX_ON_GOAL, PLAYER, PLAYER_ON_GOAL)


@cache
def _tiles() -> Pixels:
    """A tile for each symbol of XSB, in the order of `_SYMBOLS`."""
    floor, wall, goal, box, box_on_goal, player, player_on_goal = (_floor() for _ in _SYMBOLS)
    _draw_wall(wall)
    for tile in (goal, player_on_goal):
        tile.box(_MIDDLE, (TILE - 2.0, TILE - 2.0), mix(_FLOOR, _GOAL, 0.25), radius=4.0)
    goal.ring(_MIDDLE, 0.2 * TILE, 3.0, _GOAL)
    goal.disc(_MIDDLE, 0.07 * TILE, _GOAL)
    _draw_box(box, _WOOD)
    _draw_box(box_on_goal, _DONE)
    for tile in (player, player_on_goal):
        _draw_player(tile)
    tiles = (floor, wall, goal, box, box_on_goal, player, player_on_goal)
    return np.stack([tile.pixels for tile in tiles])


def _floor() -> Canvas:
    tile = Canvas.plain(TILE, TILE, _SEAM)
    tile.box(_MIDDLE, (TILE - 1.0, TILE - 1.0), _FLOOR)
    return tile


def _draw_wall(tile: Canvas) -> None:
    """Two courses of bricks."""
    tile.box(_MIDDLE, (TILE, TILE), mix(_WALL, _BLACK, 0.35))
    brick = (TILE / 2 - 2.0, TILE - 2.0)
    tile.box((TILE / 4, TILE / 2), brick, _WALL, radius=2.0)
    for column in (0.0, float(TILE)):
        tile.box((0.75 * TILE, column), brick, _WALL, radius=2.0)


def _draw_box(tile: Canvas, colour: Colour) -> None:
    """A crate with a frame and a cross."""
    dark, side = mix(colour, _BLACK, 0.35), TILE - 7.0
    tile.box(_MIDDLE, (side, side), dark, radius=4.0)
    tile.box(_MIDDLE, (side - 4.0, side - 4.0), colour, radius=2.5)
    inset = 11.0
    tile.line((inset, inset), (TILE - inset, TILE - inset), 3.5, dark)
    tile.line((TILE - inset, inset), (inset, TILE - inset), 3.5, dark)


def _draw_player(tile: Canvas) -> None:
    tile.disc(_MIDDLE, 0.3 * TILE + 1.5, _WHITE)
    tile.disc(_MIDDLE, 0.3 * TILE, _PLAYER)
    for column in (-4.0, 4.0):
        tile.disc((TILE / 2 - 2.5, TILE / 2 + column), 2.2, _WHITE)


def draw(state: State) -> Pixels:
    """The room: bricks, goals as targets, crates (green on a goal), the player as a face."""
    lines = state.board.text.split("\n")
    codes = np.array([[_SYMBOLS.index(symbol) for symbol in line] for line in lines])
    return assemble(_tiles(), codes)
