"""Pictures of runs: success with its intervals, and how it grows or shrinks with the number of samples."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llm_envs.core.errors import UsageError
from llm_envs_bench.standing import Standing
from llm_envs_bench.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#2f5bd0", "#b3412b", "#1a7a4c", "#8a5bb5", "#b07a1e", "#4a4842")  # told apart also in grey
REFERENCE = "#9b988f"
IN_A_ROW = 4  # panels


def write_plots(folder: Path, standings: Sequence[Standing], references: Sequence[Standing] = ()) -> list[Path]:
    """Write the plots as SVG and PNG and say where they are.

    Raises:
        UsageError: matplotlib is missing.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise UsageError("plots: need matplotlib; pip install 'llm-envs[bench]'.") from error
    folder.mkdir(parents=True, exist_ok=True)
    plots = {"success": _success_plot(standings, references)}
    if any(summary.passes for standing in standings for summary in standing.summaries):
        plots["samples"] = _samples_plot(standings)
    written = []
    with mpl.rc_context({"svg.hashsalt": "llm-envs", "svg.fonttype": "none"}):  # equal runs give equal files
        for name, figure in plots.items():
            for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
                written.append(folder / f"{name}{suffix}")
                figure.savefig(written[-1], dpi=160, metadata=metadata, bbox_inches="tight")
    return written


def _success_plot(standings: Sequence[Standing], references: Sequence[Standing]) -> "Figure":
    """A panel an entry, and one for the score where there are several; a line a run."""
    everyone = [*standings, *references]
    entries = list(dict.fromkeys(summary.entry for one in everyone for summary in one.summaries))
    panels: list[tuple[str, list[Estimate | None]]] = [
        (entry, [_found(one, entry) for one in everyone]) for entry in entries
    ]
    if len(entries) > 1:
        panels.insert(0, ("score", [one.score for one in everyone]))
    figure, axes = _panels(len(panels), height=0.9 + 0.32 * len(everyone))
    for axis, (title, estimates) in zip(axes, panels, strict=True):
        for place, found in enumerate(estimates):
            if found is not None:
                colour = REFERENCE if place >= len(standings) else COLOURS[place % len(COLOURS)]
                axis.plot([100 * found.low, 100 * found.high], [place, place], color=colour, linewidth=2)
                axis.plot([100 * found.value], [place], "o", color=colour, markersize=6)
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_xlim(-2, 102)
        axis.set_xlabel("solved, %, with 95% interval", fontsize=8)
        axis.set_yticks(range(len(everyone)), [_short(one.label) for one in everyone], fontsize=8)
        axis.set_ylim(len(everyone) - 0.5, -0.5)
    return figure


def _samples_plot(standings: Sequence[Standing]) -> "Figure":
    """A panel an entry: pass@k above, pass^k below, meeting at k = 1."""
    entries = list(dict.fromkeys(summary.entry for one in standings for summary in one.summaries if summary.passes))
    figure, axes = _panels(len(entries), height=2.6)
    for axis, entry in zip(axes, entries, strict=True):
        for place, standing in enumerate(standings):
            for summary in standing.summaries:
                if summary.entry == entry and summary.passes:
                    ks = [rate.k for rate in summary.passes]
                    colour = COLOURS[place % len(COLOURS)]
                    label = _short(standing.label)
                    axis.plot(ks, [100 * rate.once.value for rate in summary.passes], "o-", color=colour, label=label)
                    axis.plot(ks, [100 * rate.always.value for rate in summary.passes], "s--", color=colour)
                    axis.set_xticks(ks)
        axis.set_title(entry, fontsize=10, loc="left")
        axis.set_ylim(-2, 102)
        axis.set_xlabel("k: any (solid) or all (dashed) of k samples solved, %", fontsize=8)
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _panels(count: int, *, height: float) -> tuple["Figure", Sequence["Axes"]]:
    """Panels in rows that share their scale, without a window: `Figure` needs no display.

    Args:
        count: how many.
        height: of a panel, in inches.
    """
    from matplotlib.figure import Figure

    columns = min(count, IN_A_ROW)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(1.2 + 2.9 * columns, height * rows), layout="constrained")
    axes: Any = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for place, axis in enumerate(axes):
        axis.grid(axis="x", color="#dedad2", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.set_visible(place < count)
    return figure, list(axes)[:count]


def _found(standing: Standing, entry: str) -> Estimate | None:
    return next((summary.success for summary in standing.summaries if summary.entry == entry), None)


def _short(label: str, most: int = 34) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"
