"""The learning curve of a run as a picture, from its `metrics.jsonl`."""

import json
import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

SUCCESS = {"eval_success": "evaluation: one reply a turn", "tree/success": "training trees: best of K at every turn"}
PANELS = {
    "success": "episodes solved",
    "reward": "reward of a reply",
    "invalid_rate": "invalid replies",
}


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The entries of a metrics file in their order; a last line without its newline is a torn write and is left out."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def draw_curves(metrics: Path, picture: Path) -> bool:
    """Draw success (training and evaluation), reward and invalid rate, a curve a role, into a PNG.

    Returns:
        whether there was anything to draw, and matplotlib to draw it with.
    """
    entries = read_metrics(metrics)
    curves = {panel: _curves(entries, panel) for panel in PANELS}
    if not any(curves.values()):
        return False
    if find_spec("matplotlib") is None:
        logger.info("no learning curve is drawn, since matplotlib is missing: pip install matplotlib")
        return False
    from matplotlib.figure import Figure  # without pyplot: no global state, no display

    figure = Figure(figsize=(4.5 * len(PANELS), 3.4), layout="constrained")
    for axes, (panel, title) in zip(figure.subplots(1, len(PANELS)), PANELS.items(), strict=True):
        axes.set(title=title, xlabel="iteration")
        axes.grid(visible=True, alpha=0.3)
        for name, points in sorted(curves[panel].items()):
            axes.plot(*zip(*points, strict=True), label=name, marker="o" if len(points) < 20 else None, markersize=3)
        if panel != "reward":
            axes.set_ylim(-0.02, 1.02)
        if curves[panel]:
            axes.legend(fontsize="small")
    partial = picture.with_name(f".{picture.name}")
    figure.savefig(partial, format="png", dpi=120)
    partial.replace(picture)
    return True


def _curves(entries: list[dict[str, Any]], panel: str) -> dict[str, list[tuple[int, float]]]:
    """Name of a curve -> points. `success` is the whole team's; the other panels have a curve a role."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for entry in entries:
        for key, value in entry.items():
            owner, _, name = key.partition("/")
            if key in SUCCESS:
                owner, name = SUCCESS[key], "success"
            if owner and name == panel and value is not None:
                curves.setdefault(owner, []).append((entry["step"], value))
    return curves
