"""The animations in docs/images are small, and show what the games look like now."""

import importlib.util
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from llm_envs.sandbox.base import Sandbox
from tests.architecture.paths import ROOT

FOLDER = ROOT / "docs" / "images"
MOST_BYTES = 150_000

pytestmark = pytest.mark.needs("video")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("PIL", reason="pillow is not installed (extra `video`)")
    spec = importlib.util.spec_from_file_location("draw_games", FOLDER / "draw_games.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("game", ["plan_path", "sokoban", "sudoku"])
def test_an_animation_is_small_and_what_the_script_draws(game: str, script: ModuleType, sandbox: Sandbox) -> None:
    """`python docs/images/draw_games.py` draws them anew."""
    from PIL import Image, ImageSequence

    path = FOLDER / f"{game}.gif"
    assert path.stat().st_size < MOST_BYTES
    drawn = list(script.plan_path(sandbox) if game == "plan_path" else script.GAMES[game]())
    with Image.open(path) as image:
        shown = [np.array(frame.convert("RGB")).astype(int) for frame in ImageSequence.Iterator(image)]
    assert len(shown) == len(drawn)
    assert all(unlike(one, other) < 10 for one, other in zip(shown, drawn, strict=True)), "but for the palette"
    assert all(unlike(one, other) > 20 for one, other in zip(shown[1:], drawn, strict=False)), "negative control"


def unlike(one: NDArray[np.int_], other: NDArray[np.int_]) -> int:
    """How many pixels are of clearly different colours."""
    return int((np.abs(one - other).max(axis=-1) > 48).sum())
