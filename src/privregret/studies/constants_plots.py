"""Figures of `companion/constants`, apart from what is stored so that edits compute nothing."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.companion import constants as bounds
from privregret.press import draw, style

SCALED = r"regret $\times\,\epsilon/\ln K$"


def misled_figure(curves: pd.DataFrame) -> Figure:
    """Draw mean regret where most rounds vote for the worse action."""
    fig, ax = draw.subplots(figsize=style.COLUMN)
    draw.lines(ax, curves, "t", "mean")
    draw.bound(ax, curves.t.unique(), 0.14 * curves.t.unique(), "always action 2")
    ax.set(xscale="log", yscale="log", xlabel="round $t$", ylabel="regret")
    draw.legend_below(fig)
    return fig


def phase_figure(phase: pd.DataFrame) -> Figure:
    """Draw regret against the gap, for several kinds of epochs."""
    fig, ax = draw.subplots(figsize=style.COLUMN)
    draw.lines(ax, phase, "gap", "scaled_regret")
    for constant in (8, 9, 2 * math.e):
        draw.bound(ax, [0.25, 1], [constant] * 2, "constants 8, 9 and $2e$", zorder=1)
    ax.set(xscale="log", xlabel=r"gap $\Delta$", ylim=(2.5, 9.5), ylabel=SCALED)
    _ticked(ax, [0.25, 0.5, 1])
    draw.legend_below(fig)
    return fig


def gaps_figure(table: pd.DataFrame) -> Figure:
    """Draw the lower bound and the regret of the random phase against the number of gaps."""
    fig, ax = draw.subplots(figsize=style.COLUMN)
    draw.lines(ax, table, "gaps", "scaled_regret", linestyle="none", markevery=1)
    draw.bound(ax, table.gaps, [2 * math.e] * len(table), "$2e$", zorder=1, linestyle=style.SOLID)
    draw.bound(ax, table.gaps, table.lower_bound, "lower bound", forbids=True)
    ax.text(0.93, 0.05, "impossible", transform=ax.transAxes, ha="right", fontsize=7)
    ax.set(xscale="log", xlabel="number of gaps", ylim=(0, 6.2), ylabel=SCALED)
    _ticked(ax, table.gaps)
    draw.legend_below(fig)
    return fig


def constants_figure(picture: pd.DataFrame, gap: float, epsilon: float) -> Figure:
    """Draw regret against ln K: fixed losses, and stochastic losses with the bound for one gap."""
    at = np.geomspace(picture.log_actions.min(), picture.log_actions.max(), 60)
    equal_gaps = np.maximum(bounds.equal_gaps(at, gap, epsilon), 0)
    lower = {"fixed": at / epsilon, "stochastic": equal_gaps}
    fig, axes = draw.panels(2, height=3.3, xscale="log", xlabel=r"$\ln K$", ylim=(0, 9))
    axes[0].set_ylabel(SCALED)
    for ax, (losses, least) in zip(axes, lower.items(), strict=True):
        shown = picture[picture.losses.isin(["both", losses])]
        draw.lines(ax, shown, "log_actions", "scaled_regret", markevery=1)
        ratio = least * epsilon / at
        draw.bound(ax, at, ratio, "lower bound", forbids=True, linestyle=style.SOLID)
        ax.text(0.93, 0.03, "impossible", transform=ax.transAxes, ha="right", fontsize=7)
        ax.set_title(f"{losses} losses")
    limit = "$2e$, the least for all stochastic losses, in the limit"
    draw.bound(axes[1], at[[0, -1]], [2 * math.e] * 2, limit)
    draw.legend_below(fig, 3)
    return fig


def _ticked(ax, ticks):
    """Tick these values of a logarithmic axis, and no others."""
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
    ax.set_xticks([], minor=True)
