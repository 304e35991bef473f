"""Figures of `companion/side-by-side`."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from privregret.bounds import azize2025 as bounds
from privregret.instances import BernoulliBandit
from privregret.press import draw, style
from privregret.press.tex import integer


def by_epsilon(table: pd.DataFrame, problems: list[BernoulliBandit]) -> Figure:
    """Draw median regret against epsilon with its limits, one panel per problem."""
    horizon = table.horizon.iloc[0]
    epsilons = table.epsilon.unique()
    labels = {"xlabel": r"privacy parameter $\epsilon$", "ylabel": "median regret"}
    fig, axes = draw.panels(len(problems), height=2.9, xscale="log", yscale="log", **labels)
    for ax, problem in zip(axes, problems, strict=True):
        of_problem = table[table.instance == problem.name]
        for name, curve in of_problem.groupby("name", sort=False):
            middle = curve["median"]
            bars = [middle - curve.lower_limit, curve.upper_limit - middle]
            look = style.look(name.split(",")[0])
            ax.errorbar(curve.epsilon, middle, bars, label=name, elinewidth=0.8, **look)
        e = np.geomspace(epsilons.min(), epsilons.max(), 60)
        bound = [math.log(horizon) * bounds.theorem_3_1(problem.means, x) for x in e]
        draw.bound(ax, e, bound, r"lower-bound constant times $\ln T$")
        ax.set_title(f"{problem.name}, $T={integer(horizon)}$")
    draw.legend_below(fig, 3)
    return fig


def full_information(coins: pd.DataFrame, fixed: pd.DataFrame) -> Figure:
    """Draw regret over its rate against epsilon, one panel per K: on coins; on fixed losses."""
    shape, size = (2, fixed.actions.nunique()), (style.PAGE[0], 4.4)
    fig, axes = draw.subplots(*shape, sharex=True, sharey="row", figsize=size)
    for row, data, losses in zip(axes, (coins, fixed), ("coins", "fixed losses"), strict=True):
        for ax, (k, rows) in zip(row, data.groupby("actions", sort=False), strict=False):
            for name, curve in rows.groupby("learner", sort=False):
                ax.plot(
                    curve.proved_epsilon, curve.regret_over_rate, label=name, **style.look(name)
                )
            ax.set(xscale="log", yscale="log", title=f"{losses}, $K={integer(k)}$")
            ax.set_yticks([1, 2, 4, 8], [1, 2, 4, 8])
            ax.minorticks_off()
            draw.epsilon_ticks(ax, fixed.proved_epsilon.unique())
    axes[0, 0].set_ylabel(r"regret $/\,(\ln K(1/\Delta+1/\epsilon))$")
    axes[1, 0].set_ylabel(r"regret $/\,(\ln K/\epsilon)$")
    ends = fixed.proved_epsilon.agg(["min", "max"])
    for ax in axes[1]:
        draw.bound(ax, ends, [1, 1], r"lower bound, $T\to\infty$")
        ax.set_xlabel(r"privacy parameter $\epsilon$")
    for ax in axes[0, coins.actions.nunique() :]:
        ax.set_visible(False)
    draw.legend_below(fig, 3)
    return fig
