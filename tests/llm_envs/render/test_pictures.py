"""`rgb_array` of the three games, and PettingZoo's `RecordVideo` on top of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_envs import plan_path_v0, sokoban_v0, sudoku_v0
from llm_envs.plan_path import picture as plan_path
from llm_envs.plan_path.state import State as PathState
from llm_envs.plan_path.state import parse as parse_path
from llm_envs.render.image import Pixels
from llm_envs.sokoban import picture as sokoban
from llm_envs.sokoban.state import parse as parse_sokoban
from llm_envs.sudoku import picture as sudoku
from llm_envs.sudoku.state import parse as parse_sudoku
from tests.llm_envs.plan_path.strategies import states

GAMES: dict[str, Any] = {"plan_path": plan_path_v0, "sokoban": sokoban_v0, "sudoku": sudoku_v0}
ROWS: list[tuple[str, dict[str, Any]]] = [
    ("plan_path", {}),
    ("plan_path", {"size": 16, "weights": 9, "diagonal": True}),
    ("plan_path", {"action_format": "discrete", "size": 5}),
    ("sokoban", {"difficulty": "hard"}),
    ("sokoban", {"action_format": "discrete", "size": (7, 9)}),
    ("sudoku", {"size": 4}),
    ("sudoku", {"size": 6}),
    ("sudoku", {"engine": "python", "action_format": "discrete"}),
    ("sudoku", {"size": 16, "blanks": 60, "engine": "python"}),
]


def changed(one: Pixels, other: Pixels, tile: int, frame: int = 0) -> set[tuple[int, int]]:
    """The cells in which two pictures differ."""
    places = np.argwhere((one != other).any(axis=-1)) - frame
    return {(row // tile, column // tile) for row, column in places.tolist()}


@pytest.mark.parametrize(("game", "options"), ROWS)
def test_a_game_shows_a_picture_that_a_video_can_take(game: str, options: dict[str, Any]) -> None:
    env = GAMES[game].env(render_mode="rgb_array", **options)
    env.reset(seed=1)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert picture.shape[2] == 3
    assert picture.shape[0] % 2 == picture.shape[1] % 2 == 0, "most codecs halve both sides"
    assert len({pixel.tobytes() for row in picture[::3] for pixel in row}) >= 4
    again = env.render()
    assert (again == picture).all()
    again[:] = 0
    assert (env.render() == picture).all(), "pictures share nothing"


@given(states(), st.data())
def test_the_agent_is_seen_where_it_stands_and_nowhere_else(state: PathState, data: st.DataObject) -> None:
    size = state.board.size
    cell = data.draw(st.sampled_from([c for c in range(size * size) if c not in state.board.blocked]))
    plain = state._replace(candidate=None)
    seen = changed(plan_path.draw(plain), plan_path.draw(plain._replace(position=cell)), plan_path.TILE)
    assert seen == ({divmod(cell, size), divmod(state.position, size)} if cell != state.position else set())


def test_a_candidate_is_dotted_from_cell_to_cell_up_to_what_blocks_it() -> None:
    grid = "@...\n.#..\n....\n...G"
    bare = plan_path.draw(parse_path(grid))

    def dotted(moves: str) -> set[tuple[int, int]]:
        return changed(bare, plan_path.draw(parse_path(f"{grid}\ncandidate: {moves}")), plan_path.TILE)

    assert dotted("right down down") == {(0, 0), (0, 1)}
    assert dotted("down down") == {(0, 0), (1, 0), (2, 0)}
    assert dotted("up") == set()


@pytest.mark.parametrize("mark", [*"#.23456789", "G"])
def test_every_symbol_of_plan_path_has_a_look_of_its_own(mark: str) -> None:
    looks = []
    for other in [*"#.23456789", "G"]:
        row = f"@.{other}." if other != "G" else "@.G."
        grid = f"{row}\n....\n....\n..." + ("G" if other != "G" else ".")
        looks.append(
            (other, plan_path.draw(parse_path(grid))[: plan_path.TILE, 2 * plan_path.TILE :][:, : plan_path.TILE])
        )
    (mine,) = [look for other, look in looks if other == mark]
    assert [other for other, look in looks if (look == mine).all()] == [mark]


def test_every_symbol_of_sokoban_has_a_look_of_its_own() -> None:
    """UC-026, for pictures."""
    room = "#######\n#@$ . #\n# +   #\n#  *  #\n#######".replace("+", " ")
    other = "#######\n# $ + #\n#     #\n#  *  #\n#######"
    picture, second = sokoban.draw(parse_sokoban(room)), sokoban.draw(parse_sokoban(other))
    side = sokoban.TILE
    cells = {
        name: picture[r * side : (r + 1) * side, c * side : (c + 1) * side].tobytes()
        for name, (r, c) in {
            "wall": (0, 0),
            "player": (1, 1),
            "box": (1, 2),
            "floor": (1, 3),
            "goal": (1, 4),
            "box on goal": (3, 3),
        }.items()
    }
    cells["player on goal"] = second[side : 2 * side, 4 * side : 5 * side].tobytes()
    assert len(set(cells.values())) == 7


def test_a_filled_digit_is_blue_a_clue_dark_and_a_digit_that_breaks_a_rule_red() -> None:
    puzzle = "1...\n..3.\n.4..\n...2"
    clash = "now:\n1...\n..3.\n.41.\n..12"
    state = parse_sudoku(f"{puzzle}\n\nnow:\n12..\n..3.\n.4..\n...2")
    bare, filled = sudoku.draw(parse_sudoku(puzzle)), sudoku.draw(state)
    assert changed(bare, filled, sudoku.TILE, frame=2) == {(0, 1)}
    colours = {tuple(pixel) for pixel in filled.reshape(-1, 3).tolist()}
    assert {sudoku.CLUE, sudoku.FILLED} <= colours
    assert sudoku.CLASH not in colours
    assert sudoku.CLASH in {tuple(p) for p in sudoku.draw(parse_sudoku(f"{puzzle}\n\n{clash}")).reshape(-1, 3).tolist()}


def test_a_picture_does_not_tell_whether_a_digit_that_breaks_no_rule_is_right() -> None:
    """UC-037."""
    env = sudoku_v0.raw_env(size=4, roles="planners", render_mode="rgb_array")
    env.reset(options={"task": "1...\n..3.\n.4..\n...2"})
    solution = env.snapshot.puzzle.solution
    pictures = []
    for digit in (solution[1], 5 - solution[1]):
        env.reset(options={"task": "1...\n..3.\n.4..\n...2"})
        env.step(f"<answer>r1c2={digit}</answer>")
        pictures.append({tuple(pixel) for pixel in env.render().reshape(-1, 3).tolist()})
    assert pictures[0] == pictures[1]


@pytest.mark.needs("video")
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_wrapper_writes_a_video(game: str, tmp_path: Path) -> None:
    pytest.importorskip("moviepy", reason="moviepy is not installed (extra `video`)")
    from moviepy import VideoFileClip
    from pettingzoo.utils.wrappers import RecordVideo

    options = {"size": 4} if game == "sudoku" else {"max_moves": 1} if game == "plan_path" else {"max_cycles": 60}
    env = RecordVideo(
        GAMES[game].env(render_mode="rgb_array", roles="planners", **options),
        str(tmp_path / "videos"),
        episode_trigger=lambda episode: True,
        name_prefix=game,
    )
    env.reset(options={"index": 1})
    first, frames = env.render(), 1
    for agent in env.agent_iter():
        *_, terminated, truncated, _ = env.last()
        reply = None
        if not (terminated or truncated):
            reply = env.unwrapped.task.reference("oracle", env.unwrapped.snapshot, env.unwrapped.roles[agent], None)
        env.step(reply)
        frames += 1
    env.close()
    with VideoFileClip(str(tmp_path / "videos" / f"{game}-episode-0.mp4")) as clip:
        assert clip.size == [first.shape[1], first.shape[0]]
        assert clip.duration * clip.fps == pytest.approx(frames, abs=1)
        difference = np.abs(clip.get_frame(0).astype(int) - first)
        assert difference.mean() < 8, "a video keeps what the picture shows"
