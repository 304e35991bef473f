"""The figure of `companion/side-by-side` with two rows of panels."""

import pandas as pd
from matplotlib.figure import Figure

from privregret.press import draw, style
from privregret.press.tex import integer


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
