"""Figures of the notebooks on wu2026, apart from what is stored so that edits compute nothing."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style

RAW, RESAMPLED = "FTNL (Gumbel)", "FTNL (Gumbel, resampled)"


def two_actions_figure(two: pd.DataFrame) -> Figure:
    """Draw the probability of the worse of two actions against the number of losses."""
    examples = list(two.groupby("instance", sort=False))
    axes = {"xscale": "log", "xlabel": "loss vectors $n$", "ylabel": "P[worse action selected]"}
    fig, row = draw.panels(len(examples), **axes)
    cases = [
        (np.inf, "raw", "epoch leader", "no noise"),
        (np.inf, "resampled", "epoch leader, resampled", "no noise, resampled"),
        (1.0, "raw", RAW, r"Gumbel, $\epsilon=1$"),
        (1.0, "resampled", RESAMPLED, r"Gumbel, $\epsilon=1$, resampled"),
    ]
    for ax, (title, part) in zip(row, examples, strict=True):
        for level, column, like, name in cases:
            curve = part[part.epsilon == level]
            ax.plot(curve.n, curve[column], label=name, **style.look(like))
        ax.axhline(0.5, **style.BOUND)
        ax.set(title=title)
    draw.legend_below(fig, 4)
    return fig


def theorem_2_figure(growth: pd.DataFrame) -> Figure:
    """Draw regret against the horizon, and the rates of Theorems 1 and 2."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": "horizon $T$", "ylabel": "regret"}
    fig, (ax,) = draw.panels(1, height=3.1, **axes)
    draw.lines(ax, growth, "T", "regret")
    once = growth.drop_duplicates("T")
    draw.bound(ax, once["T"], once.theorem_1_rate, "rate of Theorem 1", linestyle=style.DOTTED)
    draw.bound(ax, once["T"], once.theorem_2_rate, "rate of Theorem 2")
    ax.set_ylim(1, None)
    draw.legend_below(fig)
    return fig


def corollary_2_figure(corollary: pd.DataFrame) -> Figure:
    """Draw regret with deterministic losses against the gap, with and without resampling."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": r"gap $\Delta$", "ylabel": "regret"}
    fig, (ax,) = draw.panels(1, **axes)
    ax.plot(corollary.gap, corollary.resampled_regret, label=RESAMPLED, **style.look(RESAMPLED))
    ax.plot(corollary.gap, corollary.raw_regret, label=RAW, **style.look(RAW))
    draw.bound(ax, corollary.gap, corollary.rate, r"$1+\ln^2K/\epsilon$")
    draw.legend_below(fig)
    return fig


def lower_bound_figure(data: pd.DataFrame) -> Figure:
    """Draw regret on the cyclic family against the horizon, one panel per number of actions."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": "horizon $T$", "ylabel": "regret"}
    powers = {K: f"$K={K}$" if K < 1000 else rf"$K=10^{{{np.log10(K):.0f}}}$" for K in data.actions}
    titled, how = data.assign(title=data.actions.map(powers)), {"axes": axes | {"height": 2.9}}
    how["bounds"] = {"bound_sharp": "Theorem 3, sharper", "bound_printed": "Theorem 3"}
    fig, row = draw.family(titled, "title", "t", "regret", **how)
    for ax, (_, curves) in zip(row, data.groupby("actions", sort=False), strict=True):
        once = curves.drop_duplicates("t")
        ax.fill_between(once.t, 1e-3, once.bound_sharp, color=style.BLACK, alpha=0.08, linewidth=0)
    row[0].set_ylim(0.5, 2 * data.regret.max())
    draw.legend_below(fig, 4)
    return fig


def deterministic_figure(shown: pd.DataFrame) -> Figure:
    """Draw regret times epsilon / ln K against ln K, between the bounds of Theorems 3 and 4."""
    axes = {"xscale": "log", "ylim": (0, 11), "xlabel": r"$\ln K$"}
    fig, (ax,) = draw.panels(1, height=3.3, ylabel=r"regret $\times\,\epsilon/\ln K$", **axes)
    draw.lines(ax, shown, "log_actions", "scaled_regret")
    once = shown.drop_duplicates("log_actions")
    draw.bound(ax, once.log_actions, once.theorem_4, "Theorem 4", linestyle=style.MIXED)
    draw.bound(ax, once.log_actions, once.best_constant, "with the best constant")
    draw.bound(ax, once.log_actions, once.theorem_3, "Theorem 3, sharper", linestyle=style.DOTTED)
    draw.legend_below(fig)
    return fig
