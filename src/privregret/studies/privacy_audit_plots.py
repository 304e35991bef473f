"""The figure of `companion/privacy-audit`, in a file without kernels: an edit compiles nothing."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style


def losses(audited: pd.DataFrame) -> Figure:
    """Ledgers and losses over what is claimed, a row per algorithm; right: full information."""
    full = audited.family == "full information"
    height = 0.13 * max(full.sum(), (~full).sum()) + 0.9
    fig, axes = plt.subplots(1, 2, figsize=(style.PAGE[0], height))
    for ax, rows in zip(axes, (audited[~full], audited[full]), strict=True):
        _rows(ax, rows)
    draw.legend_below(fig, 4)
    for handle in fig.legends[0].legend_handles[1:]:
        hollow = "ledger" in handle.get_label()
        handle.set(edgecolor=style.BLUE, facecolor="none" if hollow else style.BLUE)
    return fig


def _rows(ax, rows):
    y = np.arange(len(rows))[::-1]
    colour = np.where(rows.proved > rows.claimed, style.VERMILION, style.BLUE)
    ax.axvline(1, **style.BOUND, label="claimed")
    hollow = {"s": 22, "facecolors": "none", "edgecolors": colour, "linewidths": 0.9}
    ax.scatter(rows.ledger / rows.claimed, y, label="ledger (upper bound)", **hollow)
    for kind, marker, label in (("exact", "o", "exact"), ("bound", ">", "lower bound")):
        of = (rows.kind == kind).to_numpy()
        found = (rows.exact / rows.claimed)[of].clip(lower=0)
        ax.scatter(found, y[of], s=8, color=colour[of], marker=marker, label=label)
    ax.set(yticks=y, yticklabels=rows.index, ylim=(-0.7, len(rows) - 0.3))
    ax.set(xlim=(-0.08, 2.15), xlabel=r"privacy loss / claimed $\epsilon$")
    ax.grid(axis="y", linewidth=0.3)
    ax.tick_params(axis="y", labelsize=6)
