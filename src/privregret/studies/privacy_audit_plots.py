"""The figure of `companion/privacy-audit`, in a file without kernels: an edit compiles nothing."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from privregret.press import style


def losses(audited: pd.DataFrame) -> Figure:
    """Ledgers and losses over what is claimed, a row per algorithm; right: full information."""
    full = audited.family == "full information"
    height = 0.13 * max(full.sum(), (~full).sum()) + 0.9
    fig, axes = plt.subplots(1, 2, figsize=(style.PAGE[0], height))
    for ax, rows in zip(axes, (audited[~full], audited[full]), strict=True):
        _rows(ax, rows)
    fig.legend(handles=_entries(), loc="outside lower center", ncols=4)
    return fig


def _entries():
    def marker(shape, label, colour=style.BLUE, size=4.0, **more):
        return Line2D([], [], color=colour, marker=shape, ms=size, ls="", label=label, **more)

    return [
        Line2D([], [], label="claimed", **style.BOUND),
        marker("o", "ledger (upper bound)", size=5.0, markerfacecolor="none"),
        marker("o", "exact, small run"),
        marker("s", "noise does not fit the claim", style.VERMILION),
    ]


def _rows(ax, rows):
    loss = rows.exact / rows.claimed
    rows = rows.assign(loss=loss, most=np.fmax(loss, rows.ledger / rows.claimed))
    rows = rows.sort_values(["most", "loss"], ascending=False, kind="stable")
    y = np.arange(len(rows))[::-1]
    colour = np.where(rows.proved > rows.claimed, style.VERMILION, style.BLUE)
    ax.axvline(1, zorder=0, **style.BOUND)
    hollow = {"s": 22, "facecolors": "none", "edgecolors": colour, "linewidths": 0.9}
    ax.scatter(rows.ledger / rows.claimed, y, **hollow)
    exact = (rows.kind == "exact").to_numpy()
    ax.scatter(rows.loss[exact], y[exact], s=8, color=colour[exact])
    ax.set(yticks=y, yticklabels=rows.algorithm, ylim=(-0.7, len(rows) - 0.3))
    ax.set(xlim=(-0.08, 2.15), xlabel=r"privacy loss / claimed $\epsilon$")
    ax.grid(axis="y", linewidth=0.3)
    ax.tick_params(axis="y", labelsize=6)
