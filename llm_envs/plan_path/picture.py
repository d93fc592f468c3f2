"""Plan-Path as a picture."""

from functools import cache

import numpy as np

from llm_envs.plan_path.board import GOAL, HIGHEST_COST, START, WALL
from llm_envs.plan_path.grid_text import COSTS
from llm_envs.plan_path.state import State
from llm_envs.render.image import Canvas, Colour, Pixels, Place, assemble, mix

TILE = 40  # pixels; even, as most video formats need
_GAP = 2  # between cells

_GROUND: Colour = (206, 203, 194)
_FREE: Colour = (250, 248, 243)
_DEAR: Colour = (214, 121, 55)
_WALL: Colour = (61, 68, 84)
_INK: Colour = (104, 66, 36)
_START: Colour = (150, 160, 176)
_GOAL: Colour = (34, 139, 92)
_AGENT: Colour = (37, 99, 196)
_WHITE: Colour = (255, 255, 255)
_CANDIDATE: Colour = (120, 86, 190)

_MIDDLE = (TILE / 2, TILE / 2)
_CODES = {WALL: 0, START: HIGHEST_COST + 1, GOAL: HIGHEST_COST + 2} | COSTS  # a free cell that costs c has code c


@cache
def _tiles() -> Pixels:
    """A tile for each code."""
    tiles = [_cell(_WALL)]
    for cost in range(1, HIGHEST_COST + 1):
        tile = _cell(mix(_FREE, _DEAR, 0.75 * (cost - 1) / (HIGHEST_COST - 1)))
        if cost > 1:
            tile.character(_MIDDLE, str(cost), 2, _INK)
        tiles.append(tile)
    start = _cell(_FREE)
    start.ring(_MIDDLE, 0.27 * TILE, 3.0, _START)
    goal = _cell(mix(_FREE, _GOAL, 0.25))
    return np.stack([tile.pixels for tile in [*tiles, start, goal]])


def _cell(colour: Colour) -> Canvas:
    tile = Canvas.plain(TILE, TILE, _GROUND)
    tile.box(_MIDDLE, (TILE - _GAP, TILE - _GAP), colour, radius=5.0)
    return tile


def draw(state: State) -> Pixels:
    """The grid, the goal as a flag, the agent as a disc, and dots along the candidate."""
    board = state.board
    marks = board.text.replace("\n", "")
    codes = np.array([_CODES.get(mark, 1) for mark in marks]).reshape(board.size, board.size)
    canvas = Canvas(assemble(_tiles(), codes))
    if not state.solved:
        _draw_flag(canvas, _place(board.goal, board.size))
    _draw_candidate(canvas, state)
    _draw_agent(canvas, _place(state.position, board.size))
    return canvas.pixels


def _place(cell: int, size: int) -> Place:
    """The middle of a cell."""
    row, column = divmod(cell, size)
    return (row + 0.5) * TILE, (column + 0.5) * TILE


def _draw_flag(canvas: Canvas, middle: Place) -> None:
    row, column = middle
    for inset in range(15):  # a pennant, as lines of one pixel that grow shorter
        canvas.box((row - 4.0, column - 5.5 + inset), (15.0 * (1.0 - inset / 15.0), 1.0), _GOAL)
    canvas.line((row - 11.5, column - 7.0), (row + 12.0, column - 7.0), 3.0, _WALL)


def _draw_agent(canvas: Canvas, middle: Place) -> None:
    canvas.disc(middle, 0.3 * TILE + 1.5, _WHITE)
    canvas.disc(middle, 0.3 * TILE, _AGENT)
    row, column = middle
    canvas.disc((row - 0.09 * TILE, column - 0.09 * TILE), 0.08 * TILE, _WHITE, opacity=0.65)


def _draw_candidate(canvas: Canvas, state: State) -> None:
    """Dots between the cells that the candidate leads through, as far as nothing blocks it."""
    board, cell = state.board, state.position
    for move in state.candidate or ():
        target = board.ways[cell][move]
        if target in board.blocked or cell == board.goal:
            break
        begin, end = _place(cell, board.size), _place(target, board.size)
        for share in (0.36, 0.5, 0.64):
            spot = (begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share)
            canvas.disc(spot, 2.6, _CANDIDATE)
        cell = target
    if cell not in (state.position, board.goal):
        canvas.ring(_place(cell, board.size), 0.3 * TILE, 2.5, _CANDIDATE)
